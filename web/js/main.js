/*
 * main.js - the page: starts the engine, keeps selection, search and views together
 */

class App {
    constructor(engine, slots) {
        Object.assign(this, { engine, slots, state: new State(), names: [], files: [], query: null,
            base: null, search: null, view: null, largest: 1 });
    }

    status(text) {
        $("status").textContent = text;
    }

    /* A request whose failure is shown; null: a newer one replaced it, or it failed. */
    async ask(view, op, args) {
        try {
            return await this.engine.ask(view, op, args);
        } catch (error) {
            if (!(error instanceof EngineError)) throw error;
            this.status(error.message);
            return null;
        }
    }

    async start() {
        await this.loadInfo();
        $("app").hidden = false;
        this.lanes = new Lanes($("lanes"), { ask: (op, args) => this.ask("bins" + args.slot, op,
            args), onRange: (range, moving) => this.setRange(range, moving),
        onLane: (lane) => this.pickLane(lane), onMarker: (lane, row) => this.showMarker(lane.set.slot, row),
        describe: (lane, x) => this.describeBin(lane, x) });
        fillChoices(this);
        listen(this);
        await this.selectAll();
    }

    /* Of a server, choose the files of the state; true: others than before. */
    chooseFiles() {
        const { engine, state } = this, { names } = engine;
        if (!names) return false;
        const number = (key) => (/^\d+$/.test(state.get(key)) && names[state.get(key)] !== undefined ?
            state.get(key) : START[key]);
        const files = [number("file"), number("base")];
        if (state.get("base") === "-") files[1] = "-";
        if (engine.files && engine.files.join() === files.join()) return false;
        engine.files = files;
        this.slots = files[1] === "-" ? 1 : 2;
        const title = files[1] === "-" ? names[files[0]] : names[files[1]] + " → " +
            names[files[0]];
        document.title = $("title").textContent = plain(title);
        return true;
    }

    async loadInfo() {
        this.chooseFiles();
        this.names = null;
        this.info = (await this.engine.ask("info0", "info", { slot: 0 })).json;
        if (this.slots > 1)
            this.baseInfo = (await this.engine.ask("info1", "info", { slot: 1 })).json;
    }

    /* Other files of a server: everything but the view begins again. */
    async openFiles(values) {
        this.state.reset({ file: this.state.get("file"), base: this.state.get("base"), ...values });
        await restore(this);
    }

    /* ---- selection ---- */

    selection(withRange) {
        const s = this.state, label = s.get("key") && s.get("value");
        const type = sampleTypes(this.info).get(s.get("type")) || {};
        const args = { by: s.get("frames"), type: type.type, unit: type.unit,
            ordinal: type.ordinal,
            thread: s.get("thread") || undefined,
            source: s.get("source") || undefined,
            keep_dropped: ($("data") || $("server")).dataset.keepDropped !== undefined ? 1 :
                undefined,
            label: label ? s.get("key") : undefined, value: label || undefined };
        const range = withRange && s.pair("range");
        if (range && this.lanes.sets)
            for (const set of this.lanes.sets) {
                const prefix = set.slot ? "base_" : "";
                args.axis = set.axis;
                args[prefix + "from"] = set.from + BigInt(Math.round(range[0]));
                args[prefix + "to"] = set.from + BigInt(Math.round(range[1]));
            }
        return args;
    }

    /* Another selection of samples: the lanes change, too. */
    async selectAll() {
        if (!await this.select(false)) return;
        await this.loadLanes();
        if (this.state.pair("range") && !await this.select(true)) return;
        this.showRange();
        await this.refresh();
    }

    async selectRange() {
        if (await this.select(true)) await this.refresh();
    }

    /* Resolves to false if another selection has begun since, or none could be made. */
    async select(withRange) {
        const turn = this.turn = (this.turn || 0) + 1;
        const args = this.selection(withRange);
        if (this.search && this.state.get("only")) await this.addFocus(args);
        if (turn !== this.turn) return false;
        const reply = await this.ask("select", "select", args);
        if (reply === null || turn !== this.turn) return false;
        const read = (query) => query && { ...query, double: !!query.double,
            total: parseAmount(query.total, query.double),
            selected: parseAmount(query.selected, query.double) };
        this.query = read(reply.json.new);
        this.base = read(reply.json.base) || null;
        if (reply.json.built || !this.palette) await this.loadNames();
        this.showSummary();
        for (const line of document.querySelectorAll("#details .sum")) line.remove();
        return true;
    }

    /* Only samples with a matching frame: the engine gets the rows of functions, and the names of
     * frames without one. */
    async addFocus(args) {
        if (!this.names && await this.ask("select", "select", args) === null) return;
        if (!this.names) await this.loadNames();
        const all = await this.ask("names", "names");
        if (all === null) return;
        const functions = new Set(), frames = texts(all.buffers[1], true);
        for (let slot = 0; slot < this.slots; slot++) {
            const reply = await this.ask("functions" + slot, "functions", { slot });
            if (reply === null) return;
            const names = texts(reply.buffers[1], true), rows = [];
            for (const name of names) functions.add(name);
            names.forEach((name, i) => this.search.test(shownText(name)) && rows.push(i));
            args[slot ? "base_focus" : "focus"] = rows.join(",");
        }
        args.focus_names = frames.map((name) => name + "\n").filter((name, i) =>
            !functions.has(frames[i]) && this.search.test(this.names[i])).join("");
    }

    async loadNames() {
        const { json, buffers } = await this.engine.ask("names", "names");
        this.names = texts(buffers[1]);
        this.files = texts(buffers[2]);
        this.lineNumbers = new Float64Array(buffers[3]);
        const origins = {}, mapping = new Uint32Array(buffers[4]);
        const category = new Uint32Array(buffers[5]);
        for (let i = 0; i < this.names.length; i++)
            origins[this.names[i]] = [json.mappings[mapping[i]] || "",
                json.categories[category[i]] || ""];
        this.palette = new Palette(this.names, this.files, origins, new Uint32Array(buffers[6]));
        this.byName = new Map();
        for (let i = this.names.length - 1; i >= 0; i--) this.byName.set(this.names[i], i);
        fillColours(this, json);
    }

    async loadLanes() {
        const by = this.state.get("lanes"), sets = [];
        for (let slot = 0; slot < this.slots; slot++) {
            const axis = sets.length ? sets[0].axis : undefined;
            const reply = await this.ask("lanes" + slot, "lanes", { slot, by, axis });
            if (reply === null) return;
            const set = { ...reply.json, slot, from: BigInt(reply.json.from),
                to: BigInt(reply.json.to), double: !!reply.json.double };
            set.lanes.forEach((lane, index) => {
                lane.index = index;
                lane.title = (slot ? "base: " : "") +
                    (lane.name ? plain(lane.name).replace(/^.*\/(?=.)/,
                        by === "source" ? "" : "$&") : "(none)");
            });
            if (set.axis === "time" && set.lanes.length && !await this.loadTracks(set, by)) return;
            sets.push(set);
        }
        this.lanes.set(sets);
        $("lanes-section").hidden = this.lanes.lanes.length === 0;
        $("axis-name").textContent = sets[0].axis === "time" ? "time" : "the order of samples";
        $("range-unit").textContent = sets[0].axis === "time" ? "ms" : "samples";
        fillSelect($("lane"), this.lanes.lanes.map((lane, i) => [String(i), lane.title, lane.kind])
            .filter((lane) => !lane[2]), this.state.get("lane"));
    }

    /* Append the markers of threads, each after its thread, and the counters. */
    async loadTracks(set, by) {
        const reply = await this.ask("tracks" + set.slot, "tracks", { slot: set.slot });
        if (reply === null) return false;
        const { markers, counters } = reply.json, base = set.slot ? "base: " : "";
        const { threads } = set.slot ? this.baseInfo : this.info;
        markers.forEach((track, index) => {
            const name = threadName(threads[track.row] || track);
            const lane = { kind: "markers", index, name, title: base +
                plain(name || "(none)") + ": markers" };
            const thread = by !== "thread" ? -1 : set.lanes.findIndex((l) => l.id === track.row &&
                !l.kind);
            if (thread >= 0) set.lanes.splice(thread + 1, 0, lane);
            else if (by !== "thread" || !this.state.get("thread")) set.lanes.push(lane);
        });
        counters.forEach((track, index) => set.lanes.push({ kind: "counter", index,
            level: track.category === "Memory", bytes: track.category === "Memory",
            title: base + plain(track.name || "counter"), hint: track.description }));
        return true;
    }

    setRange(range, moving) {
        this.state.set({ range: range ? range[0] + "~" + range[1] : "" });
        this.showRange();
        this.selectRange();
        if (!moving && this.view instanceof StacksView && this.view.flame)
            this.view.flame.setWindow(...(range ? range.map((x) => x / this.lanes.span) : [0, 1]));
    }

    showRange() {
        const range = this.state.pair("range");
        const scale = this.lanes.axis === "time" ? 1e6 : 1;
        $("range-from").value = range ? range[0] / scale : "";
        $("range-to").value = range ? range[1] / scale : "";
        this.lanes.setRange(range);
    }

    /* A click on a lane selects its thread, source or value; another one everything. */
    pickLane(lane) {
        if (lane.kind === "counter") return;
        if (lane.kind) {
            this.change({ thread: this.state.get("thread") === lane.name ? "" : lane.name || "" });
            return;
        }
        const [what, key] = this.state.get("lanes").split(":");
        const values = what === "thread" ? { thread: lane.name || "" } :
            what === "source" ? { source: String(lane.id) } : { key, value: lane.name || "" };
        const same = Object.entries(values).every(([k, v]) => this.state.get(k) === v);
        const wanted = what === "label" && same ? { value: "" } : values;
        if (what !== "label" && same)
            for (const name of Object.keys(wanted)) wanted[name] = "";
        this.change(wanted);
    }

    change(values) {
        this.state.set(values);
        fillChoices(this);
        this.selectAll();
    }

    /* ---- search ---- */

    async setSearch(text) {
        const input = $("search");
        try {
            this.search = searchPattern(text);
            input.classList.remove("bad");
            input.removeAttribute("aria-invalid");
        } catch (error) {
            input.classList.add("bad");
            input.setAttribute("aria-invalid", "true");
            $("matched").textContent = "not a regular expression";
            return false;
        }
        return true;
    }

    async mark() {
        const frames = [];
        if (this.search)
            for (let i = 0; i < this.names.length; i++)
                if (this.search.test(this.names[i])) frames.push(i);
        const reply = await this.ask("mark", "mark", { frames: frames.join(",") });
        if (reply === null) return;
        const text = this.state.get("search");
        if (this.marked !== text) this.lanes.sought = text !== "";
        this.marked = text;
        const matched = parseAmount(reply.json.matched, this.query.double);
        const share = Number(matched) / Math.abs(Number(this.query.total));
        $("matched").textContent = this.search === null ? "" : exact(frames.length) + (frames.length === 1 ? " name, " : " names, ") +
            amountText(matched, this.query) + " (" + percent(share) + ")";
    }

    /* ---- views ---- */

    async refresh() {
        await this.mark();
        this.lanes.load();
        if (this.view) this.view.refresh();
        else this.open(this.state.get("view"));
    }

    open(name) {
        if (this.view) this.view.close();
        if (name !== this.state.get("view")) this.state.set({ zoom: "" });
        this.state.set({ view: name });
        const panel = $("panel");
        panel.replaceChildren();
        panel.setAttribute("aria-labelledby", "tab-" + name);
        for (const tab of document.querySelectorAll("[role=tab]")) {
            const is = tab.dataset.view === name;
            tab.setAttribute("aria-selected", is);
            tab.tabIndex = is ? 0 : -1;
            if (is) tab.setAttribute("aria-controls", "panel");
            else tab.removeAttribute("aria-controls");
        }
        $("zoom-tools").hidden = name === "table";
        $("colour-choice").hidden = name === "table" || (this.base !== null && name !== "stacks");
        $("legend").hidden = name === "table" || name === "stacks" || this.base === null;
        $("frames-choice").hidden = name === "table" || name === "peek";
        $("by-choice").hidden = name !== "table";
        $("name-choice").hidden = name !== "peek";
        $("lane-choice").hidden = name !== "stacks";
        $("details").replaceChildren();
        this.view = name === "table" ? new TableView(this, panel) :
            name === "peek" ? new PeekView(this, panel) :
                name === "stacks" ? new StacksView(this, panel) : new FlameView(this, panel, name);
        if (name === "peek") $("name").value = this.state.get("frame");
    }

    currentFrame() {
        const frame = this.byName.get(this.state.get("frame"));
        return frame === undefined ? null : frame;
    }

    /* Mark a function in all views: the lanes show when it ran. */
    searchFor(name) {
        $("search").value = exactly(name);
        $("search").dispatchEvent(new Event("input"));
    }

    openFrame(frame) {
        if (frame !== NO_FRAME) this.openName(this.names[frame]);
    }

    openName(name) {
        this.state.set({ frame: name });
        this.open("peek");
    }

    openRow(by, rows, row) {
        if (!rows.names[row]) return; /* samples without a thread or label cannot be selected */
        if (by === "thread") this.change({ thread: rows.names[row] });
        else if (by === "source") {
            if (rows.ids[row] > 0) this.change({ source: String(rows.ids[row]) });
        }
        else if (by.startsWith("label:")) this.change({ key: by.slice(6), value: rows.names[row] });
        else if (this.byName.has(rows.names[row])) this.openName(rows.names[row]);
    }

    /* ---- texts ---- */

    frameName(frame) {
        if (frame === NO_FRAME) return "all";
        const line = this.state.get("frames") === "line" ? this.lineNumbers[frame] : -1;
        return this.names[frame] + (line >= 0 ? ":" + line : "");
    }

    changeOf(boxes, i) {
        const share = (amount, query) => Number(amount) / Math.abs(Number(query.total) || 1);
        return share(boxes.total[i], this.query) - share(boxes.baseTotal[i], this.base);
    }

    boxColour(boxes, i) {
        if (this.base && !boxes.only) {
            if (boxes.largest === undefined) {
                boxes.largest = 0;
                for (let k = 0; k < boxes.count; k++)
                    boxes.largest = Math.max(boxes.largest, Math.abs(this.changeOf(boxes, k)));
            }
            return changeColour(this.changeOf(boxes, i), boxes.largest);
        }
        return boxes.frame[i] === NO_FRAME ? rgb(GREY) :
            this.palette.frame(boxes.frame[i], this.state.get("colour"));
    }

    describeBox(boxes, i) {
        const frame = boxes.frame[i], lines = [this.frameName(frame)];
        const query = boxes.only || this.query;
        const part = (what, amount, query) => what + " " + amountText(amount, query) + " (" +
            percent(Number(amount) / Math.abs(Number(query.total))) + ")";
        lines.push(part("total", boxes.total[i], query) + ", " + part("self", boxes.self[i], query));
        if (this.base && !boxes.only) {
            const change = this.changeOf(boxes, i);
            lines.push("base: " + part("total", boxes.baseTotal[i], this.base) + ", " +
                part("self", boxes.baseSelf[i], this.base));
            lines.push(boxes.flags[i] & 2 ? "new" : boxes.flags[i] & 4 ? "only in the base" :
                "share " + (change > 0 ? "+" : "") + percent(change));
        }
        if (frame !== NO_FRAME && this.files[frame])
            lines.push(this.files[frame] + (this.lineNumbers[frame] >= 0 ?
                ":" + this.lineNumbers[frame] : ""));
        const kind = frame === NO_FRAME ? "" : this.palette.kind(frame);
        if (kind) lines.push(KIND_NAMES[kind]);
        return lines;
    }

    describeBin(lane, x) {
        if (lane.kind === "counter")
            return lane.bytes ? byteSize(lane.bins.values[x]) : grouped.format(lane.bins.values[x]);
        if (lane.kind) {
            const { counts, name, pointName, names } = lane.bins;
            const found = [name[x], pointName[x]].map((code) => names[code]).filter(Boolean);
            return [counts[x] + " markers", ...found.map(plain)].join("\n");
        }
        const { bins } = lane, query = lane.set.slot ? this.base : this.query;
        return bins.samples[x] + " samples, " + amountText(bins.weight[x], query) +
            (this.search ? ", matches " + amountText(bins.marked[x], query) : "") +
            (lane.set.hasCpu ? ", CPU " + seconds(bins.cpu[x] / 1e9) : "");
    }

    showDetails(boxes, i) {
        if (i < 0) {
            $("details").replaceChildren();
            return;
        }
        const lines = this.describeBox(boxes, i), frame = boxes.frame[i];
        this.details(frame === NO_FRAME ? null : this.names[frame], lines);
    }

    /* The range of a marker with a duration; null: none. */
    markerRange(at, duration) {
        const range = [at, at + duration].map((time) => clamp(time, 0, this.lanes.span));
        return duration > 0 && range[1] > range[0] ? range : null;
    }

    /* The data of a marker; its time can be selected. */
    async showMarker(slot, row) {
        const reply = await this.ask("marker", "marker", { slot, row });
        if (reply === null) return;
        const { name, start, end, category, data } = reply.json, lines = [plain(name || "(none)")];
        const set = this.lanes.sets && this.lanes.sets[slot], timed = set && set.axis === "time";
        const at = Number(BigInt(start ?? end ?? 0) - (timed ? set.from : 0n));
        const duration = start !== undefined && end !== undefined ?
            durationOf(BigInt(start), BigInt(end)) : null;
        if (start !== undefined || end !== undefined) lines.push("at " + seconds(at / 1e9));
        if (duration !== null) lines.push("for " + seconds(duration / 1e9));
        if (category) lines.push(plain(category));
        this.details(null, [...lines, ...data.map(([key, value]) => plain(key + ": " + value))], "");
        const range = timed && this.markerRange(at, duration);
        if (range)
            $("details").append(el("button", { type: "button",
                onclick: () => this.setRange(range) }, "Select its time"));
    }

    showRow(by, rows, row) {
        const name = rows.names[row];
        const sums = (total, self, query) => "total " + amountText(total[row], query) + ", self " +
            amountText(self[row], query);
        const lines = [plain(name), sums(rows.total, rows.self, this.query)];
        if (rows.baseSelf) lines.push("base: " + sums(rows.baseTotal, rows.baseSelf, this.base));
        this.details(this.byName.has(name) ? name : null, lines);
    }

    /* Lines of the class "sum" are removed with the selection that they belong to. */
    details(name, lines, className = "sum") {
        const nodes = [el("b", {}, lines[0]),
            ...lines.slice(1).map((line) => el("span", { className }, line))];
        if (name !== null)
            nodes.push(el("button", { type: "button", onclick: () => this.openName(name) },
                "Callers and callees"),
            el("button", { type: "button", onclick: () => this.searchFor(name) }, "Search"),
            el("button", { type: "button", onclick: () => this.copy(name, "Name copied") },
                "Copy name"));
        $("details").replaceChildren(...nodes);
    }

    async copy(text, done) {
        try {
            await copyText(text);
            this.status(done);
        } catch (error) {
            this.status("The browser does not allow this page to copy.");
        }
    }

    showSummary() {
        const { query, info } = this;
        const name = typeName(query), { options, value } = $("type");
        if (options.length > 1 && !value) options[0].text = name + " (default)";
        const parts = [name, "total " + amountText(query.total, query)];
        if (this.base) {
            const [now, then] = [query, this.base].map((q) => Number(q.total));
            parts.push("base " + amountText(this.base.total, this.base) + (then ?
                " (" + (now > then ? "+" : "") + percent((now - then) / Math.abs(then)) + ")" : ""));
        }
        if (query.selected !== query.total)
            parts.push("selected " + amountText(query.selected, query));
        const isPart = ["thread", "source", "value", "range", "only"].some((key) =>
            this.state.get(key));
        parts.push(grouped.format(info.samples) + " samples" + (isPart ? " in the file" : ""));
        if (query.note) parts.push(query.note);
        $("summary").textContent = parts.join(" · ");
        this.status(query.empty ? "The selection contains no values." : "");
    }
}
