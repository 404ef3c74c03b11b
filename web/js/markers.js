/*
 * markers.js - the markers of a profile and its base as rows of the table
 */

const NO_TIME = -(2n ** 63n);

/* An end before the start, as Firefox and samply write it for points in time, is none. */
function durationOf(start, end) {
    return end >= start ? Number(end - start) : null;
}

/* The markers of a thread, a source and a range, as the lanes have them. */
async function markersOf(app, slot) {
    const info = slot ? app.baseInfo : app.info, set = app.lanes.sets && app.lanes.sets[slot];
    const timed = !!set && set.axis === "time", range = timed && app.state.pair("range");
    const thread = app.state.get("thread"), source = app.state.get("source");
    const threads = info.threads.map((t, row) => [threadName(t), row]);
    const reply = await app.ask("markers" + slot, "markers", { slot,
        threads: thread ? threads.filter(([name]) => name === thread).map(([, row]) => row).join() :
            undefined, source: source ? Number(source) - 1 : undefined,
        from: range ? set.from + BigInt(Math.round(range[0])) : undefined,
        to: range ? set.from + BigInt(Math.round(range[1])) : undefined });
    if (reply === null) return null;
    const { json, buffers: b } = reply, since = timed ? set.from : 0n;
    const [start, end] = [2, 3].map((i) => new BigInt64Array(b[i]));
    const [rows, inThread, code, category] = [1, 4, 5, 6].map((i) => new Uint32Array(b[i]));
    const data = texts(b[7]);
    return { all: json.rows, list: Array.from(rows, (row, i) => ({ slot, row, timed,
        name: plain(json.names[code[i]] || "(none)"), data: data[i],
        at: start[i] !== NO_TIME ? Number(start[i] - since) :
            end[i] !== NO_TIME ? Number(end[i] - since) : null,
        duration: start[i] === NO_TIME ? null : durationOf(start[i], end[i]),
        thread: plain((threads[inThread[i]] || [""])[0]),
        category: plain(json.categories[category[i]] || "") })) };
}

/* Options of a Table, or null: another request replaced it. */
async function markerTable(app) {
    const list = [], notes = [];
    for (let slot = 0; slot < app.slots; slot++) {
        if (!(slot ? app.baseInfo : app.info).markers) continue;
        const found = await markersOf(app, slot);
        if (found === null) return null;
        for (const marker of found.list) list.push(marker);
        if (found.all > found.list.length)
            notes.push("The first " + exact(found.list.length) + " of " + exact(found.all) +
                " markers: select a thread or a range of time.");
    }
    const time = (key, title) => ({ key, title, number: true, copy: (row) => list[row][key] ?? "",
        value: (row) => list[row][key] ?? -Infinity,
        text: (row) => (list[row][key] === null ? "" : seconds(list[row][key] / 1e9)),
        title_: (row) => (list[row][key] === null ? "" : exact(list[row][key]) + " ns") });
    const text = (key, title, width) => textColumn(key, title, (row) => list[row][key], width);
    const columns = [text("name", "Name"), time("at", "Start"), time("duration", "Duration"),
        text("thread", "Thread", "minmax(8rem, .5fr)"), text("category", "Category", "8rem"),
        text("data", "Data")];
    if (app.slots > 1)
        columns.splice(1, 0, textColumn("slot", "Profile", (row) => (list[row].slot ? "base" : "new"),
            "5rem"));
    const matches = (row) => [row.name, row.data, row.category].some((s) => app.search.test(s));
    return { columns, count: list.length, notes, filter: app.search && ((row) => matches(list[row])),
        first: { key: "at", descending: false },
        onSelect: (row) => app.showMarker(list[row].slot, list[row].row),
        onOpen: (row) => {
            const range = list[row].timed && app.markerRange(list[row].at, list[row].duration);
            if (range) app.setRange(range);
        } };
}
