/*
 * lanes.js - weights over time (or over the order of samples), a lane for each thread, source or
 * label, and a brush that selects a range for all views
 *
 * Lanes of samples have no `kind`; others show the markers of a thread or a counter.
 */

const LANE = 34, MOST_LANES = 120;

/* Bins of tracks: the markers of threads, or counters as levels or as sums of each bin. */
function trackBins(reply, lanes, count) {
    const numbers = [1, 2, 3, 4, 5].map((b) => new Uint32Array(reply.buffers[b]));
    const sums = new Float64Array(reply.buffers[6]);
    let markers = 0, counters = 0;
    for (const lane of lanes)
        if (lane.kind === "markers") {
            const at = markers++ * count;
            const [counts, row, name, pointRow, pointName] =
                numbers.map((array) => array.subarray(at, at + count));
            lane.bins = { counts, row, name, pointRow, pointName, names: reply.json.names };
        } else {
            const at = counters++ * (count + 1);
            let level = sums[at];
            lane.bins = { values: Array.from(sums.subarray(at + 1, at + 1 + count),
                (value) => (lane.level ? level += value : value)) };
        }
}

/* Each lane with that of the base after it, then what only the base has. Both have one scale. */
function pairs(own, base) {
    const rest = [...base], lanes = [];
    for (const lane of own) {
        const at = rest.findIndex((other) => other.name === lane.name && other.kind === lane.kind);
        lanes.push(lane);
        if (at < 0) continue;
        [lane.pair] = rest.splice(at, 1);
        lane.pair.pair = lane;
        lanes.push(lane.pair);
    }
    return [...lanes, ...rest];
}

class Lanes {
    /* options: ask(op, args), onRange(from, to), onLane(lane), onMarker(lane, row),
     * describe(lane, bin) */
    constructor(host, options) {
        Object.assign(this, { host, options, lanes: [], range: null, width: 0 });
        this.canvas = el("canvas", { tabindex: 0, role: "img" });
        this.labels = el("div", { className: "labels" });
        this.ruler = el("canvas", { className: "ruler", "aria-hidden": "true" });
        host.append(this.labels, el("div", { className: "strips" }, this.canvas, this.ruler));
        const c = this.canvas;
        c.addEventListener("pointerdown", (e) => this.press(e));
        c.addEventListener("pointermove", (e) => this.move(e));
        c.addEventListener("pointerup", (e) => this.release(e));
        c.addEventListener("pointerleave", () => { $("tip").hidden = true; });
        c.addEventListener("dblclick", () => options.onRange(null));
        c.addEventListener("keydown", (e) => this.key(e));
        this.labels.addEventListener("keydown", (e) => this.nextLabel(e));
        new ResizeObserver(() => this.resize()).observe(this.canvas.parentNode);
    }

    /* sets: [{slot, from, to (BigInt), axis, lanes: [...]}], the profile and its base. */
    set(sets) {
        this.sets = sets;
        this.span = Math.max(1, ...sets.map((s) => Number(s.to - s.from)));
        this.axis = sets[0].axis;
        const [own, base = []] = sets.map((set) => set.lanes.slice(0, MOST_LANES / sets.length)
            .map((lane) => ({ set, ...lane, bins: null })));
        this.lanes = pairs(own, base);
        this.canvas.setAttribute("aria-label",
            this.lanes.length + " lanes; arrow keys move the selected range, Shift changes its " +
            "length, Escape selects everything");
        this.labels.replaceChildren(...this.lanes.map((lane, i) => el("button", { type: "button",
            title: lane.hint || lane.title, tabIndex: i === 0 ? 0 : -1,
        onclick: () => this.options.onLane(this.lanes[i]) }, lane.title)));
        this.width = 0;
        this.resize();
    }

    resize() {
        const width = this.canvas.parentNode.clientWidth;
        if (width === 0 || width === this.width || !this.sets) return;
        this.width = width;
        const ratio = window.devicePixelRatio || 1;
        for (const [canvas, height] of [[this.canvas, Math.max(1, this.lanes.length) * LANE],
            [this.ruler, 16]]) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            canvas.style.width = width + "px";
            canvas.style.height = height + "px";
        }
        this.load();
    }

    /* Read the bins of all lanes; a bin is a pixel. */
    async load() {
        if (!this.width) return;
        /* Bins are no narrower than a sample of the axis of order. */
        this.count = this.axis === "time" ? this.width : Math.min(this.width, this.span);
        for (const set of this.sets) {
            const lanes = this.lanes.filter((lane) => lane.set === set && !lane.kind);
            if (lanes.length === 0) continue;
            const reply = await this.options.ask("bins", { slot: set.slot, from: set.from,
                to: set.from + BigInt(Math.round(this.span)), count: this.count,
                lanes: lanes.map((lane) => lane.index).join(",") });
            if (reply === null) return;
            const count = reply.buffers[3].byteLength / 8 / lanes.length;
            const parts = [1, 2].map((b) => amounts(reply.buffers[b], set.double));
            const cpu = new Float64Array(reply.buffers[3]);
            const samples = new Float64Array(reply.buffers[4]);
            lanes.forEach((lane, i) => {
                const cut = (array) => array.subarray(i * count, (i + 1) * count);
                lane.bins = { weight: cut(parts[0]), marked: cut(parts[1]), cpu: cut(cpu),
                    samples: cut(samples) };
            });
            if (!await this.loadTracks(set)) return;
        }
        this.draw();
        if (this.sought) this.reveal();
    }

    /* After another search: scroll to the lane with most of the matches. */
    reveal() {
        let most = 0, best = -1;
        this.lanes.forEach((lane, i) => {
            const sum = lane.kind ? 0 :
                lane.bins.marked.reduce((all, amount) => all + Math.abs(Number(amount)), 0);
            if (sum > most) [most, best] = [sum, i];
        });
        this.sought = false;
        const { host } = this, top = best * LANE, height = host.clientHeight - 16 - LANE;
        if (best >= 0 && (top < host.scrollTop || top > host.scrollTop + height)) host.scrollTop = top;
    }

    async loadTracks(set) {
        const lanes = this.lanes.filter((lane) => lane.set === set && lane.kind);
        if (lanes.length === 0) return true;
        const indices = (kind) => lanes.filter((lane) => lane.kind === kind)
            .map((lane) => lane.index).join(",");
        const reply = await this.options.ask("trackbins", { slot: set.slot, from: set.from,
            to: set.from + BigInt(Math.round(this.span)), count: this.count,
            markers: indices("markers"), counters: indices("counter") });
        if (reply !== null) trackBins(reply, lanes, this.count);
        return reply !== null;
    }

    setRange(range) {
        this.range = range;
        this.draw();
    }

    x(position) {
        return position / this.span * this.width;
    }

    draw() {
        if (!this.sets || !this.width) return;
        const c = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
        const style = getComputedStyle(this.canvas);
        const colour = (name) => style.getPropertyValue(name);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, this.width, this.canvas.height);
        this.lanes.forEach((lane, i) => this.strip(c, lane, i * LANE, colour));
        if (this.range) {
            const x0 = this.x(this.range[0]), x1 = Math.max(this.x(this.range[1]), x0 + 1);
            const height = this.lanes.length * LANE;
            c.fillStyle = colour("--veil");
            c.fillRect(0, 0, x0, height);
            c.fillRect(x1, 0, this.width - x1, height);
            c.fillStyle = colour("--mark");
            c.fillRect(x0 - 1, 0, 2, height);
            c.fillRect(x1 - 1, 0, 2, height);
        }
        this.drawRuler(colour);
    }

    strip(c, lane, y, colour) {
        c.fillStyle = colour("--lane");
        c.fillRect(0, y, this.width, LANE - 2);
        if (!lane.bins) return;
        if (lane.kind === "markers") return this.markers(c, lane.bins, y);
        if (lane.kind) return this.counter(c, lane, y, colour);
        const { weight, marked, cpu } = lane.bins;
        let largest = 0, largestCpu = 0;
        for (const { bins } of [lane, lane.pair || lane])
            for (let x = 0; bins && x < bins.weight.length; x++) {
                largest = Math.max(largest, Math.abs(Number(bins.weight[x])));
                largestCpu = Math.max(largestCpu, bins.cpu[x]);
            }
        if (largest === 0) return;
        const wide = this.width / weight.length;
        const bars = (values, name, top) => {
            c.fillStyle = colour(name);
            for (let x = 0; x < values.length; x++) {
                const height = Math.abs(Number(values[x])) / top * (LANE - 4);
                if (height > 0)
                    c.fillRect(x * wide, y + LANE - 2 - height, Math.max(1, wide - 0.5), height);
            }
        };
        bars(weight, "--bar", largest);
        bars(marked, "--mark", largest);
        if (largestCpu > 0) {
            c.strokeStyle = colour("--line");
            c.beginPath();
            for (let x = 0; x < cpu.length; x++)
                c.lineTo((x + 0.5) * wide, y + LANE - 3 - cpu[x] / largestCpu * (LANE - 6));
            c.stroke();
        }
    }

    /* Markers with a duration below, points in time above. */
    markers(c, bins, y) {
        const { row, name, pointRow, pointName, names } = bins;
        const wide = this.width / row.length, hue = (code) =>
            rgb(HUES[hashText(names[code] || "") % HUES.length]);
        c.font = LETTERS;
        c.textBaseline = "middle";
        for (let x = 0, end; x < row.length; x = end) {
            for (end = x + 1; end < row.length && row[end] === row[x]; end++);
            if (row[x] === NO_FRAME) continue;
            const width = (end - x) * wide, text = names[name[x]] || "";
            c.fillStyle = hue(name[x]);
            c.fillRect(x * wide, y + 12, width > 2 ? width - 1 : width, LANE - 14);
            c.fillStyle = "#000";
            if (width > 30) c.fillText(plain(text).slice(0, width / 7), x * wide + 3, y + 22);
        }
        for (let x = 0; x < pointRow.length; x++) {
            if (pointRow[x] === NO_FRAME) continue;
            c.fillStyle = hue(pointName[x]);
            c.fillRect(x * wide, y + 1, Math.max(1.5, wide - 1), 9);
        }
    }

    counter(c, lane, y, colour) {
        const { values } = lane.bins;
        const both = lane.pair && lane.pair.bins ? [...values, ...lane.pair.bins.values] : values;
        const least = Math.min(0, ...both), most = Math.max(...both);
        const wide = this.width / values.length;
        c.fillStyle = colour("--line");
        for (let x = 0; x < values.length && most > least; x++) {
            const height = (values[x] - least) / (most - least) * (LANE - 6);
            c.fillRect(x * wide, y + LANE - 2 - height, Math.max(1, wide), Math.max(1, height));
        }
    }

    drawRuler(colour) {
        const c = this.ruler.getContext("2d"), ratio = window.devicePixelRatio || 1;
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.clearRect(0, 0, this.width, 16);
        c.fillStyle = colour("--text");
        c.font = LETTERS;
        c.textBaseline = "top";
        const rough = this.span / Math.max(2, this.width / 110);
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = power * ([1, 2, 5, 10].find((n) => n * power >= rough));
        for (let at = 0; at <= this.span; at += step) {
            const text = this.text(at), width = c.measureText(text).width;
            c.fillRect(this.x(at), 0, 1, 4);
            if (this.x(at) + width + 3 < this.width) c.fillText(text, this.x(at) + 3, 3);
        }
    }

    /* A position, from the first sample on. */
    text(position) {
        return this.axis === "time" ? seconds(position / 1e9) :
            grouped.format(Math.round(position));
    }

    /* ---- the brush ---- */

    at(event) {
        const share = clamp((event.clientX - this.canvas.getBoundingClientRect().left) / this.width,
            0, 1);
        return share === 1 ? this.span : this.round(share * this.span);
    }

    /* A position of few digits: no more of them than a pixel can tell apart. */
    round(position) {
        const unit = 10 ** Math.max(0, Math.floor(Math.log10(this.span / this.width)));
        return Math.round(position / unit) * unit;
    }

    press(event) {
        if (event.button !== 0) return;
        this.start = this.at(event);
        this.before = this.range;
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        if (this.start !== undefined) {
            const end = this.at(event);
            this.setRange([Math.min(this.start, end), Math.max(this.start, end)]);
            this.options.onRange(this.range, true);
            return;
        }
        const lane = this.lanes[Math.floor(event.offsetY / LANE)];
        const tip = $("tip");
        tip.hidden = !lane || !lane.bins;
        if (tip.hidden) return;
        tip.textContent = lane.title + "\n" + this.text(this.at(event)) + ": " +
            this.options.describe(lane,
            clamp(Math.floor(event.offsetX / this.width * this.count), 0, this.count - 1));
        tip.style.left = clamp(event.clientX + 14, 4, innerWidth - tip.offsetWidth - 4) + "px";
        tip.style.top = event.clientY + 20 + "px";
    }

    /* The marker at a pixel or next to it. */
    markerAt(lane, x) {
        for (const at of [x, x - 1, x + 1, x - 2, x + 2])
            for (const rows of [lane.bins.row, lane.bins.pointRow])
                if (rows[at] !== undefined && rows[at] !== NO_FRAME) return rows[at];
        return null;
    }

    click(event) {
        const lane = this.lanes[Math.floor(event.offsetY / LANE)];
        const row = lane && lane.kind === "markers" && lane.bins ? this.markerAt(lane,
            clamp(Math.floor(event.offsetX / this.width * this.count), 0, this.count - 1)) : null;
        if (row !== null) this.options.onMarker(lane, row);
    }

    /* The next marker that is drawn, of all lanes; step: 1 or -1. */
    nextMarker(step) {
        const all = [];
        for (const lane of this.lanes)
            if (lane.kind === "markers" && lane.bins)
                for (const row of new Set([...lane.bins.row, ...lane.bins.pointRow]))
                    if (row !== NO_FRAME) all.push([lane, row]);
        if (all.length === 0) return;
        this.marker = ((this.marker === undefined ? (step > 0 ? -1 : 0) : this.marker) + step +
            all.length) % all.length;
        this.options.onMarker(...all[this.marker]);
    }

    release(event) {
        if (this.start === undefined) return;
        const end = this.at(event);
        const range = [Math.min(this.start, end), Math.max(this.start, end)];
        this.start = undefined;
        if (this.x(range[1]) - this.x(range[0]) >= 3) this.options.onRange(range);
        else {
            if (this.range !== this.before) this.options.onRange(this.before);
            this.click(event);
        }
    }

    /* All names are one stop of Tab; arrow keys move among them. */
    nextLabel(event) {
        const next = { ArrowDown: "nextSibling", ArrowUp: "previousSibling" }[event.key];
        if (!next) return;
        const from = event.target, to = from[next];
        if (to) {
            from.tabIndex = -1;
            to.tabIndex = 0;
            to.focus();
        }
        event.preventDefault();
    }

    key(event) {
        const step = Math.max(1, this.round(this.span / 50));
        const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape" || event.key === "0") this.options.onRange(null);
        else if (event.key === "m" || event.key === "M") this.nextMarker(event.key === "m" ? 1 : -1);
        else if (direction) {
            let [from, to] = this.range || [0, step * 10];
            if (this.range && event.shiftKey)
                to = clamp(to + direction * step, from + 1, this.span);
            else if (this.range) {
                const move = clamp(direction * step, -from, this.span - to);
                [from, to] = [from + move, to + move];
            }
            this.options.onRange([from, to]);
        } else return;
        event.preventDefault();
    }
}
