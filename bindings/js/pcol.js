/**
 * pcol.js - open, query and convert profiles of many formats, in Node 18 or later and in browsers
 *
 * libpcol runs as WebAssembly (pcol.wasm) in one instance for all profiles. Integers of 64 bits are
 * BigInt in arrays; in rows they are numbers up to 2^53 - 1. Results are copies: only a Profile has
 * memory in the instance, until close() or garbage collection. Types: pcol.d.ts.
 */

const MODELS = ["v2", "v1", "physical", "further"];
const DEPTHS = ["quick", "default", "strict"];
const COMPRESS = { auto: "0", none: "1", gzip: "2" };
const TEXT = 1, NANOSECONDS = 4; // PCOL_ARRAY_*
const utf8 = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

export class PcolError extends Error {
    constructor(status, message, place = "", osError = 0) {
        super(place ? `${place}: ${message}` : message);
        this.name = "PcolError";
        this.status = status;
        this.place = place;
        this.osError = osError;
    }
}

/* ---- the module ---- */

let compiled = null; // promise of a WebAssembly.Module
let instance = null; // exports of the instance; null: none yet, or the last one has failed
let starting = null; // promise of an instance
let random = null; // Crypto
let generation = 0; // of the instance, which its profiles remember

async function loadModule() {
    const url = new URL("./pcol.wasm", import.meta.url);
    if (url.protocol === "file:" && typeof process === "object") {
        const { readFile } = await import("node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok)
        throw new PcolError("E_IO", `cannot load ${url}: ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

/** Use this module, or these bytes, instead of pcol.wasm next to this file. */
export async function init(module) {
    compiled = module instanceof WebAssembly.Module ? module : WebAssembly.compile(module);
    instance = starting = null;
    await start();
}

/* Files do not exist; only random bytes do. */
function importsOf(module, memory) {
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        imports[from] ??= {};
        imports[from][name] = () => 8; // EBADF
    }
    const wasi = imports.wasi_snapshot_preview1;
    wasi.random_get = (at, size) => {
        random.getRandomValues(new Uint8Array(memory().buffer, at >>> 0, size >>> 0));
        return 0;
    };
    wasi.proc_exit = (code) => {
        throw new PcolError("E_STATE", `the library ended with ${code}`);
    };
    return imports;
}

function start() {
    starting ??= (async () => {
        /* Not global in Node 18. */
        random = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
        const module = await (compiled ??= loadModule());
        let exports = null;
        exports = (await WebAssembly.instantiate(module, importsOf(module, () => exports.memory)))
            .exports;
        exports._initialize();
        instance = exports;
        generation++;
        return exports;
    })();
    starting.catch(() => { compiled = starting = null; });
    return starting;
}

/* Call a function of the instance. One that traps leaves memory in an unknown state: the instance
 * is given up, with all its profiles. */
function call(name, ...values) {
    if (!instance)
        throw new PcolError("E_STATE", "no instance of pcol.wasm: call init() or open() first");
    try {
        return instance[name](...values);
    } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError) &&
            !(error instanceof PcolError))
            throw error;
        instance = starting = null;
        throw new PcolError("E_STATE", `the library failed (${error.message}); all profiles that ` +
            "were open are lost");
    }
}

/* ---- memory of the instance ---- */

const view = () => new DataView(instance.memory.buffer);
const slotAt = (index) => call("toolkit_record") + 8 * index;
const slot = (index) => view().getUint32(slotAt(index), true);
const slot64 = (index) => view().getBigUint64(slotAt(index), true);
const slotDouble = (index) => view().getFloat64(slotAt(index), true);

function decode(bytes) {
    try {
        return strict.decode(bytes);
    } catch {
        return lossy.decode(bytes);
    }
}

function textAt(at, size) {
    return decode(new Uint8Array(instance.memory.buffer, at >>> 0, size));
}

function cString(at) {
    if (!at)
        return "";
    const memory = new Uint8Array(instance.memory.buffer);
    return decode(memory.subarray(at >>> 0, memory.indexOf(0, at >>> 0)));
}

function fail() {
    call("toolkit_error");
    const [status, place, message] = [2, 3, 4].map((i) => cString(slot(i)));
    throw new PcolError(status, message, place, slot(1));
}

function store(bytes) {
    const at = call("toolkit_allocate", bytes.length);
    if (!at)
        throw new PcolError("E_NO_MEMORY", `no memory for ${bytes.length} bytes`);
    new Uint8Array(instance.memory.buffer, at >>> 0, bytes.length).set(bytes);
    return at;
}

/* ---- options ---- */

const isText = (value) => typeof value === "string";
const isWhole = (value) => typeof value === "bigint" ? value >= 0n
    : Number.isSafeInteger(value) && value >= 0;
const isCount = (value) => isWhole(value) && value <= 0x7fffffff;
const isList = (value, holds) => Array.isArray(value) && value.every(holds);
const isTime = (value) => typeof value === "number" && !Number.isNaN(value);
const KINDS = {
    text: [isText, "a string"],
    texts: [(value) => isList(value, isText), "an array of strings"],
    flag: [(value) => typeof value === "boolean", "true or false"],
    count: [isCount, "a whole number from 0 to 2147483647"],
    size: [isWhole, "a whole number from 0"],
    source: [(value) => isText(value) || isCount(value), "an id or a string"],
    time: [(value) => isList(value, isTime) && value.length === 2, "two numbers of milliseconds"],
    profile: [(value) => value instanceof Profile, "a profile"],
    action: [(value) => typeof value === "function", "a function"],
};
const OPTIONS = new Map(Object.entries({ archive: "flag", base: "profile", bottomUp: "flag",
    by: "text", collapseIdle: "flag", columns: "texts", compress: "text", depth: "count",
    expandIdle: "flag", focus: "text", from: "text", hide: "text", ignore: "text",
    keepDropped: "flag", labels: "texts", lenient: "flag", maxInput: "size", model: "text",
    name: "text", normalize: "flag", onNotice: "action", order: "text", plain: "flag",
    reverse: "flag", sampleType: "text", show: "text", source: "source", thread: "text",
    time: "time", title: "text", trusted: "flag", uri: "text", width: "count" }));

/* E_ARGUMENT for a value that is not of the kind; undefined and null are of any. */
function checkValue(name, value, kind) {
    const [holds, what] = KINDS[kind];
    if (value !== undefined && value !== null && !holds(value))
        throw new PcolError("E_ARGUMENT", `${name} must be ${what}`);
}

/* An object of options may be shared by calls that use different ones. */
function checkOptions(options) {
    for (const [name, value] of Object.entries(options)) {
        if (!OPTIONS.has(name))
            throw new PcolError("E_ARGUMENT",
                `unknown option ${name}; options: ${[...OPTIONS.keys()].join(", ")}`);
        checkValue(name, value, OPTIONS.get(name));
    }
}

/* Options as KEY NUL VALUE NUL ... `run` gets their address and size. */
function withRequest(entries, run) {
    let text = "";
    for (const [key, value] of entries) {
        if (value === undefined || value === null || value === false)
            continue;
        const written = value === true ? "1" : String(value);
        if (written.includes("\0"))
            throw new PcolError("E_ARGUMENT", `${key} has a NUL character`);
        text += `${key}\0${written}\0`;
    }
    const bytes = utf8.encode(text), at = store(bytes);
    try {
        return run(at, bytes.length);
    } finally {
        if (instance)
            call("toolkit_release", at);
    }
}

/* The same for one text that ends in NUL. */
function withText(text, run) {
    if (!isText(text) || text.includes("\0"))
        throw new PcolError("E_ARGUMENT", "a name must be a string without a NUL character");
    const at = store(utf8.encode(`${text}\0`));
    try {
        return run(at);
    } finally {
        if (instance)
            call("toolkit_release", at);
    }
}

/* The bytes at `at`, whose number is in slot 0, as a copy; releases them. */
function takeBytes(at) {
    if (!at)
        fail();
    const bytes = new Uint8Array(instance.memory.buffer, at >>> 0, slot(0)).slice();
    call("toolkit_release", at);
    return bytes;
}

function takeTexts() {
    const at = call("toolkit_notices"), size = slot(0);
    return size ? textAt(at, size).split("\0").slice(0, -1) : [];
}

const CODES = ["", "input", "loss", "target", "selection"];

/* Notices of the last call, also passed to options.onNotice. */
function takeNotices(options) {
    const texts = takeTexts(), notices = [];
    for (let i = 0; i + 3 < texts.length; i += 4)
        notices.push({ code: CODES[texts[i]] ?? "other", format: texts[i + 1],
            subject: texts[i + 2], text: texts[i + 3] });
    for (const notice of notices)
        options?.onNotice?.(notice);
    return notices;
}

/* ---- input ---- */

const LAST = 2n ** 63n - 1n;

/* Times beyond 64 bits, which may be infinite, become the last ones. */
function nanoseconds(ms) {
    if (ms === undefined)
        return undefined;
    const ns = Math.round(ms * 1e6);
    return ns >= 2 ** 63 ? LAST : ns <= -(2 ** 63) ? -LAST - 1n : BigInt(ns);
}

async function bytesOf(input) {
    if (input instanceof Uint8Array)
        return input;
    if (input instanceof ArrayBuffer)
        return new Uint8Array(input);
    if (ArrayBuffer.isView(input))
        return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (typeof Blob === "function" && input instanceof Blob)
        return new Uint8Array(await input.arrayBuffer());
    if (typeof input !== "string" && !(input instanceof URL))
        throw new PcolError("E_ARGUMENT", "a profile is a path, a file: URL, bytes or a Blob");
    if (typeof process !== "object" || !process.versions?.node)
        throw new PcolError("E_ARGUMENT", "paths can be opened in Node only; pass bytes or a File");
    const { readFile } = await import("node:fs/promises");
    try {
        return await readFile(input);
    } catch (error) {
        throw new PcolError("E_IO", error.message, "", Math.abs(error.errno ?? 0));
    }
}

function importEntries(input, options) {
    checkOptions(options);
    const name = options.name ?? (typeof input === "string" ? input : input?.name);
    return [["name", name], ["from", options.from], ["uri", options.uri],
        ["lenient", options.lenient], ["collapseIdle", options.collapseIdle],
        ["trusted", options.trusted], ["maxInput", options.maxInput],
        ["plain", options.plain], ["archive", options.archive]];
}

function selectionEntries(options) {
    const time = options.time ?? [];
    return [["sampleType", options.sampleType], ["focus", options.focus],
        ["ignore", options.ignore], ["hide", options.hide], ["show", options.show],
        ["thread", options.thread], ["source", options.source],
        ["timeFrom", nanoseconds(time[0])], ["timeTo", nanoseconds(time[1])],
        ["keepDropped", options.keepDropped],
        ...(options.labels ?? []).map((label) => ["label", label])];
}

/* ---- tables ---- */

const number = (value) => value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER
    ? value : Number(value);

/** One column: `values` is a typed array, or an array of strings or lists. */
export class Column {
    constructor(info, values, valid) {
        Object.assign(this, info);
        this.values = values;
        this.valid = valid; // Uint8Array of 0 and 1; null: no nulls
    }
    get length() { return this.values.length; }
    /** The value of a row: null, a number or bigint, a boolean, a string or a list. */
    at(row) {
        if (this.valid && !this.valid[row])
            return null;
        const value = this.values[row];
        return typeof value === "bigint" ? number(value)
            : this.type === "bool" ? value !== 0 : value;
    }
}

/** A table, or the result of a query: columns of equal length. Iterates over rows as objects. */
export class Table {
    constructor(name, length, columns, info = {}) {
        this.name = name;
        this.length = length;
        this.columns = columns; // Map from name to Column
        Object.assign(this, info);
    }
    /** The typed array, or array, of a column. */
    get(name) {
        const column = this.columns.get(name);
        if (!column)
            throw new PcolError("E_NOT_FOUND", `table ${this.name} has no column ${name}`);
        return column.values;
    }
    row(index) {
        const row = {};
        for (const [name, column] of this.columns)
            row[name] = column.at(index);
        return row;
    }
    *[Symbol.iterator]() {
        for (let i = 0; i < this.length; i++)
            yield this.row(i);
    }
    /** All rows, or the first ones. */
    rows(most = this.length) {
        return Array.from({ length: Math.min(most, this.length) }, (_, i) => this.row(i));
    }
}

function bitsAt(at, count) {
    const bytes = new Uint8Array(instance.memory.buffer, at >>> 0, (count + 7) >> 3);
    return Uint8Array.from({ length: count }, (_, i) => bytes[i >> 3] >> (i & 7) & 1);
}

/* A text; bytes that are not UTF-8 stay bytes. */
function textOrBytes(bytes) {
    try {
        return strict.decode(bytes);
    } catch {
        return bytes.slice();
    }
}

function readTexts(rows, values, data) {
    const offsets = new BigInt64Array(instance.memory.buffer, values >>> 0, rows + 1);
    const memory = new Uint8Array(instance.memory.buffer), from = data >>> 0;
    return Array.from({ length: rows }, (_, i) => textOrBytes(
        memory.subarray(from + Number(offsets[i]), from + Number(offsets[i + 1]))));
}

/* Strings of the pool: each distinct one is decoded once for all columns of a file. */
function readCodes(file, rows, values, valid, strings) {
    const codes = new Uint32Array(instance.memory.buffer, values >>> 0, rows).slice();
    return Array.from(codes, (code, i) => {
        if (valid && !valid[i])
            return "";
        let text = strings.get(code);
        if (text === undefined) {
            if (!call("toolkit_string", file, code))
                fail();
            text = textOrBytes(new Uint8Array(instance.memory.buffer, slot(0), slot(1)));
            strings.set(code, text);
        }
        return text;
    });
}

const ARRAYS = { i64: BigInt64Array, u64: BigUint64Array, f64: Float64Array, u32: Uint32Array };

function readLists(table, index) {
    if (!call("toolkit_lists", table, index))
        fail();
    const [ends, rows, values, count] = [0, 1, 2, 3].map(slot);
    const buffer = instance.memory.buffer;
    const all = values ? new BigInt64Array(buffer, values, count).slice() : new BigInt64Array(0);
    const stops = ends ? new BigUint64Array(buffer, ends, rows).slice() : [];
    call("toolkit_release", ends);
    call("toolkit_release", values);
    return Array.from(stops, (stop, i) => all.subarray(i ? Number(stops[i - 1]) : 0, Number(stop)));
}

function readColumn(file, table, index, strings) {
    if (!call("toolkit_column_info", table, index))
        fail();
    const [name, type, unit, references, documentation] =
        [0, 1, 2, 3, 4].map((i) => cString(slot(i)));
    const info = { name, type, unit, references, documentation, nullable: slot(5) !== 0 };
    if (type === "list")
        return new Column(info, readLists(table, index), null);
    if (!call("toolkit_column", table, index))
        fail();
    const [flags, width, rows, nulls, validity, values, data] = [1, 2, 3, 4, 5, 6, 7].map(slot);
    const valid = validity && nulls ? bitsAt(validity, rows) : null;
    if (flags & NANOSECONDS)
        info.type = "i64", info.unit = "ns";
    if (flags & TEXT)
        return new Column(info, readTexts(rows, values, data), valid);
    if (info.type === "string")
        return new Column(info, readCodes(file, rows, values, valid, strings), valid);
    if (width === 1)
        return new Column(info, bitsAt(values, rows), valid);
    const array = rows ? new ARRAYS[info.type](instance.memory.buffer, values >>> 0, rows).slice()
        : new ARRAYS[info.type](0);
    return new Column(info, array, valid);
}

function readTable(file, table, name, wanted, strings, info) {
    call("toolkit_table_size", table);
    const rows = slot(0), count = slot(1), columns = new Map();
    for (let i = 0; i < count; i++) {
        if (!call("toolkit_column_info", table, i))
            fail();
        const column = cString(slot(0));
        if (!wanted || wanted.includes(column))
            columns.set(column, readColumn(file, table, i, strings));
    }
    for (const column of wanted ?? [])
        if (!columns.has(column))
            throw new PcolError("E_NOT_FOUND", `table ${name} has no column ${column}`);
    return new Table(name, rows, columns, info);
}

/* ---- profiles ---- */

function release({ file, data, generation: of }) {
    if (!instance || of !== generation)
        return;
    call("toolkit_close", file);
    call("toolkit_release", data);
}

const finalizers = new FinalizationRegistry(release);

/** An open profile. */
export class Profile {
    #held;
    constructor(held, info) {
        this.#held = held;
        Object.assign(this, info);
        finalizers.register(this, held, this);
    }
    #file() {
        if (!this.#held)
            throw new PcolError("E_STATE", "the profile is closed");
        if (!instance || this.#held.generation !== generation)
            throw new PcolError("E_STATE", "the profile was lost when the library failed");
        return this.#held.file;
    }
    /** Release the memory; further calls fail with E_STATE. */
    close() {
        if (!this.#held)
            return;
        finalizers.unregister(this);
        release(this.#held);
        this.#held = null;
    }
    #ask(kind, options, entries, base, use) {
        checkOptions(options);
        const file = this.#file(), other = base ? base.#file() : 0;
        const all = [["kind", kind], ["by", options.by], ["order", options.order],
            ...entries, ...selectionEntries(options)];
        const result = withRequest(all, (at, size) => call("toolkit_ask", file, other, at, size));
        try {
            return result ? use(result, kind) : fail();
        } finally {
            if (instance) {
                call("toolkit_result_free", result);
                takeNotices(options);
            }
        }
    }
    #read = (result, kind) => {
        const table = slot(0), isDouble = slot(5) !== 0;
        const amount = (i) => isDouble ? slotDouble(i) : number(BigInt.asIntN(64, slot64(i)));
        const info = { type: textAt(slot(1), slot(2)), unit: textAt(slot(3), slot(4)), isDouble,
            total: amount(7), baseTotal: amount(6), scale: slotDouble(8) };
        return readTable(0, table, kind, null, new Map(), info);
    };
    /** Functions, files, lines, ... with their values. */
    top(options = {}) {
        return this.#ask("top", options, [], null, this.#read);
    }
    /** The call tree; row 0 is the root. */
    tree(options = {}) {
        return this.#ask("tree", options, [["bottomUp", options.bottomUp],
            ["depth", options.depth]], null, this.#read);
    }
    /** Callers and callees of a function. */
    peek(name, options = {}) {
        checkValue("name", name ?? NaN, "text");
        return this.#ask("peek", options, [["function", name]], null, this.#read);
    }
    /** What changed from `base` to this profile. */
    diff(base, options = {}) {
        checkValue("base", base ?? NaN, "profile");
        return this.#ask("diff", options, [["normalize", options.normalize]], base, this.#read);
    }
    /** A flame graph as SVG; with a base, one that is coloured by change. */
    flame(options = {}) {
        const draw = (result) => withText(options.title ?? "Flame graph",
            (title) => takeBytes(call("toolkit_svg", result, title)));
        return lossy.decode(this.#ask("flame", options, [["reverse", options.reverse],
            ["width", options.width]], options.base, draw));
    }
    /** Keys of labels, for `by: "label:KEY"` and `labels`. */
    labelKeys() {
        const at = call("toolkit_label_keys", this.#file()), count = slot(0);
        if (!at)
            fail();
        const buffer = instance.memory.buffer;
        const keys = new Uint32Array(buffer, at >>> 0, 2 * count);
        const texts = Array.from({ length: count }, (_, i) =>
            textOrBytes(new Uint8Array(buffer, keys[2 * i], keys[2 * i + 1])));
        call("toolkit_release", at);
        return texts;
    }
    /** Names of the tables. */
    tables(model = "v2") {
        const names = [], file = this.#file(), number = modelNumber(model);
        for (let name; (name = call("toolkit_table_name", file, number, names.length));)
            names.push(cString(name));
        return names;
    }
    /** A table: all columns, or those of options.columns. */
    table(name, options = {}) {
        checkOptions(options);
        const file = this.#file(), number = modelNumber(options.model ?? "v2");
        const table = withText(name, (at) => call("toolkit_table", file, number, at));
        if (!table)
            fail();
        return readTable(file, table, name, options.columns, this.#held.strings);
    }
    /** The profile in another format, as bytes. */
    unpack(format, options = {}) {
        checkOptions(options);
        checkValue("format", format ?? NaN, "text");
        checkValue("source", options.source, "count");
        const compress = COMPRESS[options.compress ?? "auto"];
        if (!isText(compress))
            throw new PcolError("E_ARGUMENT", "compress: use auto, none or gzip");
        const file = this.#file();
        const at = withRequest([["to", format], ["compress", compress],
            ["source", options.source], ["sampleType", options.sampleType],
            ["expandIdle", options.expandIdle], ["keepDropped", options.keepDropped]],
        (text, size) => call("toolkit_export", file, text, size));
        const bytes = at ? takeBytes(at) : null;
        takeNotices(options);
        return bytes ?? fail();
    }
    /** The profile as bytes of a pcol file. */
    pack(options = {}) {
        const file = this.#file();
        const at = withRequest(importEntries(null, options),
            (text, size) => call("toolkit_pack", file, 0, 0, text, size));
        const bytes = at ? takeBytes(at) : null;
        takeNotices(options);
        return bytes ?? fail();
    }
    /** Faults of the file. */
    check(depth = "default") {
        const file = this.#file(), number = DEPTHS.indexOf(depth);
        if (number < 0)
            throw new PcolError("E_ARGUMENT", `depth: use ${DEPTHS.join(", ")}`);
        takeTexts();
        if (!call("toolkit_check", file, number))
            fail();
        const count = slot(0), texts = takeTexts(), faults = [];
        for (let i = 0; i + 4 < texts.length; i += 5)
            faults.push({ isNote: texts[i] === "note", table: texts[i + 1], column: texts[i + 2],
                row: texts[i + 3] === "" ? null : number(BigInt(texts[i + 3])),
                message: texts[i + 4] });
        return { faults: count, list: faults };
    }
}

if (Symbol.dispose)
    Profile.prototype[Symbol.dispose] = Profile.prototype.close;

function modelNumber(model) {
    const number = MODELS.indexOf(model);
    if (number < 0)
        throw new PcolError("E_ARGUMENT", `model: use ${MODELS.join(", ")}`);
    return number;
}

/* ---- functions of the package ---- */

/** Open a profile in any format: a path (Node), bytes, or a Blob. */
export async function open(input, options = {}) {
    const bytes = await bytesOf(input);
    await start();
    const data = store(bytes);
    let file = 0, info = null;
    try {
        file = withRequest(importEntries(input, options), (at, size) =>
            call("toolkit_open", data, bytes.length, at, size));
        if (file)
            info = { isImported: slot(0) !== 0, isArchive: slot(1) !== 0, size: slot(2),
                version: `${slot(3)}.${slot(4)}` };
        const notices = takeNotices(options);
        if (!file)
            fail();
        info.notices = notices;
    } finally { // an imported profile does not refer to its bytes
        if (instance && (!file || info?.isImported))
            call("toolkit_release", data);
    }
    return new Profile({ file, data: info.isImported ? 0 : data, generation, strings: new Map() },
        info);
}

/** The bytes of a pcol file with the profile, as `pcol pack` writes them. */
export async function pack(input, options = {}) {
    const bytes = await bytesOf(input);
    await start();
    const data = store(bytes);
    try {
        const at = withRequest(importEntries(input, options), (text, size) =>
            call("toolkit_pack", 0, data, bytes.length, text, size));
        const packed = at ? takeBytes(at) : null;
        takeNotices(options);
        return packed ?? fail();
    } finally {
        if (instance)
            call("toolkit_release", data);
    }
}

/** Open, check and close. */
export async function check(input, depth = "default") {
    const profile = await open(input);
    try {
        return profile.check(depth);
    } finally {
        profile.close();
    }
}

/** The formats, in the order of `pcol formats`. */
export async function formats() {
    await start();
    const list = [];
    while (call("toolkit_format", list.length)) {
        const [name, summary, suffixes, keeps] = [0, 1, 2, 3].map((i) => cString(slot(i)));
        list.push({ name, summary, suffixes: suffixes.split(" ").filter(Boolean), keeps,
            reads: slot(4) !== 0, writes: slot(5) !== 0 });
    }
    return list;
}

/** The version of the library. */
export async function version() {
    await start();
    return cString(call("toolkit_version"));
}
