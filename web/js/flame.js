/*
 * flame.js - boxes on a canvas: flame graphs and stacks over time
 *
 * A source gives the boxes of a part of the width, from 0 to 1. While newer ones are on their way
 * the old boxes are drawn stretched. Boxes are filled in groups of one colour. The canvas covers
 * what is seen; the element around it scrolls.
 */

const ROW = 18, LETTERS = "11px ui-monospace, 'DejaVu Sans Mono', Consolas, monospace";

class Flame {
    /* host: an element; source: async (from, to, width) => boxes or null;
     * options: label, upwards, colour(boxes, i), text(boxes, i), describe(boxes, i), onSelect(),
     * onOpen(), onZoom() */
    constructor(host, source, options) {
        Object.assign(this, { host, source, options, from: 0, to: 1, boxes: null, selected: -1,
            hovered: -1, timer: 0, frameRequest: 0 });
        this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": options.label });
        this.spacer = el("div", { className: "spacer" });
        this.scroller = el("div", { className: "flame" }, this.canvas, this.spacer);
        host.append(this.scroller);
        this.listen();
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(this.scroller);
    }

    close() {
        this.observer.disconnect();
        cancelAnimationFrame(this.frameRequest);
        clearTimeout(this.timer);
        this.closed = true;
        $("tip").hidden = true;
    }

    resize() {
        const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
        if (width === this.width && height === this.height) return;
        const changed = width !== this.width;
        this.width = width;
        this.height = height;
        const ratio = window.devicePixelRatio || 1;
        this.canvas.width = Math.max(1, Math.round(width * ratio));
        this.canvas.height = Math.max(1, Math.round(height * ratio));
        this.canvas.style.width = width + "px";
        this.canvas.style.height = height + "px";
        if (changed) this.load();
        this.draw();
    }

    /* Request the visible boxes. */
    async load() {
        if (!this.width || this.closed) return;
        const boxes = await this.source(this.from, this.to, this.width);
        if (boxes === null || this.closed) return;
        const old = this.selected >= 0 && this.boxes ? this.boxes.node[this.selected] : -1;
        this.boxes = boxes;
        this.hovered = -1;
        this.selected = old >= 0 ? boxes.node.indexOf(old) : -1;
        let depth = 0;
        for (let i = 0; i < boxes.count; i++) depth = Math.max(depth, boxes.depth[i]);
        this.depth = depth;
        const height = (depth + 1) * ROW;
        const end = this.options.upwards && !this.placed;
        this.spacer.style.height = Math.max(0, height - this.height) + "px";
        if (end) this.scroller.scrollTop = height;
        this.placed = true;
        this.group();
        this.draw();
        if (this.options.onLoad) this.options.onLoad(boxes);
    }

    /* Indices of the boxes by colour. */
    group() {
        const groups = new Map();
        for (let i = 0; i < this.boxes.count; i++) {
            const colour = this.options.colour(this.boxes, i);
            let list = groups.get(colour);
            if (!list) groups.set(colour, list = []);
            list.push(i);
        }
        this.groups = groups;
    }

    recolour() {
        if (this.boxes) {
            this.group();
            this.draw();
        }
    }

    top(depth) {
        const y = this.options.upwards ? (this.depth - depth) * ROW : depth * ROW;
        const free = this.options.upwards ?
            Math.max(0, this.height - (this.depth + 1) * ROW) : 0;
        return y + free - this.scroller.scrollTop;
    }

    left(i) {
        return (this.boxes.x0[i] - this.from) / (this.to - this.from) * this.width;
    }

    right(i) {
        return (this.boxes.x1[i] - this.from) / (this.to - this.from) * this.width;
    }

    draw() {
        if (this.frameRequest || this.closed) return;
        this.frameRequest = requestAnimationFrame(() => {
            this.frameRequest = 0;
            this.paint();
        });
    }

    paint() {
        const c = this.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
        const style = getComputedStyle(this.canvas);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.fillStyle = style.getPropertyValue("--back");
        c.fillRect(0, 0, this.width, this.height);
        const boxes = this.boxes;
        if (!boxes) return;
        const labels = [];
        c.font = LETTERS;
        c.textBaseline = "middle";
        const letter = this.letter || (this.letter = c.measureText("mmmmmmmmmm").width / 10);
        for (const [colour, list] of this.groups) {
            c.fillStyle = colour;
            for (const i of list) {
                const y = this.top(boxes.depth[i]);
                if (y < -ROW || y > this.height) continue;
                const x0 = Math.max(this.left(i), -2), x1 = Math.min(this.right(i), this.width + 2);
                if (x1 <= x0) continue;
                const width = x1 - x0;
                c.fillRect(x0, y, width > 2 ? width - 1 : Math.max(width, 0.7), ROW - 1);
                if (width > 4 * letter) labels.push(i, x0, width, y);
            }
        }
        const searching = boxes.marked && this.options.searching && this.options.searching();
        if (searching) this.veil(c, style);
        const faint = style.getPropertyValue("--quiet");
        for (let k = 0; k < labels.length; k += 4) {
            c.fillStyle = searching && !boxes.marked[labels[k]] ? faint : "#000";
            this.label(c, letter, labels, k);
        }
        this.frame(c, style, searching);
    }

    veil(c, style) {
        c.fillStyle = style.getPropertyValue("--veil");
        for (let i = 0; i < this.boxes.count; i++)
            if (!this.boxes.marked[i]) this.rectangle(c, i, "fillRect");
    }

    label(c, letter, labels, k) {
        const x = Math.max(labels[k + 1], 0) + 3;
        const fits = Math.floor((Math.min(labels[k + 1] + labels[k + 2], this.width) - x - 3) /
            letter);
        let text = this.options.text(this.boxes, labels[k]);
        if (text.length > fits) text = nameTail(text);
        if (text.length > fits) text = fits > 3 ? text.slice(0, fits - 1) + "…" : "";
        if (text) c.fillText(text, x, labels[k + 3] + ROW / 2);
    }

    /* Frames around matches, the selected box and the one below the pointer. */
    frame(c, style, searching) {
        const boxes = this.boxes;
        c.strokeStyle = style.getPropertyValue("--mark");
        c.lineWidth = 1.5;
        for (let i = 0; searching && i < boxes.count; i++)
            if (boxes.marked[i]) this.rectangle(c, i, "strokeRect");
        c.strokeStyle = style.getPropertyValue("--text");
        for (const [index, width] of [[this.hovered, 1], [this.selected, 2.5]])
            if (index >= 0) {
                c.lineWidth = width;
                this.rectangle(c, index, "strokeRect");
            }
    }

    rectangle(c, i, how) {
        const y = this.top(this.boxes.depth[i]);
        const x0 = clamp(this.left(i), -2, this.width + 2);
        const x1 = clamp(this.right(i), -2, this.width + 2);
        if (y > -ROW && y < this.height && x1 > x0) {
            const edge = how === "strokeRect" ? 0.75 : 0;
            c[how](x0 + edge, y + edge, Math.max(x1 - x0 - 2 * edge, 0.7), ROW - 1 - 2 * edge);
        }
    }

    /* ---- zoom ---- */

    setWindow(from, to, quiet) {
        const span = clamp(to - from, 1e-12, 1);
        this.from = clamp(from, 0, 1 - span);
        this.to = this.from + span;
        this.draw();
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.load(), 0);
        if (!quiet && this.options.onZoom) this.options.onZoom(this.from, this.to);
    }

    zoomBy(factor, at = 0.5) {
        const span = (this.to - this.from) * factor;
        const middle = this.from + at * (this.to - this.from);
        this.setWindow(middle - at * span, middle + (1 - at) * span);
    }

    zoomTo(i) {
        if (i >= 0) this.setWindow(this.boxes.x0[i], this.boxes.x1[i]);
    }

    find(x, y) {
        for (let i = 0; this.boxes && i < this.boxes.count; i++) {
            const top = this.top(this.boxes.depth[i]);
            if (y >= top && y < top + ROW && x >= this.left(i) && x < this.right(i)) return i;
        }
        return -1;
    }

    select(i) {
        this.selected = i;
        if (i >= 0) {
            const top = this.top(this.boxes.depth[i]);
            if (top < 0) this.scroller.scrollTop += top;
            if (top + ROW > this.height) this.scroller.scrollTop += top + ROW - this.height;
            if (this.right(i) <= 0 || this.left(i) >= this.width) {
                const middle = (this.boxes.x0[i] + this.boxes.x1[i] - this.to - this.from) / 2;
                this.setWindow(this.from + middle, this.to + middle);
            }
        }
        this.options.onSelect(this.boxes, i);
        this.draw();
    }

    /* The box next to, above or below the selected one. */
    neighbour(direction) {
        const boxes = this.boxes, at = this.selected;
        if (!boxes || boxes.count === 0) return -1;
        if (at < 0) return 0;
        const up = direction === "up", down = direction === "down";
        const depth = boxes.depth[at] + (up ? -1 : down ? 1 : 0);
        let best = -1, size = -1;
        for (let i = 0; i < boxes.count; i++) {
            if (boxes.depth[i] !== depth || i === at) continue;
            const inside = up ? boxes.x0[i] <= boxes.x0[at] + 1e-12 && boxes.x1[i] > boxes.x0[at] :
                down ? boxes.x0[i] >= boxes.x0[at] - 1e-12 && boxes.x0[i] < boxes.x1[at] :
                    direction === "left" ? boxes.x0[i] < boxes.x0[at] : boxes.x0[i] > boxes.x0[at];
            const rank = up || down ? boxes.x1[i] - boxes.x0[i] : -Math.abs(boxes.x0[i] -
                boxes.x0[at]) + 2;
            if (inside && rank > size) [best, size] = [i, rank];
        }
        return best;
    }

    /* ---- events ---- */

    listen() {
        const c = this.canvas;
        this.scroller.addEventListener("scroll", () => this.draw());
        this.scroller.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
        c.addEventListener("pointerdown", (e) => this.press(e));
        c.addEventListener("pointermove", (e) => this.move(e));
        c.addEventListener("pointerup", (e) => this.release(e));
        c.addEventListener("pointerleave", () => this.hover(-1));
        c.addEventListener("dblclick", (e) => this.zoomTo(this.find(e.offsetX, e.offsetY)));
        c.addEventListener("keydown", (e) => this.key(e));
    }

    wheel(event) {
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault();
            this.zoomBy(Math.exp(clamp(event.deltaY, -100, 100) / 200), event.offsetX / this.width);
        } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            event.preventDefault();
            const step = event.deltaX / this.width * (this.to - this.from);
            this.setWindow(this.from + step, this.to + step);
        }
    }

    press(event) {
        if (event.button !== 0) return;
        this.drag = { x: event.clientX, y: event.clientY, from: this.from, to: this.to,
            top: this.scroller.scrollTop, moved: false };
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        if (!this.drag) {
            this.hover(this.find(event.offsetX, event.offsetY), event);
            return;
        }
        const dx = event.clientX - this.drag.x, dy = event.clientY - this.drag.y;
        if (Math.abs(dx) + Math.abs(dy) > 4) this.drag.moved = true;
        if (!this.drag.moved) return;
        const step = -dx / this.width * (this.drag.to - this.drag.from);
        this.scroller.scrollTop = this.drag.top - dy;
        this.setWindow(this.drag.from + step, this.drag.to + step);
    }

    release(event) {
        const clicked = this.drag && !this.drag.moved;
        this.drag = null;
        if (clicked) this.select(this.find(event.offsetX, event.offsetY));
    }

    hover(i, event) {
        const tip = $("tip");
        if (i !== this.hovered) {
            this.hovered = i;
            this.draw();
            tip.hidden = i < 0;
            if (i >= 0) tip.textContent = this.options.describe(this.boxes, i);
        }
        if (i >= 0 && event) {
            const width = tip.offsetWidth, height = tip.offsetHeight;
            tip.style.left = clamp(event.clientX + 14, 4, innerWidth - width - 4) + "px";
            tip.style.top = (event.clientY + 20 + height > innerHeight ?
                event.clientY - height - 10 : event.clientY + 20) + "px";
        }
    }

    key(event) {
        const pan = (this.to - this.from) * 0.2, upwards = this.options.upwards;
        const moves = { ArrowLeft: "left", ArrowRight: "right",
            ArrowUp: upwards ? "down" : "up", ArrowDown: upwards ? "up" : "down" };
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.shiftKey && /^Arrow(Left|Right)$/.test(event.key)) {
            const step = event.key === "ArrowLeft" ? -pan : pan;
            this.setWindow(this.from + step, this.to + step);
        } else if (moves[event.key]) {
            const i = this.neighbour(moves[event.key]);
            if (i >= 0) this.select(i);
        } else if (event.key === "Enter") this.zoomTo(this.selected);
        else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
        else if (event.key === "-") this.zoomBy(2);
        else if (event.key === "0" || event.key === "Escape") this.setWindow(0, 1);
        else if (event.key === "c" && this.selected >= 0)
            this.options.onOpen(this.boxes, this.selected);
        else if (event.key === "s" && this.selected >= 0)
            this.options.onSearch(this.boxes, this.selected);
        else return;
        event.preventDefault();
    }
}
