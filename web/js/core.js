/*
 * core.js - the engine in WebAssembly and its requests
 *
 * engineCore() holds no reference to anything outside of it but unpack() and decode(): their texts
 * become the worker. Where there are no workers it runs in the page.
 */

/* Bytes of a text in base 64. */
function decode(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

function engineCore() {
    let engine = null;

    /* There is no system: calls of WASI fail, but for random bytes. */
    function imports(module) {
        const table = {};
        for (const { module: from, name } of WebAssembly.Module.imports(module)) {
            table[from] = table[from] || {};
            table[from][name] = name === "proc_exit" ?
                () => { throw new Error("the engine has stopped"); } :
                name === "random_get" ? (at, size) => {
                    const memory = new Uint8Array(engine.memory.buffer, at, size);
                    for (let done = 0; done < size; done += 65536)
                        crypto.getRandomValues(memory.subarray(done, done + 65536));
                    return 0;
                } : name.startsWith("fd_") ? () => 8 : () => 52;
        }
        return table;
    }

    function put(bytes) {
        const at = engine.engine_allocate(bytes.length) >>> 0;
        if (at === 0) throw new Error("out of memory: the profile needs more than 4 GiB");
        new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }

    function take(at) {
        if (at === 0) throw new Error("out of memory");
        const view = new DataView(engine.memory.buffer, at);
        const status = view.getUint32(0, true), count = view.getUint32(4, true);
        const buffers = [];
        let offset = 8 + 4 * count;
        for (let i = 0; i < count; i++) {
            const size = view.getUint32(8 + 4 * i, true);
            offset = (offset + 7) & ~7;
            buffers.push(engine.memory.buffer.slice(at + offset, at + offset + size));
            offset += size;
        }
        return { ok: status === 0, buffers };
    }

    async function start(message) {
        const module = await WebAssembly.compile(unpack(message.wasm));
        engine = (await WebAssembly.instantiate(module, imports(module))).exports;
        if (engine._initialize) engine._initialize();
        for (let slot = 0; slot < message.files.length; slot++) {
            const bytes = decode(message.files[slot]);
            const reply = take(engine.engine_open(slot, put(bytes), bytes.length) >>> 0);
            if (!reply.ok) return reply;
        }
        return { ok: true, buffers: [new TextEncoder().encode("{}").buffer] };
    }

    function ask(message) {
        const bytes = new TextEncoder().encode(message.request);
        const at = put(bytes);
        const reply = take(engine.engine_request(at, bytes.length) >>> 0);
        engine.engine_free(at);
        return reply;
    }

    return async function answer(message) {
        let reply;
        try {
            reply = message.op === "start" ? await start(message) : ask(message);
        } catch (error) {
            const text = JSON.stringify({ error: String(error && error.message || error) });
            reply = { ok: false, fatal: true, buffers: [new TextEncoder().encode(text).buffer] };
        }
        reply.id = message.id;
        return reply;
    };
}

class EngineError extends Error {}

/* Requests wait here, one is under way; a newer request of a view replaces one that waits. */
class Engine {
    constructor() {
        this.waiting = [];
        this.current = null;
        this.nextId = 1;
        this.post = null;
    }

    static text(op, args) {
        let text = "op\0" + op + "\0";
        for (const [key, value] of Object.entries(args || {}))
            if (value !== undefined && value !== null)
                text += key + "\0" + String(value).replace(/\0/g, "") + "\0";
        return text;
    }

    /* Start in a worker; without workers in the page. */
    async start(wasm, files) {
        try {
            const source = unpack + decode + "const answer = (" + engineCore + ")();" +
                "onmessage = async (e) => { const r = await answer(e.data);" +
                "postMessage(r, r.buffers); };";
            const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
            const worker = new Worker(url);
            worker.onmessage = (event) => this.receive(event.data);
            worker.onerror = () => this.useThisThread();
            this.post = (message) => worker.postMessage(message);
        } catch (error) {
            this.useThisThread();
        }
        return this.send("start", { op: "start", wasm, files });
    }

    useThisThread() {
        const answer = engineCore();
        this.post = async (message) => this.receive(await answer(message));
        if (this.current) this.post(this.current.message);
    }

    /* Resolves to {json, buffers}, or to null if a newer request of the view replaced it. */
    ask(view, op, args) {
        return this.send(view, { op, view, request: Engine.text(op, args) });
    }

    send(view, message) {
        return new Promise((resolve, reject) => {
            const old = this.waiting.findIndex((entry) => entry.view === view);
            if (old >= 0) this.waiting.splice(old, 1)[0].resolve(null);
            message.id = this.nextId++;
            this.waiting.push({ view, message, resolve, reject });
            this.next();
        });
    }

    next() {
        if (this.current || this.waiting.length === 0) return;
        this.current = this.waiting.shift();
        this.post(this.current.message);
    }

    receive(reply) {
        const entry = this.current;
        if (!entry || entry.message.id !== reply.id) return;
        this.current = null;
        const json = JSON.parse(new TextDecoder().decode(reply.buffers[0]) || "{}");
        if (reply.ok) entry.resolve({ json, buffers: reply.buffers });
        else
            entry.reject(new EngineError(json.error + (json.place ? ` (${json.place})` : "")));
        this.next();
    }
}

/* The same requests to `pcol view`. A page is a session of the server; it chooses two of the files
 * by their numbers. */
class Server extends Engine {
    async start(names) {
        const session = Array.from(crypto.getRandomValues(new Uint8Array(8)),
            (byte) => byte.toString(16).padStart(2, "0")).join("");
        this.names = names;
        this.post = async (message) => {
            try {
                const response = await fetch(session + "/" + this.files.join("/"), {
                    method: "POST", body: message.request,
                    headers: { "Content-Type": "application/octet-stream" } });
                if (!response.ok) throw new Error("the server answers " + response.status);
                this.receive(Object.assign(Server.split(await response.arrayBuffer()),
                    { id: message.id }));
            } catch (error) {
                const text = JSON.stringify({ error: "pcol view does not answer: " + error.message });
                this.receive({ id: message.id, ok: false,
                    buffers: [new TextEncoder().encode(text).buffer] });
            }
        };
    }

    static split(reply) {
        const view = new DataView(reply), count = view.getUint32(4, true), buffers = [];
        let offset = 8 + 4 * count;
        for (let i = 0; i < count; i++) {
            const size = view.getUint32(8 + 4 * i, true);
            offset = (offset + 7) & ~7;
            buffers.push(reply.slice(offset, offset + size));
            offset += size;
        }
        return { ok: view.getUint32(0, true) === 0, buffers };
    }
}

/* ---- parts of replies ---- */

/* Demangled names by the names in the profile. */
const plainNames = new Map();

function readPlainNames(text) {
    for (const line of text.split("\n")) {
        const at = line.indexOf("\t");
        if (at > 0) plainNames.set(line.slice(0, at), line.slice(at + 1));
    }
}

function shownText(text) {
    const shown = plain(text);
    return (plainNames.size && plainNames.get(shown)) || shown;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/* Texts that end in line feeds; asGiven: as requests have them. */
function texts(bytes, asGiven) {
    const all = decoder.decode(bytes).split("\n").slice(0, -1);
    return asGiven ? all : all.map(shownText);
}

const amounts = (buffer, isDouble) =>
    isDouble ? new Float64Array(buffer) : new BigInt64Array(buffer);
