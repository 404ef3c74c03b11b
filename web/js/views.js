/*
 * views.js - what the tabs show: flame graphs, callers and callees, tables, stacks over time
 */

/* The boxes of a reply as arrays; positions in parts of the whole width. `only`: the query of boxes
 * that have no base. */
function boxesOf(reply, app, from = 0, span = 1, only = null) {
    const b = reply.buffers, query = only || app.query;
    const place = (buffer) => new Float64Array(buffer).map((x) => from + x * span);
    const flags = new Uint32Array(b[6]);
    return { only, count: reply.json.count, x0: place(b[1]), x1: place(b[2]),
        frame: new Uint32Array(b[3]), depth: new Uint32Array(b[4]), node: new Uint32Array(b[5]),
        flags, marked: flags.map((f) => f & 1),
        self: amounts(b[7], query.double), total: amounts(b[8], query.double),
        baseSelf: amounts(b[9], app.base && app.base.double),
        baseTotal: amounts(b[10], app.base && app.base.double) };
}

const NO_FRAME = 0xffffffff;

/* Options that all flame graphs of the page share. */
function flameOptions(app, label, rest) {
    return { label, searching: () => app.search !== null,
        colour: (boxes, i) => app.boxColour(boxes, i),
        text: (boxes, i) => app.frameName(boxes.frame[i]),
        describe: (boxes, i) => app.describeBox(boxes, i).join("\n"),
        onSelect: (boxes, i) => app.showDetails(boxes, i),
        onOpen: (boxes, i) => app.openFrame(boxes.frame[i]),
        onSearch: (boxes, i) => {
            if (boxes.frame[i] !== NO_FRAME) app.searchFor(app.names[boxes.frame[i]]);
        }, ...rest };
}

/* A flame graph or an inverted one. */
class FlameView {
    constructor(app, host, kind) {
        this.app = app;
        const zoom = app.state.pair("zoom");
        this.flame = new Flame(host, (from, to, width) => this.load(kind, from, to, width),
            flameOptions(app, (kind === "flame" ? "Flame graph" : "Inverted flame graph") +
                ": arrow keys move between frames, Enter zooms, c shows callers and callees", {
                onZoom: (from, to) => app.state.set({ zoom: from > 0 || to < 1 ?
                    from + "~" + to : "" }) }));
        if (zoom) this.flame.setWindow(zoom[0], zoom[1], true);
        this.flames = [this.flame];
    }

    async load(kind, from, to, width) {
        const reply = await this.app.ask("window:" + kind, "window",
            { kind, from, to, width, least: 0.7 });
        return reply && boxesOf(reply, this.app);
    }

    refresh() {
        this.flame.load();
    }

    close() {
        this.flame.close();
    }

    /* Visible boxes as an indented text. */
    text() {
        const { boxes } = this.flame, lines = ["total\tself\tname"];
        const order = Array.from({ length: boxes ? boxes.count : 0 }, (_, i) => i)
            .sort((a, b) => boxes.x0[a] - boxes.x0[b] || boxes.depth[a] - boxes.depth[b]);
        for (const i of order)
            lines.push(boxes.total[i] + "\t" + boxes.self[i] + "\t" +
                "  ".repeat(boxes.depth[i]) + this.app.frameName(boxes.frame[i]));
        return lines.join("\n") + "\n";
    }
}

/* Stacks over time: the samples of a lane, by their positions. */
class StacksView {
    constructor(app, host) {
        this.app = app;
        if (!app.lanes.sets || app.lanes.lanes.length === 0) {
            host.append(el("p", { className: "note" }, "No samples are selected."));
            this.flames = [];
            return;
        }
        this.flame = new Flame(host, (from, to, width) => this.load(from, to, width),
            flameOptions(app, "Stacks over " + app.lanes.axis +
                ": arrow keys move between frames, Enter zooms"));
        const range = app.state.pair("range");
        if (range)
            this.flame.setWindow(range[0] / app.lanes.span, range[1] / app.lanes.span, true);
        this.flames = [this.flame];
    }

    lane() {
        const lanes = this.app.lanes.lanes;
        return lanes[Number(this.app.state.get("lane"))] || lanes[0];
    }

    async load(from, to, width) {
        const lane = this.lane(), { span } = this.app.lanes;
        const begin = Math.floor(from * span), end = Math.max(begin + 1, Math.ceil(to * span));
        const reply = await this.app.ask("stacks", "stacks", { slot: lane.set.slot,
            lane: lane.index, from: lane.set.from + BigInt(begin), to: lane.set.from + BigInt(end),
            count: Math.max(1, Math.round(width)) });
        const boxes = reply && boxesOf(reply, this.app, begin / span, (end - begin) / span,
            lane.set.slot ? this.app.base : this.app.query);
        if (boxes) boxes.depth = boxes.depth.map((depth) => depth - 1); /* there is no root */
        return boxes;
    }

    refresh() {
        if (this.flame) this.flame.load();
    }

    close() {
        if (this.flame) this.flame.close();
    }

    text() {
        return this.flame ? FlameView.prototype.text.call(this) : "";
    }
}

/* Columns of amounts; rows: {self, total, baseSelf, baseTotal}. */
function amountColumns(app, rows) {
    const columns = [];
    const add = (key, title, values, query) => {
        columns.push({ key, title, number: true, value: (row) => values[row],
            text: (row) => amountText(values[row], query), title_: (row) => exact(values[row]) });
    };
    const addShare = (key, title, values, query) => {
        const share = (row) => Number(values[row]) / Math.abs(Number(query.total));
        columns.push({ key, title, number: true, width: "5rem",
            value: (row) => Number((100 * share(row)).toFixed(4)),
            text: (row) => percent(share(row)), title_: () => "" });
    };
    const delta = (key, title, now, then) => {
        const values = Array.from(now, (x, i) => (typeof x === typeof then[i] ? x - then[i] :
            Number(x) - Number(then[i])));
        columns.push({ key, title, number: true, value: (row) => values[row],
            text: (row) => (values[row] > 0 ? "+" : "") + amountText(values[row], app.query),
            sign: (row) => (values[row] > 0 ? "more" : values[row] < 0 ? "less" : ""),
            title_: (row) => exact(values[row]) });
    };
    if (rows.baseSelf) {
        delta("self_delta", "Δ self", rows.self, rows.baseSelf);
        delta("total_delta", "Δ total", rows.total, rows.baseTotal);
    }
    add("self", "Self", rows.self, app.query);
    addShare("self_pct", "Self %", rows.self, app.query);
    add("total", "Total", rows.total, app.query);
    addShare("total_pct", "Total %", rows.total, app.query);
    if (rows.baseSelf) {
        add("base_self", "Base self", rows.baseSelf, app.base);
        add("base_total", "Base total", rows.baseTotal, app.base);
    }
    return columns;
}

function textColumn(key, title, get, width) {
    return { key, title, width, value: get, text: get, title_: get };
}

/* Rows of a reply to "top". asGiven: names as requests have them. */
function topRows(reply, app, asGiven) {
    const b = reply.buffers, isDouble = reply.json.double;
    const rows = { count: reply.json.rows, names: texts(b[1], asGiven),
        files: texts(b[2]), lines: new Float64Array(b[3]),
        self: amounts(b[4], isDouble), total: amounts(b[5], isDouble) };
    rows.ids = new Float64Array(b[app.base ? 8 : 6]);
    if (app.base) {
        rows.baseSelf = amounts(b[6], isDouble);
        rows.baseTotal = amounts(b[7], isDouble);
    }
    return rows;
}

/* Options of a Table of functions, files, ..., or null: another request replaced it. */
async function amountTable(app, by) {
    const reply = await app.ask("top", "top", { by });
    if (reply === null) return null;
    const rows = topRows(reply, app, /^(thread|source|label:)/.test(by));
    const columns = amountColumns(app, rows);
    columns.unshift(textColumn("name", "Name", (row) => plain(rows.names[row]) || "(none)"));
    /* Rows of functions have no files: the frames have them. */
    const file = by === "function" ? (row) => app.files[app.byName.get(rows.names[row])] || "" :
        by === "line" || by === "location" ? (row) => rows.files[row] : null;
    if (file && rows.names.some((_, row) => file(row)))
        columns.push(textColumn("file", "File", file, "minmax(8rem, .5fr)"));
    if (by === "line" || by === "location")
        columns.push({ key: "line", title: "Line", number: true, width: "5rem",
            value: (row) => rows.lines[row], title_: () => "",
            text: (row) => (rows.lines[row] < 0 ? "" : rows.lines[row]) });
    return { columns, count: rows.count, notes: [],
        /* The search is for functions: with "only matches" other rows have the values of these. */
        filter: app.search && /^(function|line|location)$/.test(by) &&
            ((row) => app.search.test(rows.names[row])),
        first: { key: app.base ? "self_delta" : "self", descending: true },
        onSelect: (row) => app.showRow(by, rows, row),
        onOpen: (row) => app.openRow(by, rows, row) };
}

class TableView {
    constructor(app, host) {
        Object.assign(this, { app, host, flames: [] });
        this.refresh();
    }

    async refresh() {
        const { app } = this, by = app.state.get("by"), turn = this.turn = (this.turn || 0) + 1;
        const made = await (by === "marker" ? markerTable(app) : amountTable(app, by));
        if (made === null || this.closed || turn !== this.turn) return;
        const [key, descending] = app.state.get("sort").split("~");
        const top = this.table ? this.table.grid.scrollTop : 0;
        if (this.table) this.table.close();
        this.host.replaceChildren(...made.notes.map((note) => el("p", { className: "note" }, note)));
        this.table = new Table(this.host, { id: "row-", label: "Table", ...made,
            sort: made.columns.some((c) => c.key === key) ?
                { key, descending: descending === "1" } : made.first,
            onSort: (sort) => app.state.set({ sort: sort.key + "~" + (sort.descending ? 1 : 0) }) });
        this.table.grid.scrollTop = top;
    }

    close() {
        this.closed = true;
        if (this.table) this.table.close();
    }

    text() {
        return this.table ? this.table.text() : "";
    }
}

/* Callers and callees of a function: tables with the numbers of `pcol peek`, flame graphs, and
 * the lines of the function. */
class PeekView {
    constructor(app, host) {
        Object.assign(this, { app, host, flames: [], tables: [] });
        this.refresh();
    }

    async refresh() {
        const { app } = this, frame = app.currentFrame();
        this.close();
        this.closed = false;
        this.flames = [];
        this.tables = [];
        if (frame === null) {
            this.host.replaceChildren(el("p", { className: "note" },
                "Choose a function: above, or by a click in a flame graph or a table and c."));
            return;
        }
        const replies = [];
        for (const slot of app.base ? [0, 1] : [0])
            replies.push(await app.ask("peek" + slot, "peek", { slot, frame }));
        const lines = await app.ask("lines", "top", { by: "line" });
        if (this.closed || replies.includes(null) || lines === null) return;
        this.build(frame, replies, topRows(lines, app));
    }

    build(frame, replies, lines) {
        const { app } = this, name = app.frameName(frame);
        const callers = el("section", {}, el("h2", {}, "Callers"));
        const callees = el("section", {}, el("h2", {}, "Callees"));
        const rows = mergePeek(replies, app, name);
        this.host.replaceChildren(el("div", { className: "peek" },
            el("p", { className: "all", id: "peek-self" }, name + ": " + this.sums(rows.itself)),
            callers, callees));
        for (const [host, list, label] of [[callers, rows.callers, "Callers"],
            [callees, rows.callees, "Callees"]])
            this.tables.push(this.table(host, list, label));
        this.addFlame(callers, "callers", frame);
        this.addFlame(callees, "callees", frame);
        const own = Array.from(lines.names.keys()).filter((i) => lines.names[i] === name &&
            lines.lines[i] >= 0);
        if (own.length) this.addLines(lines, own);
    }

    sums(rows) {
        const query = this.app.query;
        if (rows.count === 0) return "not in the selection";
        const part = (what, values) => what + " " + amountText(values[0], query) + " (" +
            percent(Number(values[0]) / Math.abs(Number(query.total))) + ")";
        const base = rows.baseTotal ? "; base: total " + amountText(rows.baseTotal[0], this.app.base) +
            ", self " + amountText(rows.baseSelf[0], this.app.base) : "";
        return part("total", rows.total) + ", " + part("self", rows.self) + base;
    }

    table(host, rows, label) {
        const columns = amountColumns(this.app, rows);
        columns.unshift(textColumn("name", "Name", (row) => rows.names[row]));
        return new Table(host, { id: label + "-", label, columns, count: rows.count,
            sort: { key: "total", descending: true }, onSort: () => {},
            onSelect: (row) => this.app.showRow("function", rows, row),
            onOpen: (row) => this.app.openRow("function", rows, row) });
    }

    addFlame(host, kind, frame) {
        const { app } = this;
        const flame = new Flame(host, async (from, to, width) => {
            const reply = await app.ask("window:" + kind, "window",
                { kind, frame, from, to, width, least: 0.7 });
            return reply && boxesOf(reply, app);
        }, flameOptions(app, kind === "callers" ? "Flame graph of the callers" :
            "Flame graph of the callees", { upwards: kind === "callers" }));
        this.flames.push(flame);
    }

    addLines(lines, own) {
        const pick = (values) => own.map((i) => values[i]);
        const rows = { count: own.length, names: pick(lines.names), self: pick(lines.self),
            total: pick(lines.total) };
        if (lines.baseSelf)
            Object.assign(rows, { baseSelf: pick(lines.baseSelf),
                baseTotal: pick(lines.baseTotal) });
        const section = el("section", { className: "all" }, el("h2", {}, "Lines"));
        const columns = amountColumns(this.app, rows);
        columns.unshift(textColumn("place", "Line", (row) =>
            (lines.files[own[row]] || "") + ":" + lines.lines[own[row]]));
        this.host.firstChild.append(section);
        this.tables.push(new Table(section, { id: "Lines-", label: "Lines", columns,
            count: rows.count, sort: { key: "self", descending: true }, onSort: () => {},
            onSelect: () => {}, onOpen: () => {} }));
    }

    close() {
        this.closed = true;
        for (const part of [...this.flames, ...this.tables]) part.close();
    }

    text() {
        return this.tables.map((table) => table.options.label + "\n" + table.text()).join("\n");
    }
}

/* Rows of "peek" of the profile and its base: {callers, itself, callees}, joined by name. Names may
 * differ in nothing that is shown: then the first match of the function counts. */
function mergePeek(replies, app, name) {
    const parts = ["callers", "itself", "callees"].map(() =>
        ({ count: 0, names: [], self: [], total: [], baseSelf: app.base && [],
            baseTotal: app.base && [], places: new Map() }));
    replies.forEach((reply, slot) => {
        const b = reply.buffers, names = texts(b[1]);
        const self = amounts(b[4], reply.json.double), total = amounts(b[5], reply.json.double);
        const relation = new Uint32Array(b[6]), zero = reply.json.double ? 0 : 0n;
        for (let i = 0; i < names.length; i++) {
            const rows = parts[relation[i]];
            if (!rows.places.has(names[i])) {
                rows.places.set(names[i], rows.count++);
                rows.names.push(names[i]);
                for (const list of [rows.self, rows.total, rows.baseSelf, rows.baseTotal])
                    if (list) list.push(zero);
            }
            const at = rows.places.get(names[i]);
            (slot ? rows.baseSelf : rows.self)[at] += self[i];
            (slot ? rows.baseTotal : rows.total)[at] += total[i];
        }
    });
    return { callers: parts[0], itself: parts[1], callees: parts[2], name };
}
