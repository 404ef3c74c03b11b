#!/usr/bin/env python3
"""reader.py - a pcol reader written from spec.md alone (Python 3, standard library)

    reader.py [--model v1] [--physical] FILE TABLE    print a table as TSV, in the form of `pcol cat --format tsv`
    reader.py [--model v1] [--physical] --tables FILE list the tables

Checks every number from the file before using it, but not the checksums. Archives (9.2): reader_archive.py. Exit code 3: the file
is damaged or not supported.
"""
import struct
import sys

from reader_archive import Bad, Section, can_read, inflate, need
from xxh3 import xxh3_128

I64, U64, F64, U32, STRING, BYTES, BOOL = range(1, 8)
PLAIN, LINEAR, PACKED, SPARSE, RUNS, CHAIN, DELTAS, FRONT, SPLIT, DICTIONARY, TREE = range(11)
VALUES, VALIDITY, MARKS, DATA = range(1, 5)
NULLABLE, MUST_UNDERSTAND, DEFAULT_NULL = 1, 2, 16
ALL = (1 << 64) - 1


def signed(bits):
    return bits - (1 << 64) if bits >> 63 else bits


# ---- columns (section 4)

class Column:
    """Fields of a record, sections by role, children; cell(i) returns row i or None."""

    def bits(self, i):
        """Row i as 64 bits (bytes: as bytes); None for a null."""
        line = self.base + self.step * i & ALL
        if VALIDITY in self.sections and not self.bit(VALIDITY, i):
            return None
        if self.encoding == LINEAR:
            return None if self.flags & DEFAULT_NULL else line
        if self.type == BYTES:
            text, data = b"", self.sections.get(DATA, b"")
            for row in range(i if self.encoding == PLAIN else i // 64 * 64, i + 1):
                a, b, shared = self.children[0].cell(row), self.children[0].cell(row + 1), self.children[1].cell(row) if self.encoding == FRONT else 0
                need(a <= b <= len(data) and shared <= len(text), "offsets fall or leave the data, or too much shared")
                before, text = text, text[:shared] + bytes(data[a:b])
                need(self.encoding == PLAIN or row % 64 == 0 or before < text, "string does not come after the one before")
            return text
        if self.encoding == PLAIN:
            width = 4 if self.type in (U32, STRING) else 8
            return self.bit(VALUES, i) if self.type == BOOL else self.number(VALUES, width * i, width)
        if self.encoding == PACKED:
            return self.base + self.scale * self.unpack(i, self.width) & ALL
        if self.encoding == SPARSE:
            return self.marked(i)[0] if self.is_marked(i) else None if self.flags & DEFAULT_NULL else line
        if self.encoding == SPLIT:
            return self.marked(i)[0] if self.is_marked(i) else self.children[1].whole(i - self.rank(i))
        if self.encoding == DICTIONARY:
            return self.children[0].whole(self.codes.whole(i))
        if self.encoding == TREE:
            if i - i % 1024 not in self.blocks:
                self.blocks[i - i % 1024] = self.parents(i - i % 1024)
            return self.blocks[i - i % 1024][i % 1024]
        if self.encoding in (CHAIN, DELTAS):
            first = i
            while not self.is_marked(first):
                need(first % 64, "first of 64 rows has no value of its own")
                first -= 1
            value, rank = self.marked(first)
            for row in range(first, i):
                value = self.children[1].whole(value) if self.encoding == CHAIN else value + self.children[1].whole(row - rank) & ALL
            return value
        low, high = 0, self.children[0].rows
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.children[0].whole(middle) > i else (middle + 1, high)
        need(low == 0 or self.children[0].whole(low - 1) <= i, "run ends do not ascend")
        return self.children[1].whole(low)

    def parents(self, first):
        """The block of 1024 rows of a TREE that begins with row `first`."""
        values = []
        for row in range(first, min(first + 1024, self.rows)):
            at, steps = max(row - 1, 0), self.marked(row)[0] + 1 if self.is_marked(row) else 0
            need(row or not steps, "root of a tree is marked")
            if steps > 1024:
                at, steps = steps - 1025, 0
                need(at < first, "row that is not in a block before")
            for _ in range(steps):
                need(at and at >= first, "steps leave the block or the root")
                at = values[at - first]
            values.append(at)
        return values

    def number(self, role, at, size):
        need(at + size <= len(self.sections[role]), "read beyond a section")
        return int.from_bytes(self.sections[role][at:at + size], "little")

    def bit(self, role, i):
        return self.number(role, i >> 3, 1) >> (i & 7) & 1

    def unpack(self, i, width):
        return self.number(VALUES, i * width >> 3, 8) >> (i * width & 7) & (1 << width) - 1

    def is_marked(self, i):
        return self.bit(MARKS, i + i // 1024 * 64)

    def rank(self, i):
        """Number of marked rows before row i."""
        at, i = i // 1024 * 136, i % 1024
        before = int.from_bytes(self.sections[MARKS][at:at + i // 8 + 1], "little") & (1 << i) - 1
        return (self.number(MARKS, at - 8, 8) if at else 0) + bin(before).count("1")

    def marked(self, i):
        """Value of a marked row, and the number of marked rows before it."""
        return self.children[0].whole(self.rank(i)), self.rank(i)

    def tail(self, role, start, bits):
        """Verify that the unused bits of the last byte are 0."""
        need(bits % 8 == 0 or self.number(role, start + bits // 8, 1) >> bits % 8 == 0, "bits past the last row are not zero")

    def verify(self):
        """Verify the directories as a whole (14.1) before the first value is used."""
        n, e, total = self.rows, self.encoding, 0
        if self.known or not n:
            return
        if VALIDITY in self.sections:
            self.tail(VALIDITY, 0, n)
        if e in (SPARSE, CHAIN, DELTAS, SPLIT, TREE):
            for first in range(0, n, 1024):
                at, rows = first // 1024 * 136, min(1024, n - first)
                need(not first or self.number(MARKS, at - 8, 8) == total, "count of marks")
                total += bin(int.from_bytes(self.sections[MARKS][at:at + (rows + 7) // 8], "little")).count("1")
                self.tail(MARKS, at, rows)
            need(total == self.children[0].rows, "marked rows and their values")
        if e == PACKED:
            self.tail(VALUES, 0, n * self.width)
            need(not self.number(VALUES, (n * self.width + 7) // 8, 8), "8 zero bytes at the end of values")
        if e == PLAIN and self.type == BOOL:
            self.tail(VALUES, 0, n)
        if e == RUNS:
            ends = [0] + [self.children[0].whole(i) for i in range(self.children[0].rows)]
            need(all(a < b for a, b in zip(ends, ends[1:])) and ends[-1] == n, "run ends do not ascend to the number of rows")
        if self.type == BYTES and e != LINEAR:
            offsets = [self.children[0].whole(i) for i in range(n + 1)]
            need(offsets[0] == 0 and offsets[-1] == len(self.sections.get(DATA, b"")), "offsets do not go from 0 to the size of the data")
            need(all(a <= b for a, b in zip(offsets, offsets[1:])), "offsets fall")
        self.known = True

    def whole(self, i):
        need(0 <= i < self.rows, "row of a child out of range")
        self.verify()
        return self.bits(i)

    def cell(self, i):
        need(not self.why, f"column {self.name}: {self.why}")
        need(0 <= i < self.rows, f"column {self.name}: row {i} out of range")
        self.verify()
        value = self.bits(i)
        if value is None or self.type in (BYTES, U64):
            return value
        if self.type == I64:
            return signed(value)
        if self.type == F64:
            return struct.unpack("<d", struct.pack("<Q", value))[0]
        limit = 2 if self.type == BOOL else self.file.tables[self.ref - 1].rows if self.ref else 1 << 32
        need(value < limit, f"column {self.name}, row {i}: value {value} out of range")
        return bool(value) if self.type == BOOL else value

    def check(self, before):
        """Verify that sections and children match type, encoding and rows (section 4); `before`: previous columns of the table."""
        n, t, e, bits, blocks = self.rows, self.type, self.encoding, (self.rows + 7) // 8, (self.rows + 1023) // 1024
        have = {role: len(data) for role, data in self.sections.items() if role <= DATA}
        if t not in range(1, 8) or e not in range(11) or any(c.why for c in self.children):
            self.why = self.why or "unknown type or encoding"
        if self.why:
            return
        values = bits if t == BOOL else n * (4 if t in (U32, STRING) else 8)
        sizes = [{DATA: have[DATA]} if DATA in have and t == BYTES else {VALUES: values} if t != BYTES else {}, {},
                 {VALUES: (n * self.width + 7) // 8 + 8}, {MARKS: bits + 8 * blocks - 8},
                 {}, *[{MARKS: bits + 8 * blocks - 8}] * 2, {DATA: have[DATA]} if DATA in have else {}, {MARKS: bits + 8 * blocks - 8}, {}, {MARKS: bits + 8 * blocks - 8}][e]
        if VALIDITY in have and self.flags & NULLABLE and e <= PACKED:
            sizes[VALIDITY] = bits
        types = [[U64] if t == BYTES else [], [], [], [t], [U64, t], [t, t], [t, I64], [U64, U32], [t, t], [t, U32][:len(self.children) or 1], [U64]][e]
        allowed = {BYTES: (PLAIN, LINEAR, FRONT), F64: (PLAIN, LINEAR, SPARSE, RUNS, SPLIT, DICTIONARY), U32: set(range(11)) - {FRONT}, STRING: set(range(10)) - {FRONT}}.get(t, set(range(10)) - {CHAIN, FRONT})
        need(e in allowed and (n or e == LINEAR) and (t != BYTES or e != LINEAR or not n or self.flags & DEFAULT_NULL), "encoding of the type")
        need(have == sizes, "sections do not fit the encoding")
        need(not self.flags & DEFAULT_NULL or self.flags & NULLABLE and e in (LINEAR, SPARSE), "null by default")
        need([c.type for c in self.children] == types and not any(c.flags & NULLABLE for c in self.children[e == DICTIONARY and self.flags & NULLABLE:]), "children do not fit")
        need(t != BYTES or e == LINEAR or self.children[0].rows == n + 1, "number of offsets")
        need(e != FRONT or self.children[1].rows == n and n - 1 <= have.get(DATA, 0), "rows of what is shared")
        need(e not in (CHAIN, DELTAS, SPLIT) or self.children[1].encoding <= PACKED, "successors with children")
        need(e != SPLIT or sum(c.rows for c in self.children) == n, "marked and other rows")
        if e == DICTIONARY:
            self.codes = self.children[-1]
            if len(types) == 1:
                need(0 < self.base <= len(before), "codes of no column")
                other = before[-self.base]
                need(other.why or other.encoding == DICTIONARY and len(other.children) == 2, "codes of a column that has none")
                self.why, self.codes = other.why, other.why or other.codes
            need(self.why or self.children[0].encoding <= PACKED and 0 < self.children[0].rows < (1 << 32) - 1 and self.codes.rows == n, "dictionary")
        need(e != PACKED or self.width in (*range(1, 58), 64), "width")
        need((e != PACKED or self.scale) and (t != F64 and e != PACKED or not self.step), "scale or step")


# ---- header and index (section 3)

class Table:
    pass


class File:
    def __init__(self, data):
        self.data, size = memoryview(data), len(data)
        need(data[:8] == b"\x89PCOL\r\n\x1a" and size >= 144, "not a pcol file, or cut")
        (major, self.minor, header_size, incompatible, _, _, file_size, index_at, index_size, _, table_count, self.columns_left, section_count,
         records_size, children_left, _, algorithm) = struct.unpack_from("<HHIQQQQQQQIIIIIHB", data, 8)
        need(major == 1 and algorithm == 1 and incompatible < 2, "version or feature that this reader does not know")
        need(file_size == size and data[-16:] == struct.pack("<Q", size) + b"PCOLEND\n", "file is cut, or no end mark")
        need(self.minor or not any(data[92:94] + data[95:120]), "reserved bytes are not zero")
        need(128 <= header_size <= index_at and index_at % 8 == 0 and index_at + index_size <= size - 16, "index out of place")
        stored = self.data[index_at:index_at + index_size]
        self.index, self.is_archive = inflate(stored) if incompatible else stored, incompatible
        need(len(self.index) == (8 * section_count + records_size + 7) // 8 * 8, "size of the index")
        self.at, self.end = 8 * section_count, 8 * section_count + records_size
        self.section_end, self.sections_left = index_at + index_size, section_count
        self.extents = []  # for each section: column that `check` names, offset, size
        self.columns_left -= children_left
        self.tables = []
        for _ in range(table_count):
            t = Table()
            name_size, t.rows, column_count, t.flags = self.record(4)
            t.name = self.name(name_size)
            t.columns = []
            for _ in range(column_count):
                t.columns.append(self.column(t, 0))
            need(t.rows <= 1 << 48 and len({c.name for c in t.columns}) == column_count, "rows of a table, or two columns of a name")
            self.columns_left -= column_count
            self.tables.append(t)
        need(len({t.name for t in self.tables}) == table_count, "two tables of a name")
        need(self.columns_left == 0 and self.sections_left == 0 and (self.minor or self.at == self.end), "columns or sections of no table")
        need(all(c.ref <= table_count * (c.type != STRING) for t in self.tables for c in t.columns), "reference to no table")
        need(-(-self.section_end // 8) * 8 + 16 == size, "end mark does not follow the last section")

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            need(self.at < self.end, "records are cut")
            self.at += 1
            value |= (self.index[self.at - 1] & 127) << shift
            if self.index[self.at - 1] < 128:
                break
        need(value <= ALL and self.index[self.at - 1] < 128, "number beyond 64 bits")
        return value

    def record(self, fields):
        """Read the fields of a record, absent ones as 0; skip fields of later versions."""
        mask = self.varint()
        need(self.minor or mask < 1 << fields, "unknown field of a record")
        return [self.varint() if mask >> k & 1 else 0 for k in range(max(fields, mask.bit_length()))][:fields]

    def name(self, size):
        self.at += size
        need(0 < size < 256 and self.at <= self.end, "name out of range")
        return bytes(self.index[self.at - size:self.at]).decode("utf-8", "surrogateescape")

    def column(self, table, depth):
        """Read a column of a table, or with table None a child, with its sections and children."""
        c, fold = Column(), lambda number: number >> 1 ^ -(number & 1)
        kind, name_size, c.flags, c.ref, _, sections, base, c.width, c.rows, children, step, scale, _, _ = self.record(14)
        need(depth <= 3 and (table or not name_size), "child with a name, or nested too deeply")
        need(not (table and c.rows), "column of a table with rows of its own")
        c.file, c.type, c.encoding, c.base, c.step, c.scale, c.why = self, kind % 16, kind // 16, fold(base), fold(step), scale + 1 & ALL, ""
        c.name, c.rows = (self.name(name_size), table.rows) if table else ("", c.rows)
        c.sections, c.blocks, c.known = {}, {}, False
        for _ in range(sections):
            size, role, align, codec, raw_size, flags = self.record(6)
            start = -(-self.section_end >> 3 + align) << 3 + align
            self.section_end, self.sections_left = start + size, self.sections_left - 1
            need(0 < size <= len(self.data) - 16 - start and role not in c.sections, "section out of place, or twice one role")
            self.extents.append((f"{table.name}.{c.name}" if table else "", start, size))
            data = self.data[start:start + size]
            if role not in range(1, 6) and not flags & 1 or codec and not (self.is_archive and can_read(c, table, role, codec)):
                c.why = "unknown role or codec of a section"
            elif codec:
                raw_size = raw_size or size
                need(raw_size // 1040 <= size, "section is larger than its compressed bytes can be")
                data = Section(data, codec, raw_size, 4 if c.type in (U32, STRING) else 8, table)
            c.sections[role] = data
        c.children = [self.column(None, depth + 1) for _ in range(children)]
        c.check(table.columns if table else [])
        return c

    def table(self, name):
        return next((t for t in self.tables if t.name == name), None)

    def rows(self, table):
        return self.table(table).rows if self.table(table) else 0

    def find(self, table, column):
        t = self.table(table)
        return next((c for c in t.columns if c.name == column), None) if t else None

    def get(self, table, column, default=None):
        """Returns a function from row to value of a physical column; strings as bytes."""
        t, c = self.table(table), self.find(table, column)
        need(not t or not t.flags & ~2 and not any(k.flags & MUST_UNDERSTAND for k in t.columns), f"table {table} needs a newer reader")
        if c is None:
            return lambda row: default
        return (lambda row: self.text(c.cell(row))) if c.type == STRING else c.cell

    def text(self, code):
        return None if code is None else self.get("strings", "value")(code)


# ---- tables (sections 6 to 8): names of columns and a generator of rows

KINDS = b"string integer double bigint bool null empty frame stack rstack".split()
MODELS = {"v2": "meta sources samples sample_values sample_locations locations functions".split(),
          "v1": "meta sample_types samples locations functions".split()}


def rows_of(columns, count):
    return [name for name, _ in columns], ([get(i) for _, get in columns] for i in range(count))


def view(f, model, name):
    if model == "v1" and name in MODELS["v1"]:
        names, rows = v1(f)[name]
        return names.split(), iter(rows)
    if model == "v2" and name in MODELS["v2"]:
        return globals()[f"v2_{name}"](f)
    need(f.table(name), f"no table {name}")
    return rows_of([(c.name, f.get(name, c.name)) for c in f.table(name).columns], f.rows(name))


def unique(name, columns):
    """The name, with the first of "#2", "#3", ... that no column has if it is taken."""
    names = {n for n, _ in columns}
    return next(n for n in [name, *(f"{name}#{k + 2}" for k in range(len(names)))] if n not in names)


def add_further(f, columns, table, used, row=lambda i: i):
    """Append the unused columns, then the labels; extend names that exist already."""
    own = [c.name for c in f.table(table).columns if not c.why] if f.table(table) else []
    for name in own:
        label = name == "label_shape" or name[:6] == "label." and name[6:].isdigit() or table == "samples" and name[:6] == "value."
        if name not in used.split() and not label:
            taken = {"." + name, name} & {n for n, _ in columns}
            columns += [(unique(f".{table}.{name}" if taken else dotted, columns), get) for dotted, get in present(f, table, name, row)]
    of, key, kind = (f.get("label_keys", c) for c in ("table", "key", "kind"))
    for k in range(f.rows("label_keys")):
        if of(k) == table.encode() and f"label.{k}" in own and kind(k) in KINDS:
            name = unique(".label." + key(k).decode("utf-8", "surrogateescape").replace("\0", "\\0"), columns)
            columns += [(name, get) for _, get in present(f, table, f"label.{k}", row)]


def v2_meta(f):
    version = b"%d.%d" % struct.unpack_from("<HH", f.data, 8)
    return ["key", "value"], iter([[b"version", b"2.0"], [b"format", version]])


def v2_sources(f):
    columns = [("source_id", lambda i: i + 1)] + [("source_" + c, f.get("sources", c)) for c in ("type", "uri", "timestamp")]
    own = "period period_type period_unit interval_ns duration_ns default_sample_type collapsed"
    reserved = own.split() + [name for name, _ in columns]
    columns += present(f, "sources", own)
    add_further(f, columns, "sources", "type uri timestamp " + own)
    source, key, value = (f.get("source_meta", c) for c in ("source", "key", "value"))
    meta = {}
    for i in range(f.rows("source_meta")):
        meta.setdefault(key(i), {})[source(i)] = value(i)
    for name, values in meta.items():
        name = name.decode("utf-8", "surrogateescape").replace("\0", "?")
        taken = name in reserved or "." + name in (n for n, _ in columns) or name.startswith("meta.")
        columns.append((".meta." * taken + "." * (not taken) + name, values.get))
    return rows_of(columns, f.rows("sources"))


def present(f, table, names, row=lambda i: i):
    """Dotted columns whose physical columns exist."""
    return [("." + c, lambda i, get=f.get(table, c): get(row(i))) for c in names.split() if f.find(table, c)]


def row_of(reference):
    need(reference is not None, "null in a column that has none (section 6)")
    return reference


def v2_samples(f):
    source = f.get("samples", "source", 0)
    columns = [("sample_id", lambda i: i + 1), ("source_id", lambda i: row_of(source(i)) + 1)]
    columns += [(name, lambda i, get=get: None if get(i) is None else float(get(i)) / 1e6)
                for name, get in present(f, "samples", "time duration cpu_delta")]
    columns += [({".thread": ".thread_id", ".stack": ".stack_id"}.get(name, name), get) for name, get in present(f, "samples", "thread stack text")]
    add_further(f, columns, "samples", "source stack thread time duration cpu_delta text")
    return rows_of(columns, f.rows("samples"))


def v2_sample_values(f):
    kind, unit, ordinal = (f.get("sample_types", c, 0) for c in ("type", "unit", "ordinal"))
    types = [(kind(k), unit(k), ordinal(k), f.get("samples", f"value.{k}")) for k in range(f.rows("sample_types"))]
    double = any(c.name[:6] == "value." and c.type == F64 for c in f.table("samples").columns) if f.table("samples") else False
    order, repeated = {s: range(len(types)) for s in range(f.rows("sources"))}, any(t[2] for t in types)
    of, sample_type, source = f.get("source_types", "source"), f.get("source_types", "sample_type"), f.get("samples", "source", 0)
    if f.rows("source_types"):
        order = {s: [] for s in order}
        for i in range(f.rows("source_types")):
            order[of(i)].append(sample_type(i))

    def rows():
        for i in range(f.rows("samples")):
            for name, unit, ordinal, get in (types[k] for k in order.get(source(i), ())):
                if get(i) is not None:
                    yield [i + 1, name, unit, float(get(i)) if double else get(i)] + [ordinal] * repeated
    return ["sample_id", "type", "unit", "value"] + [".ord"] * repeated, rows()


def lines(f, group):
    """Rows of table locations in a group."""
    first, n = f.get("location_groups", "first_location"), f.rows("locations")
    if not f.find("location_groups", "first_location"):
        need(group is not None and group < n, "group without a location")
        return range(group, group + 1)
    end = first(group + 1) if group + 1 < f.rows("location_groups") else n
    need(first(group) < end <= n, f"table location_groups, row {group}: no lines")
    return range(first(group), end)


def location_lists(f):
    """Yields the location list of each sample (6.4), empty without a stack."""
    stack, parent, group, known = f.get("samples", "stack"), f.get("stacks", "parent"), f.get("stacks", "group"), {None: []}
    for i in range(f.rows("samples")):
        at = stack(i)
        if at not in known:
            known[at], row = [], at
            while row:
                known[at] += lines(f, group(row))
                need(parent(row) is not None and parent(row) < row, f"table stacks, row {row}: parent is not before it")
                row = parent(row)
        yield known[at]


def v2_sample_locations(f):
    return ["sample_id", "depth", "location_id"], ([i + 1, depth + 1, place + 1] for i, found in enumerate(location_lists(f))
                                                   for depth, place in enumerate(found))


def v2_locations(f):
    function, line = f.get("locations", "function"), f.get("locations", "line")
    several = f.find("location_groups", "first_location") is not None
    owner = [g for g in range(f.rows("location_groups")) for _ in lines(f, g)]
    need(len(owner) == f.rows("locations"), "locations of no group")
    columns = [("location_id", lambda i: i + 1), ("function_id", lambda i: None if function(i) is None else function(i) + 1),
               ("line", lambda i: None if line(i) is None or line(i) < 0 else line(i))]
    columns += present(f, "locations", "column filename") + [(".group_id", lambda i: owner[i])] * several
    columns += [(".mapping_id", get) for _, get in present(f, "location_groups", "mapping", lambda i: owner[i])]
    columns += present(f, "location_groups", "address folded id file_number", lambda i: owner[i])
    columns += [(".inline", lambda i: i + 1 < len(owner) and owner[i + 1] == owner[i])] * several
    columns.append((".hash", hash_column(hash_locations, f)))
    add_further(f, columns, "locations", "function line column filename")
    add_further(f, columns, "location_groups", "first_location mapping address folded id file_number", lambda i: owner[i])
    return rows_of(columns, f.rows("locations"))


def v2_functions(f):
    name, system, start = (f.get("functions", c) for c in ("name", "system_name", "start_line"))
    columns = [("function_id", lambda i: i + 1), ("name", name), ("system_name", lambda i: name(i) if system(i) is None else system(i)),
               ("filename", f.get("functions", "filename")),
               ("start_line", lambda i: None if start(i) is None or start(i) < 0 else start(i))]
    columns += present(f, "functions", "id")
    columns.append((".hash", hash_column(hash_functions, f)))
    add_further(f, columns, "functions", "name system_name filename start_line id")
    return rows_of(columns, f.rows("functions"))


# ---- content hashes (section 7.1)

def hash_column(make, f):
    """The cell function of a column .hash, whose rows are hashed when the first one is read."""
    made = []

    def get(i):
        if not made:
            made.extend(make(f))
        return made[i].hex().encode()
    return get


def hash_functions(f):
    name, system, filename = (f.get("functions", c) for c in ("name", "system_name", "filename"))
    return [xxh3_128(b"".join(xxh3_128(text or b"") for text in (name(i), system(i) or name(i), filename(i)))) for i in range(f.rows("functions"))]


def base_name(path):
    return (path or b"").rstrip(b"/").rpartition(b"/")[2]


def hash_locations(f):
    function, filename, line, column = (f.get("locations", c) for c in ("function", "filename", "line", "column"))
    name, start_line, functions = f.get("functions", "name"), f.get("functions", "start_line"), hash_functions(f)
    mapping, address = f.get("location_groups", "mapping"), f.get("location_groups", "address")
    start, offset = (f.get("mappings", c, 0) for c in ("start", "file_offset"))
    build, path = f.get("mappings", "build_id"), f.get("mappings", "filename")
    owner, hashes = [g for g in range(f.rows("location_groups")) for _ in lines(f, g)], []
    need(len(owner) == f.rows("locations"), "locations of no group")
    for i, group in enumerate(owner):
        code, own = function(i), line(i)
        place = filename(i) if code is None else None
        outside = place is not None and mapping(group) is None and address(group) is None
        shown = outside if code is None else bool(name(code))
        bare = code is not None and shown and len(name(code)) < 19 and name(code)[:2] == b"0x" and all(c in b"0123456789abcdefABCDEF" for c in name(code)[2:])
        bare = bare and len(name(code)) > 2
        begins, m, at = None if code is None else start_line(code), mapping(group), address(group)
        m, at = None if shown and not bare else m, None if shown else at
        flags = (code is not None) + 2 * (place is not None) + 4 * (begins is not None) + 8 * (own is not None) + 16 * (column(i) is not None)
        flags += 32 * (m is not None) + 64 * (at is not None)
        what = bytes(16) if code is None and place is None else xxh3_128(place) if code is None else functions[code]
        binary = bytes(16) if m is None else xxh3_128(xxh3_128(build(m) or b"") + xxh3_128(base_name(path(m))))
        if m is not None and at is not None:
            at += (offset(m) or 0) - (start(m) or 0)
        hashes.append(xxh3_128(struct.pack("<Q16sqqq16sQ", flags, what, begins or 0, own or 0, column(i) or 0, binary, (at or 0) & ALL)))
    return hashes


def hash_stacks(f):
    parent, group, locations = f.get("stacks", "parent"), f.get("stacks", "group"), hash_locations(f)
    frames = [xxh3_128(b"".join(locations[i] for i in lines(f, g))) for g in range(f.rows("location_groups"))]
    hashes = [bytes(16)] * min(f.rows("stacks"), 1)
    for i in range(1, f.rows("stacks")):
        need(parent(i) is not None and parent(i) < i and group(i) is not None and group(i) < len(frames), f"table stacks, row {i}")
        hashes.append(xxh3_128(hashes[parent(i)] + frames[group(i)]))
    return hashes


def v1(f):
    """Returns the five tables of section 8; raises Bad if v1 cannot represent the profile."""
    kind, unit, level, ordinal = (f.get("sample_types", c, 0) for c in ("type", "unit", "level", "ordinal"))
    value = next((f"value.{k}" for k in range(f.rows("sample_types")) if (kind(k), unit(k)) == (b"samples", b"count") and not level(k)
                  and not ordinal(k) and getattr(f.find("samples", f"value.{k}"), "type", None) == I64), None)
    need(value or not f.rows("samples"), "v1 has only samples/count")
    values, function, line = f.get("samples", value), f.get("locations", "function"), f.get("locations", "line")
    ids, least, functions, samples = {}, {}, [], []
    for i in range(f.rows("locations")):
        if function(i) is not None:
            need(line(i) is None or line(i) >= 0, f"table locations, row {i}: v1 has no negative lines")
            ids[i] = len(ids) + 1
            least.setdefault(function(i), []).extend([] if line(i) is None else [line(i)])
    rprof = any(f.get("sources", "type")(i) in (b"rprof", b"rprofmem") for i in range(f.rows("sources")))
    for number, name, system, filename, start, *_ in v2_functions(f)[1]:
        system = system or name
        need(name, f"table functions, row {number - 1}: v1 needs a name")
        if rprof and name == system:
            name = b"gc" if name == b"<GC>" else name.replace(b".", b"_")
        functions.append([number, name, system, filename or b"", min(least.get(number - 1) or [0]) if start is None else start])
    for i, found in enumerate(location_lists(f)):
        found = [ids[place] for place in found if place in ids]
        if found:
            need(0 < (values(i) or 0) < 1 << 31, f"table samples, row {i}: v1 cannot hold the value")
            samples.append([values(i), found])
    return {"meta": ("key value", [[b"version", b"1.0"]]), "sample_types": ("type unit", [[b"samples", b"count"]]),
            "samples": ("value locations", samples),
            "locations": ("location_id function_id line", [[n, function(i) + 1, line(i) or 0] for i, n in ids.items()]),
            "functions": ("function_id name system_name filename start_line", functions)}


def tsv(value):
    if isinstance(value, bytes):
        for a, b in ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r")):
            value = value.replace(a, b)
        return value
    if isinstance(value, float):
        return repr(value).replace("nan", "NaN").replace("inf", "Infinity").encode()
    if isinstance(value, list):
        return b"[" + b",".join(b"%d" % v for v in value) + b"]"
    return {None: b"\\N", True: b"true", False: b"false"}[value] if value is None or isinstance(value, bool) else b"%d" % value


def dump(f, model, name):
    names, rows = view(f, model, name)
    yield b"\t".join(tsv(n.encode("utf-8", "surrogateescape")) for n in names) + b"\n"
    for row in rows:
        yield b"\t".join(map(tsv, row)) + b"\n"


def main(arguments):
    operands = [a for a in arguments if not a.startswith("--") and a not in ("v1", "v2")]
    model = "physical" if "--physical" in arguments else "v1" if "v1" in arguments else "v2"
    if len(operands) != 2 - ("--tables" in arguments):
        sys.exit(__doc__)
    try:
        with open(operands[0], "rb") as stream:
            file = File(stream.read())
        if "--tables" in arguments:
            print("\n".join(MODELS.get(model) or [t.name for t in file.tables]))
            return 0
        for line in dump(file, model, operands[1]):
            sys.stdout.buffer.write(line)
    except Bad as fault:
        print(f"reader.py: {operands[0]}: {fault}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
