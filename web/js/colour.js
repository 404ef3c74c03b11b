/*
 * colour.js - colours of frames
 *
 * The hues are those of Okabe and Ito, which people with any common colour vision tell apart. Text
 * on them is dark in both themes. Garbage collection is dark red; native code among managed code and
 * other frames of the runtime are greys: names and tooltips say the same, hue is never the only
 * sign.
 */

const HUES = [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [92, 143, 214],
    [204, 121, 167], [153, 187, 90]];
const GREY = [176, 180, 186];
const KINDS = { gc: [208, 84, 62], native: [126, 140, 160], runtime: GREY };
const KIND_NAMES = { gc: "garbage collection", native: "native code", runtime: "runtime" };

function hashText(text) {
    let hash = 2166136261;
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    return (hash ^ hash >>> 13) >>> 0;
}

const mix = (a, b, share) => a.map((x, i) => Math.round(x + (b[i] - x) * share));
const rgb = (c) => "rgb(" + c[0] + "," + c[1] + "," + c[2] + ")";

/* "gc", "native" or "runtime" for frames that are not of the program; code: 2 is native. */
function kindOf(name, code) {
    if (/^(<GC>|\(garbage collector\)|GC|gc)$|^(gc_|GCHeap|js::gc::)/.test(name) ||
        /^runtime\.(gc|bgs|scan|sweep|mark|greyobject|wbBuf)/.test(name)) return "gc";
    if (code === 2 || /^(<native>|\[native\]|\(program\))$/.test(name)) return "native";
    return /^[<[(].*[>\])]$/.test(name) || /^(Idle|idle)$/.test(name) ||
        /^runtime\.(mallocgc|park|schedule|find)/.test(name) ? "runtime" : "";
}

/* The package of a function as its language writes it; otherwise its folder. */
function packageOf(name, file) {
    let at = name.lastIndexOf("/");
    const tail = at < 0 ? name : name.slice(at + 1);
    if (/^[\w.$-]+\/[\w./$-]+\.[\w(*]/.test(name)) /* Go: path/of/package.Function */
        return name.slice(0, at + 1) + tail.slice(0, tail.indexOf("."));
    at = name.search(/::/);
    if (at > 0) return name.slice(0, at).replace(/^.*\s/, "");
    const parts = name.replace(/[(<].*$/, "").split(".");
    if (/\.(java|kt|scala)$/.test(file) || (!file && parts.length > 3))
        return parts.slice(0, -2).join(".");
    if (/\.go$/.test(file) && parts.length > 1) return parts[0];
    if (file) {
        const module = file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/) ||
            file.match(/(?:site-packages|dist-packages|library|registry\/src\/[^/]+)\/([^/]+)/);
        if (module) return module[1];
        const slash = file.lastIndexOf("/");
        return slash > 0 ? file.slice(0, slash) : file;
    }
    return parts.length > 1 ? parts[0] : "";
}

class Palette {
    /* codes: of each frame 0 unknown, 1 managed, 2 native. */
    constructor(names, files, origins, codes) {
        this.names = names;
        this.codes = codes.includes(1) ? codes : null;
        this.files = files;
        this.origins = origins || {}; /* by name: [module, category] */
        this.cache = new Map();
    }

    /* mode: "package", "file", "module", "category", "name". */
    group(frame, mode) {
        const name = this.names[frame], file = this.files[frame] || "";
        const origin = this.origins[name] || [];
        if (mode === "module") return origin[0] || packageOf(name, file);
        if (mode === "category") return origin[1] || "";
        if (mode === "file") return file;
        return mode === "name" ? name : packageOf(name, file);
    }

    kind(frame) {
        return kindOf(this.names[frame], this.codes ? this.codes[frame] : 0);
    }

    frame(frame, mode) {
        const key = mode + frame;
        let colour = this.cache.get(key);
        if (colour === undefined) {
            const name = this.names[frame];
            const group = this.group(frame, mode);
            const hue = (mode !== "category" && KINDS[this.kind(frame)]) ||
                HUES[hashText(group) % HUES.length];
            colour = rgb(mix(hue, [255, 255, 255], (hashText(name) % 5) * 0.09 + 0.12));
            this.cache.set(key, colour);
        }
        return colour;
    }
}

/* Change of a share, -1 to 1: orange for more, blue for less, distinct by lightness, too. */
function changeColour(change, largest) {
    if (Math.abs(change) < 1e-9) return "rgb(226,226,226)";
    const strength = clamp(Math.sqrt(Math.abs(change) / (largest || 1)), 0.12, 1);
    const step = Math.round(strength * 12) / 12;
    return rgb(mix([244, 244, 244], change > 0 ? [230, 97, 1] : [64, 132, 214], step));
}
