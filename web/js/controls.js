/*
 * controls.js - choices, buttons and keys; the start of the page
 */

const KEYS = [["/", "search"], ["?", "these keys"], ["Tab", "next control"],
    ["← → (tabs)", "another view"], ["← → ↑ ↓ (graph)", "next frame; Shift: move the window"],
    ["Enter (graph)", "zoom to the frame"], ["+ −", "zoom in, out"], ["0, Escape", "whole width"],
    ["c", "callers and callees of the frame"], ["s", "search for the frame"], ["↑ ↓ Page Home End (table)", "move"],
    ["1, 2, ... (table)", "sort by this column"],
    ["Enter (table)", "callers and callees; of a marker, its time"],
    ["↑ ↓ Enter (names of lanes)", "next, select"],
    ["← → (lanes)", "move the range; Shift: its end"], ["Escape (lanes)", "everything"],
    ["m, M (lanes)", "next, previous marker"],
    ["Ctrl + wheel", "zoom at the pointer"], ["double click", "zoom to the frame"]];

const show = (id, shown) => { $(id).hidden = !shown; };

function fillFiles(app) {
    const { names, files } = app.engine;
    show("file-choice", !!names && names.length > 1);
    show("base-choice", !!names);
    if (!names) return;
    const options = names.map((name, i) => [String(i), plain(name)]);
    fillSelect($("file"), options, files[0]);
    fillSelect($("base"), [["-", "none"], ...options], files[1]);
}

const typeName = (t) => t.type + (t.unit ? "/" + t.unit : "");

/* The sample types by a name of their own: of types of one name the second is NAME (2). Integers and
 * doubles of a type are one. */
function sampleTypes(info) {
    const named = new Map(), known = new Set();
    for (const type of info.types.filter((t) => !t.gauge)) {
        const exact = JSON.stringify([type.type, type.unit, type.ordinal]);
        if (known.has(exact)) continue;
        known.add(exact);
        const name = typeName(type) || "(no name)";
        let key = name;
        for (let i = 2; named.has(key); i++) key = `${name} (${i})`;
        named.set(key, type);
    }
    return named;
}

function fillChoices(app) {
    fillFiles(app);
    const { info, state } = app, types = [...sampleTypes(info).keys()];
    fillSelect($("type"), types.length > 1 ?
        [["", "default"], ...types.map((key) => [key])] : types.map((key) => ["", key]),
        state.get("type"));
    const names = [...new Set(info.threads.map(threadName))].filter(Boolean).sort();
    const shown = (name) => [name, plain(name)];
    fillSelect($("thread"), [["", "all"], ...names.map(shown)], state.get("thread"));
    show("thread-choice", names.length > 1);
    fillSelect($("source"), [["", "all"], ...info.sources.map((s) =>
        [String(s.id), s.id + ": " + plain(s.uri || s.type || "")])], state.get("source"));
    show("source-choice", info.sources.length > 1 && app.slots === 1);
    fillSelect($("key"), [["", "any"], ...info.labels.map(shown)], state.get("key"));
    show("key-choice", info.labels.length > 0);
    show("value-choice", state.get("key") !== "");
    fillValues(app);
    const by = [...names.length ? [["thread"]] : [], ["source"],
        ...info.labels.map((k) => ["label:" + k, "label " + plain(k)])];
    START.lanes = by[0][0];
    if (!by.some(([lane]) => lane === state.get("lanes"))) state.values.lanes = START.lanes;
    fillSelect($("lanes-by"), by, state.get("lanes"));
    const marked = [info, app.baseInfo].some((file) => file && file.markers);
    fillSelect($("by"), [["function", "functions"], ["file", "files"], ["line", "lines"],
        ["srcline", "source lines"], ["location", "addresses"], ...by,
        ...marked ? [["marker", "markers"]] : []], state.get("by"));
    fillSelect($("frames"), [["function", "functions"], ["line", "lines"]], state.get("frames"));
    $("search").value = state.get("search");
    $("only").checked = state.get("only") !== "";
}

/* The values of the chosen label in the whole profiles. */
async function fillValues(app) {
    const key = app.state.get("key"), value = app.state.get("value");
    if (key === "") return;
    const wanted = ["key", "type", "file", "base"].map((k) => app.state.get(k)).join();
    if (app.valuesOf !== wanted) {
        const found = new Set();
        for (let slot = 0; slot < app.slots; slot++) {
            if (!(slot ? app.baseInfo : app.info).labels.includes(key)) continue;
            const reply = await app.ask("values" + slot, "values",
                { ...app.selection(false), slot, by: "label:" + key });
            if (reply === null) return;
            const names = texts(reply.buffers[1], true);
            for (const name of names) if (name) found.add(name);
        }
        Object.assign(app, { valuesOf: wanted, values: [...found] });
    }
    const values = value && !app.values.includes(value) ? [value, ...app.values] : app.values;
    fillSelect($("value"), [["", "all"], ...values.map((v) => [v, plain(v)])], value);
}

function fillColours(app, json) {
    const modes = [["package", "by package"], ["file", "by file"], ["name", "by function"]];
    if (json.mappings.length) modes.push(["module", "by module"]);
    if (json.categories.length) modes.push(["category", "by category"]);
    fillSelect($("colour"), modes, app.state.get("colour"));
}

function listen(app) {
    const on = (id, event, action) => $(id).addEventListener(event, action);
    for (const id of ["type", "thread", "source", "value", "frames"])
        on(id, "change", () => app.change({ [id]: $(id).value }));
    for (const id of ["file", "base"])
        on(id, "change", () => app.openFiles({ [id]: $(id).value }));
    on("key", "change", () => app.change({ key: $("key").value, value: "" }));
    on("choices", "submit", (event) => event.preventDefault());
    on("lanes-by", "change", () => {
        app.state.set({ lanes: $("lanes-by").value, lane: "0" });
        app.loadLanes().then(() => {
            app.showRange();
            app.view.refresh();
        });
    });
    listenSearch(app, on);
    listenRange(app, on);
    listenView(app, on);
    listenActions(app, on);
    listenKeys();
    window.addEventListener("hashchange", () => {
        if (location.hash === app.state.written) return;
        app.state.read();
        restore(app);
    });
    app.setSearch(app.state.get("search"));
    listenTheme();
}

/* Show the state that was read from the address. */
async function restore(app) {
    if (app.chooseFiles()) {
        app.palette = null;
        app.valuesOf = null;
        try {
            await app.loadInfo();
        } catch (error) {
            app.status(error.message);
            return;
        }
    }
    fillChoices(app);
    await app.setSearch(app.state.get("search"));
    if (app.view) app.view.close();
    app.view = null;
    await app.selectAll();
}

function listenSearch(app, on) {
    let timer = 0;
    const take = async () => {
        clearTimeout(timer);
        if (!await app.setSearch($("search").value)) return false;
        app.state.set({ search: $("search").value });
        return true;
    };
    on("search", "input", () => {
        clearTimeout(timer);
        timer = setTimeout(async () => {
            if (!await take()) return;
            if (app.state.get("only")) await app.selectAll();
            else await app.refresh();
        }, 120);
    });
    on("only", "change", async () => {
        const only = $("only").checked ? "1" : "";
        if (await take()) app.change({ only });
    });
    on("reset", "click", () => {
        app.openFiles({ lanes: app.state.get("lanes") });
    });
}

function listenRange(app, on) {
    const given = () => {
        const scale = app.lanes.axis === "time" ? 1e6 : 1;
        const read = (id, otherwise) => {
            const text = $(id).value.trim().replace(",", ".");
            return text === "" ? otherwise : Math.round(Number(text) * scale);
        };
        const from = read("range-from", 0), to = read("range-to", app.lanes.span);
        if (from >= 0 && to > from) app.setRange([from, to]);
        else app.status("The range must begin at 0 or later, and end after its beginning.");
    };
    on("range-from", "change", given);
    on("range-to", "change", given);
    on("range-clear", "click", () => app.setRange(null));
}

function listenView(app, on) {
    const tabs = [...document.querySelectorAll("[role=tab]")];
    for (const tab of tabs) {
        tab.addEventListener("click", () => app.open(tab.dataset.view));
        tab.addEventListener("keydown", (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
            next.focus();
            app.open(next.dataset.view);
            event.preventDefault();
        });
    }
    const flames = (action) => () => app.view.flames.forEach(action);
    on("zoom-in", "click", flames((flame) => flame.zoomBy(0.5)));
    on("zoom-out", "click", flames((flame) => flame.zoomBy(2)));
    on("zoom-all", "click", flames((flame) => flame.setWindow(0, 1)));
    on("colour", "change", () => {
        app.state.set({ colour: $("colour").value });
        app.view.flames.forEach((flame) => flame.recolour());
    });
    on("by", "change", () => {
        app.state.set({ by: $("by").value, sort: "" });
        app.view.refresh();
    });
    on("lane", "change", () => {
        app.state.set({ lane: $("lane").value });
        app.view.refresh();
    });
    on("name", "input", () => {
        const wanted = $("name").value;
        const pattern = wanted.toLowerCase(), found = [];
        for (let i = 0; i < app.names.length && found.length < 30; i++)
            if (app.names[i].toLowerCase().includes(pattern)) found.push(app.names[i]);
        $("names").replaceChildren(...found.map((name) => el("option", { value: name })));
        if (app.byName.has(wanted)) {
            app.state.set({ frame: wanted });
            app.view.refresh();
        }
    });
}

function listenActions(app, on) {
    on("copy-link", "click", () => {
        app.state.write();
        app.copy(location.href.replace(/#.*/, "") + app.state.fragment(), "Link copied");
    });
    on("copy-view", "click", () => app.copy(app.view.text(), "Table copied"));
    on("download", "click", () => {
        const core = $("data"), bytes = decode(core.textContent);
        saveFile(core.dataset.name || "profile.pcol", [bytes], "application/octet-stream");
        app.status("The profile is saved: " + byteSize(bytes.length));
    });
    show("download", $("data") !== null);
    $("key-list").replaceChildren(...KEYS.flatMap(([key, what]) =>
        [el("dt", {}, key), el("dd", {}, what)]));
    on("help", "click", () => $("keys").showModal());
    for (const event of ["beforeprint", "afterprint"])
        window.addEventListener(event, () => {
            for (const table of (app.view.tables || [app.view.table]).filter(Boolean)) {
                table.first = -1;
                table.show(event === "beforeprint");
            }
        });
}

function listenKeys() {
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey ||
            /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        if (event.key === "/") $("search").focus();
        else if (event.key === "?") $("keys").showModal();
        else return;
        event.preventDefault();
    });
}

function listenTheme() {
    const themes = ["auto", "light", "dark"];
    const redraw = () => {
        const app = window.pcolApp;
        if (app && app.view) app.view.flames.forEach((flame) => flame.draw());
        if (app) app.lanes.draw();
    };
    $("theme").addEventListener("click", () => {
        const root = document.documentElement;
        const next = themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % 3];
        root.dataset.theme = next;
        $("theme").textContent = "Theme: " + next;
        redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/* ---- start ---- */

/* Its elements are made here: a page that a browser saved has those of its last state. */
function layOut() {
    if ($("app")) $("app").remove();
    document.body.insertAdjacentHTML("afterbegin", LAYOUT);
    $("title").textContent = document.title;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    document.adoptedStyleSheets = [sheet];
}

async function boot() {
    try {
        layOut();
        const server = $("server"), files = [$("data"), $("base-data")].filter(Boolean);
        const engine = server ? new Server() : new Engine();
        if (server && server.children.length > 1) START.base = "1";
        if (!server && typeof WebAssembly !== "object")
            throw new EngineError("this browser has no WebAssembly");
        if (server) await engine.start(Array.from(server.children, (item) => item.textContent));
        else await engine.start($("wasm").textContent, files.map((file) => file.textContent));
        if ($("plain-names")) readPlainNames($("plain-names").textContent);
        const app = new App(engine, files.length);
        window.pcolApp = app;
        await app.start();
        document.documentElement.dataset.ready = "1";
    } catch (error) {
        window.pcolFail(error);
    }
}

/* The loader calls it when this script has been accepted. */
window.pcolStart = boot;
