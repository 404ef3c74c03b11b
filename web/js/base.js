/* base.js - elements, numbers and texts. Names are untrusted: they reach the page as text only. */

const $ = (id) => document.getElementById(id);

function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {}))
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
        else if (key === "className") node.className = value;
        else if (value !== undefined && value !== false) node.setAttribute(key, value);
    node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
    return node;
}

/* Fill a select; options: [value, text]. Keeps the order. */
/* options: lists of a value and, if that is another one, its text. */
function fillSelect(select, options, value) {
    select.replaceChildren(...options.map(([key, text = key]) => el("option", { value: key }, text)));
    select.value = value;
    if (select.selectedIndex < 0) select.selectedIndex = 0;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* Text on one line: bidi and other control characters would change their surroundings. */
function plain(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/* As pcol names threads. */
const threadName = (thread) => thread.name || thread.tid || "";

/* The part after the last / or :: before any bracket, as pcol_name_tail(). */
function nameTail(name) {
    const bracket = name.search(/[(<[{]/);
    const end = bracket > 0 ? bracket : name.length;
    const slash = name.lastIndexOf("/", end - 1), colons = name.lastIndexOf("::", end - 2);
    const at = Math.max(slash < 0 ? 0 : slash + 1, colons < 0 ? 0 : colons + 2);
    return at < end ? name.slice(at) : name;
}

/* ---- numbers ---- */

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });

function percent(share) {
    if (!isFinite(share)) return "–";
    const value = 100 * share, size = Math.abs(value);
    return value.toFixed(size >= 99.95 || size < 0.0005 ? 0 : size >= 9.995 ? 1 : 2) + " %";
}

function scaled(value, steps) {
    const size = Math.abs(value);
    if (size === 0) return "0 " + steps[0][1];
    const step = steps.find(([least]) => size >= least) || steps[steps.length - 1];
    const shown = value / step[0];
    const digits = Math.abs(shown) >= 100 ? 0 : Math.abs(shown) >= 10 ? 1 : 2;
    return shown.toFixed(digits) + " " + step[1];
}

const seconds = (value) => scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
const byteSize = (value) => value === 0 ? "0 B" :
    scaled(value, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]]);

/* A number exactly, with separators; amounts are BigInt or Number. */
function exact(amount) {
    return typeof amount === "bigint" ? amount.toLocaleString("en-US") : grouped.format(amount);
}

const SECONDS = { nanoseconds: 1e-9, microseconds: 1e-6, milliseconds: 1e-3, seconds: 1, ns: 1e-9,
    us: 1e-6, ms: 1e-3, s: 1 };
const BYTES = { bytes: 1, byte: 1, B: 1, kilobytes: 1024, megabytes: 2 ** 20 };

/* An amount for people: with its time or size where the unit is one or the profile knows it. */
function amountText(amount, query) {
    const value = Number(amount);
    if (SECONDS[query.unit]) return seconds(value * SECONDS[query.unit]);
    if (BYTES[query.unit]) return byteSize(value * BYTES[query.unit]);
    if (query.picoseconds) return seconds(value * query.picoseconds / 1e12);
    return exact(amount);
}

const parseAmount = (text, isDouble) => (isDouble ? Number(text) : BigInt(text));

/* ---- clipboard and files ---- */

async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
    } catch (error) {
        const area = el("textarea", { "aria-hidden": "true" });
        area.value = text;
        document.body.append(area);
        area.select();
        const copied = document.execCommand("copy");
        area.remove();
        if (!copied) throw error;
    }
}

function saveFile(name, parts, type) {
    const url = URL.createObjectURL(new Blob(parts, { type }));
    const link = el("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
