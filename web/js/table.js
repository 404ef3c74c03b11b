/*
 * table.js - a sortable table that holds only the rows that are seen
 *
 * Columns: {key, title, number, value(row), text(row), title_(row), copy(row)}: what sorts, is shown, is
 * the hint, is copied (without copy: the value). Rows are indices.
 */

const LINE = 22;

class Table {
    /* options: label, columns, count, sort {key, descending}, onOpen(row), onSelect(row),
     * onSort(sort), filter(row) */
    constructor(host, options) {
        Object.assign(this, { options, sort: options.sort, current: 0, first: -1, last: -1 });
        this.body = el("div", { role: "rowgroup", className: "rows" });
        this.head = el("div", { role: "rowgroup", className: "head" }, this.header());
        this.grid = el("div", { role: "grid", className: "grid", tabindex: 0,
            "aria-label": options.label, "aria-colcount": options.columns.length },
        this.head, this.body);
        /* Header and rows are grids of their own: no text of theirs may widen a column. */
        const widths = options.columns.map((c) => c.width ||
            (c.number ? "6.75rem" : "minmax(14rem, 1fr)"));
        const least = widths.reduce((sum, width) => sum + parseFloat(width.replace("minmax(", "")), 0);
        this.grid.style.setProperty("--columns", widths.join(" "));
        this.grid.style.setProperty("--least", least + "rem");
        host.append(this.grid);
        this.grid.addEventListener("scroll", () => this.show());
        this.grid.addEventListener("keydown", (e) => this.key(e));
        this.observer = new ResizeObserver(() => this.show());
        this.observer.observe(this.grid);
        this.arrange();
    }

    close() {
        this.observer.disconnect();
    }

    header() {
        const cells = this.options.columns.map((column, i) => {
            const button = el("button", { type: "button", tabindex: -1,
                onclick: () => this.sortBy(column.key) }, column.title);
            return el("div", { role: "columnheader", "aria-colindex": i + 1,
                className: column.number ? "number" : "" }, button);
        });
        return el("div", { role: "row", className: "row" }, ...cells);
    }

    sortBy(key) {
        const column = this.options.columns.find((c) => c.key === key);
        const descending = this.sort.key === key ? !this.sort.descending : !!column.number;
        this.sort = { key, descending };
        this.options.onSort(this.sort);
        this.arrange();
    }

    /* Sort; equal rows keep the order in which they came. */
    arrange() {
        const { columns, count, filter } = this.options;
        const column = columns.find((c) => c.key === this.sort.key) || columns[0];
        const values = Array.from({ length: count }, (_, row) => column.value(row));
        const sign = this.sort.descending ? -1 : 1;
        this.rows = Array.from({ length: count }, (_, row) => row);
        if (filter) this.rows = this.rows.filter(filter);
        this.rows.sort((a, b) => (values[a] < values[b] ? -sign :
            values[a] > values[b] ? sign : a - b));
        this.head.firstChild.childNodes.forEach((cell, i) => {
            const is = columns[i].key === this.sort.key;
            cell.setAttribute("aria-sort",
                !is ? "none" : this.sort.descending ? "descending" : "ascending");
        });
        this.grid.setAttribute("aria-rowcount", this.rows.length + 1);
        this.current = 0;
        this.first = -1;
        this.body.style.height = this.rows.length * LINE + "px";
        this.show();
    }

    /* Build the rows that are seen; all: for printing, as many as a page bears. */
    show(all) {
        const height = this.grid.clientHeight || 400;
        const first = all ? 0 : Math.max(0, Math.floor(this.grid.scrollTop / LINE) - 4);
        const last = Math.min(this.rows.length,
            all ? 200 : Math.ceil((this.grid.scrollTop + height) / LINE) + 4);
        if (first === this.first && last === this.last && !all) return;
        this.first = first;
        this.last = last;
        const nodes = [];
        for (let at = first; at < last; at++) nodes.push(this.row(at));
        this.body.replaceChildren(...nodes);
        this.highlight();
    }

    row(at) {
        const row = this.rows[at];
        const cells = this.options.columns.map((column, i) => {
            const text = column.text(row);
            return el("div", { role: "gridcell", "aria-colindex": i + 1, title: column.title_(row),
                className: (column.number ? "number " : "") +
                    (column.sign ? column.sign(row) : "") },
            text);
        });
        const line = el("div", { role: "row", className: "row", "aria-rowindex": at + 2,
            id: this.options.id + at }, ...cells);
        line.style.top = at * LINE + "px";
        line.addEventListener("click", () => this.move(at));
        line.addEventListener("dblclick", () => this.options.onOpen(row));
        return line;
    }

    highlight() {
        for (const line of this.body.childNodes) {
            const is = line.id === this.options.id + this.current;
            line.setAttribute("aria-selected", is);
            if (is) this.grid.setAttribute("aria-activedescendant", line.id);
        }
    }

    move(at) {
        if (this.rows.length === 0) return;
        this.current = clamp(at, 0, this.rows.length - 1);
        const top = this.current * LINE, head = this.head.offsetHeight;
        if (top < this.grid.scrollTop) this.grid.scrollTop = top;
        if (top + LINE > this.grid.scrollTop + this.grid.clientHeight - head)
            this.grid.scrollTop = top + LINE - this.grid.clientHeight + head;
        this.show();
        this.highlight();
        this.options.onSelect(this.rows[this.current]);
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.grid.clientHeight / LINE) - 2);
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
            Home: -Infinity, End: Infinity };
        if (event.altKey || event.ctrlKey || event.metaKey || event.target !== this.grid) return;
        const column = this.options.columns[Number(event.key) - 1];
        if (steps[event.key])
            this.move(clamp(this.current + steps[event.key], 0, this.rows.length));
        else if (event.key === "Enter" && this.rows.length)
            this.options.onOpen(this.rows[this.current]);
        else if (column) this.sortBy(column.key);
        else return;
        event.preventDefault();
    }

    /* Tab-separated, in the order shown, exact numbers. */
    text() {
        const columns = this.options.columns;
        const lines = [columns.map((c) => c.title).join("\t")];
        for (const row of this.rows)
            lines.push(columns.map((c) => String((c.copy || c.value)(row))).join("\t"));
        return lines.join("\n") + "\n";
    }
}
