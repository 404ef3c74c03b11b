/** Open, query and convert performance profiles of many formats. */

/** A failure: `status` is the name of a pcol_status, such as E_SYNTAX, E_FORMAT or E_LIMIT. */
export class PcolError extends Error {
    constructor(status: string, message: string, place?: string, osError?: number);
    readonly status: string;
    /** "line:column", "byte N", or table, column and row; "" if unknown. */
    readonly place: string;
    readonly osError: number;
}

/** A path or file: URL (Node only), or bytes. */
export type Input = string | URL | Uint8Array | ArrayBuffer | ArrayBufferView | Blob;
export type Model = "v2" | "v1" | "physical" | "further";
export type Depth = "quick" | "default" | "strict";
export type Type = "i64" | "u64" | "f64" | "u32" | "string" | "bytes" | "bool" | "list";
export type Frames = "function" | "file" | "line" | "srcline" | "location" | "mapping";
export type By = Frames | "thread" | "process" | "source" | `label:${string}` | `meta:${string}`;

export interface Notice {
    code: "input" | "loss" | "target" | "selection" | "other";
    format: string;
    /** Of a loss: the content. */
    subject: string;
    text: string;
}

export interface Notified {
    onNotice?: (notice: Notice) => void;
}

export interface ImportOptions extends Notified {
    /** The format; by default that of the content, then of the name. */
    from?: string;
    /** For errors, recognition by suffix, and the source's uri. */
    name?: string;
    uri?: string;
    /** Accept known deviations of writers from the format. */
    lenient?: boolean;
    collapseIdle?: boolean;
    /** No import budget: for profiles that you made yourself. */
    trusted?: boolean;
    /** Bytes of decompressed input at most. */
    maxInput?: number | bigint;
}

export interface PackOptions extends ImportOptions {
    plain?: boolean;
    archive?: boolean;
}

export interface Selection {
    /** "TYPE" or "TYPE/UNIT". */
    sampleType?: string;
    /** Patterns for names of frames. */
    focus?: string;
    ignore?: string;
    hide?: string;
    show?: string;
    /** A pattern for names of threads. */
    thread?: string;
    /** An id, or a pattern for uris. */
    source?: string | number;
    /** "KEY=VALUE" or "KEY~PATTERN"; all must hold. */
    labels?: string[];
    /** Half open, in milliseconds. */
    time?: [number, number];
    keepDropped?: boolean;
}

export interface TopOptions extends Selection, Notified {
    by?: By;
    order?: "self" | "total" | "name";
}

export interface TreeOptions extends Selection, Notified {
    by?: Frames;
    order?: "total" | "name";
    bottomUp?: boolean;
    /** Deeper frames are omitted. */
    depth?: number;
}

export interface DiffOptions extends Selection, Notified {
    by?: By | "stack";
    order?: "self" | "total" | "name";
    /** Scale this profile to the total of the base. */
    normalize?: boolean;
}

export interface FlameOptions extends Selection, Notified {
    base?: Profile;
    reverse?: boolean;
    width?: number;
    title?: string;
}

export interface UnpackOptions extends Notified {
    compress?: "auto" | "none" | "gzip";
    /** Id of the only source to write. */
    source?: number;
    sampleType?: string;
    expandIdle?: boolean;
    keepDropped?: boolean;
}

/** Bytes that are not UTF-8 stay bytes. */
export type Text = string | Uint8Array;
/** Integers beyond 2^53 - 1 are bigint. */
export type Cell = number | bigint | boolean | Text | BigInt64Array | null;
export type Row = Record<string, Cell>;
export type Values = BigInt64Array | BigUint64Array | Float64Array | Uint32Array | Uint8Array |
    Text[] | BigInt64Array[];

export class Column {
    readonly name: string;
    readonly type: Type;
    readonly unit: string;
    /** The table whose rows or ids the values are; "". */
    readonly references: string;
    readonly documentation: string;
    readonly nullable: boolean;
    readonly length: number;
    /** The value of a null is unspecified. */
    readonly values: Values;
    /** 1: a value, 0: null; null: no nulls. */
    readonly valid: Uint8Array | null;
    at(row: number): Cell;
}

export class Table implements Iterable<Row> {
    readonly name: string;
    readonly length: number;
    readonly columns: Map<string, Column>;
    get(name: string): Values;
    row(index: number): Row;
    rows(most?: number): Row[];
    [Symbol.iterator](): Iterator<Row>;
}

/** A table whose amounts are of one sample type. */
export interface Result extends Table {
    readonly type: string;
    readonly unit: string;
    readonly isDouble: boolean;
    /** What percentages are of. */
    readonly total: number | bigint;
    /** diff: of the base. */
    readonly baseTotal: number | bigint;
    /** diff: what the values of this profile were multiplied by. */
    readonly scale: number;
}

export interface Fault {
    /** Worth knowing, not a fault. */
    isNote: boolean;
    table: string;
    column: string;
    row: number | bigint | null;
    message: string;
}

export interface Checked {
    /** 0: the file is sound. */
    faults: number;
    list: Fault[];
}

/** An open profile; made by open(). */
export class Profile {
    private constructor();
    readonly isImported: boolean;
    readonly isArchive: boolean;
    /** Bytes of the pcol file. */
    readonly size: number;
    readonly version: string;
    /** Of opening. */
    readonly notices: Notice[];
    close(): void;
    top(options?: TopOptions): Result;
    tree(options?: TreeOptions): Result;
    /** A function's name, or a pattern for names. */
    peek(name: string, options?: Selection & Notified): Result;
    diff(base: Profile, options?: DiffOptions): Result;
    /** SVG. */
    flame(options?: FlameOptions): string;
    /** Keys of labels, for `by: "label:KEY"` and `labels`, sorted by their bytes. */
    labelKeys(): Text[];
    tables(model?: Model): string[];
    table(name: string, options?: { model?: Model; columns?: string[] }): Table;
    unpack(format: string, options?: UnpackOptions): Uint8Array;
    pack(options?: PackOptions): Uint8Array;
    check(depth?: Depth): Checked;
}

export interface Format {
    name: string;
    summary: string;
    suffixes: string[];
    /** What survives a round trip. */
    keeps: string;
    reads: boolean;
    writes: boolean;
}

export function open(input: Input, options?: ImportOptions): Promise<Profile>;
/** The bytes that `pcol pack` writes for this profile. */
export function pack(input: Input, options?: PackOptions): Promise<Uint8Array>;
/** Open and check, as `pcol check` does. */
export function check(input: Input, depth?: Depth): Promise<Checked>;
export function formats(): Promise<Format[]>;
export function version(): Promise<string>;
/** Use this module instead of pcol.wasm next to pcol.js; profiles that are open are lost. */
export function init(module: WebAssembly.Module | BufferSource): Promise<void>;
