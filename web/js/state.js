/*
 * state.js - the state of the page and its form in the address's fragment
 *
 * Values are texts; those that are as at the start are left out. Ranges are counted from the first
 * sample: nanoseconds, or samples where these have no times.
 */

const VIEWS = ["flame", "inverted", "peek", "table", "stacks"];
const START = { file: "0", base: "-", view: "flame", type: "", thread: "", source: "", key: "", value: "", search: "",
    only: "", range: "", zoom: "", frame: "", by: "function", sort: "", colour: "package",
    lanes: "", lane: "0", frames: "function" };

class State {
    constructor() {
        this.values = { ...START };
        this.read();
    }

    /* From the address; what is unknown there is ignored. */
    read() {
        const given = new URLSearchParams(location.hash.slice(1));
        for (const key of Object.keys(START))
            this.values[key] = given.has(key) ? given.get(key) : START[key];
        if (!VIEWS.includes(this.values.view)) this.values.view = START.view;
        if (!["function", "line"].includes(this.values.frames)) this.values.frames = START.frames;
    }

    get(key) {
        return this.values[key];
    }

    set(values) {
        for (const [key, value] of Object.entries(values)) this.values[key] = String(value);
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), 120);
    }

    fragment() {
        const given = new URLSearchParams();
        for (const [key, value] of Object.entries(this.values))
            if (value !== START[key]) given.set(key, value);
        return "#" + given.toString();
    }

    /* A sandboxed frame may forbid it: the page works without. */
    write() {
        this.written = this.fragment();
        try {
            history.replaceState(null, "", this.written);
        } catch (error) {
            this.written = location.hash;
        }
    }

    /* Two numbers "A-B", else null. */
    pair(key) {
        const match = /^(\d+(?:\.\d+)?(?:e-?\d+)?)~(\d+(?:\.\d+)?(?:e-?\d+)?)$/.exec(this.get(key));
        return match && Number(match[1]) < Number(match[2]) ?
            [Number(match[1]), Number(match[2])] : null;
    }

    reset(keep) {
        const view = this.values.view;
        this.values = { ...START, ...keep, view };
        this.write();
    }
}

/* ---- search ---- */

/* A regular expression without regard to case, unless it has a capital letter. */
function searchPattern(text) {
    if (text === "") return null;
    return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i");
}

/* A text as POSIX pattern for exactly this name. */
const exactly = (name) => "^" + name.replace(/[.[\](){}*+?|^$\\]/g, "\\$&") + "$";
