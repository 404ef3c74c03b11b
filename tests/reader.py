#!/usr/bin/env python3
"""reader.py - a pcol reader written from spec.md alone (Python 3, standard library)

    reader.py [--model v1] [--physical] [--verify] FILE TABLE    one table as TSV, as `pcol cat --format tsv` prints it
    reader.py [--model v1] [--physical] [--verify] --tables FILE names of the tables

Every number from the file is checked before it is used. --verify compares all checksums and the padding as well.
Exit code 3: the file is damaged or not supported.
"""
import struct
import sys
import zlib

MAGIC, MARK = b"\x89PCOL\r\n\x1a", b"PCOLEND\n"
I64, U64, F64, U32, STRING, BYTES, BOOL = range(1, 8)
PLAIN, LINEAR, PACKED, BLOCKED, SPARSE, RUNS, CHAIN, DELTAS = range(8)
VALUES, VALIDITY, BLOCKS, BITMAP, RANK, DATA = range(1, 7)
KINDS = b"string integer double bigint bool null empty frame stack rstack".split()
NULLABLE, MUST_UNDERSTAND, DEFAULT_NULL = 1, 2, 16
ALL = (1 << 64) - 1


class Bad(Exception):
    pass


def need(truth, text):
    if not truth:
        raise Bad(text)


class Column:
    """A column descriptor with its sections; cell(i) gives row i or None."""

    def __init__(self, file, number, raw):
        (self.name_at, self.name_size, self.type, self.encoding, self.flags, self.ref, self.rows, self.first_section,
         self.first_child, self.section_count, self.child_count, self.width, self.base, self.step, self.scale,
         self.null_count, _, _) = struct.unpack("<IHBBIIQIIBBB5xQQQQQQ", raw)
        self.file, self.number, self.why = file, number, None
        self.name = file.name(self.name_at, self.name_size)
        self.section, self.child = {}, []

    def place(self):
        """Sections and children, each with the size that the encoding needs."""
        f, n, t = self.file, self.rows, self.type
        need(self.first_section + self.section_count <= len(f.sections), "sections of a column out of range")
        if t not in range(1, 8) or self.encoding not in range(8):
            self.why = "unknown type or encoding"
        for s in f.sections[self.first_section:self.first_section + self.section_count]:
            need(s.column == self.number and s.role not in self.section, "section of another column, or twice one role")
            if s.role not in range(1, 7) and s.flags & 1:
                continue
            if s.role not in range(1, 7) or s.codec and (not f.archive or s.codec % 16 not in (1, 2) or s.codec // 16 > 6):
                self.why = "unknown codec or role of a section"
            elif s.codec > 15:
                need(s.role == VALUES and self.encoding == PLAIN and t != BOOL and (s.codec < 80 or t == U32), "transform out of place")
            self.section[s.role] = s
        if self.child_count:
            need(self.first_child > self.number and self.first_child >= f.table_columns
                 and self.first_child + self.child_count <= len(f.columns), "children out of range")
            self.child = f.columns[self.first_child:self.first_child + self.child_count]
        if self.why or self.file_damaged_child():
            return
        bits, roles, children = (n + 7) // 8, {}, []
        need(n or self.encoding == LINEAR, "column of 0 rows is not LINEAR")
        need(t != F64 or not self.step, "step of doubles")
        if self.encoding == PLAIN and t == BYTES:
            children = [(U64, n + 1)]
            if DATA in self.section:
                roles[DATA] = self.section[DATA].raw_size
        elif self.encoding == PLAIN:
            roles[VALUES] = bits if t == BOOL else n * (4 if t in (U32, STRING) else 8)
        elif self.encoding == LINEAR:
            need(t != BYTES or n == 0 or self.flags & DEFAULT_NULL, "LINEAR column of bytes")
        elif self.encoding == PACKED:
            need(t not in (F64, BYTES) and self.scale and (1 <= self.width <= 57 or self.width == 64), "PACKED column")
            roles[VALUES] = (n * self.width + 7) // 8 + 8
        elif self.encoding == BLOCKED:
            need(t not in (F64, BYTES) and self.scale, "BLOCKED column")
            roles[BLOCKS] = 24 * ((n + 1023) // 1024)
            roles[VALUES] = self.section[VALUES].raw_size if VALUES in self.section else 8
        elif self.encoding in (SPARSE, CHAIN, DELTAS):
            need(t in (U32, STRING) if self.encoding == CHAIN else t != BYTES and (self.encoding, t) != (DELTAS, F64), "type of the column")
            roles[BITMAP], roles[RANK] = bits, 8 * ((n + 1023) // 1024)
            children = {SPARSE: [(t, None)], CHAIN: [(t, None)] * 2, DELTAS: [(t, None), (I64, None)]}[self.encoding]
        else:
            need(t != BYTES, "column of bytes in runs")
            children = [(U64, None), (t, None)]
        need(not self.flags & DEFAULT_NULL or self.flags & NULLABLE and self.encoding in (SPARSE, LINEAR), "DEFAULT_NULL")
        if VALIDITY in self.section:
            need(self.encoding in (PLAIN, LINEAR, PACKED, BLOCKED) and self.flags & NULLABLE
                 and not self.flags & DEFAULT_NULL, "VALIDITY section out of place")
            roles[VALIDITY] = bits
        need({r: s.raw_size for r, s in self.section.items()} == roles, "sections do not fit the encoding")
        need(len(self.child) == len(children), "children do not fit the encoding")
        for c, (kind, rows) in zip(self.child, children):
            need(c.type == kind and not c.flags & NULLABLE and rows in (None, c.rows), "child does not fit its parent")
        need(self.encoding not in (CHAIN, DELTAS) or self.child[1].encoding <= BLOCKED, "successors with children")
        need(self.encoding != DELTAS or self.child[0].rows + self.child[1].rows == n, "number of differences")
        need(self.encoding != RUNS or self.child[0].rows == self.child[1].rows > 0, "runs without rows")

    def file_damaged_child(self):
        for c in self.child:
            self.why = self.why or c.why
        return self.why

    def at(self, role, offset, size):
        s = self.section[role]
        need(0 <= offset <= s.raw_size - size, "read beyond a section")
        if s.codec and s.data is None:
            s.data = thaw(self, s)
        return s.data[offset:offset + size] if s.codec else self.file.bytes[s.offset + offset:s.offset + offset + size]

    def bit(self, role, i):
        return self.at(role, i >> 3, 1)[0] >> (i & 7) & 1

    def unpack(self, start, i, width):
        if width == 0:
            return 0
        word = int.from_bytes(self.at(VALUES, start + (i * width >> 3), 8), "little")
        return word >> (i * width & 7) & (1 << width) - 1

    def bits(self, i):
        """Row i as 64 bits (bytes: as bytes); None for a null."""
        line = self.base + self.step * i & ALL
        if VALIDITY in self.section and not self.bit(VALIDITY, i):
            return None
        if self.encoding == LINEAR:
            return None if self.flags & DEFAULT_NULL else line
        if self.encoding == PLAIN:
            if self.type == BYTES:
                a, b = self.child[0].cell(i), self.child[0].cell(i + 1)
                size = self.section[DATA].raw_size if DATA in self.section else 0
                need(a <= b <= size, "offsets fall or leave the data")
                return bytes(self.at(DATA, a, b - a)) if b > a else b""
            if self.type == BOOL:
                return self.bit(VALUES, i)
            width = 4 if self.type in (U32, STRING) else 8
            return int.from_bytes(self.at(VALUES, width * i, width), "little")
        if self.encoding == PACKED:
            return line + self.scale * self.unpack(0, i, self.width) & ALL
        if self.encoding == BLOCKED:
            b, j = divmod(i, 1024)
            base, slope, packed = struct.unpack("<QQQ", self.at(BLOCKS, 24 * b, 24))
            width, start = packed >> 56, packed & (1 << 56) - 1
            used = (min(1024, self.rows - 1024 * b) * width + 7) // 8
            need((width <= 57 or width == 64) and start + used + 8 <= self.section[VALUES].raw_size, "block out of place")
            return base + (signed(slope * j & ALL) >> 16) + self.scale * self.unpack(start, j, width) & ALL
        if self.encoding == SPARSE:
            return self.marked(i)[0] if self.bit(BITMAP, i) else None if self.flags & DEFAULT_NULL else line
        if self.encoding in (CHAIN, DELTAS):
            first = i
            while not self.bit(BITMAP, first):
                need(first % 64, "first of 64 rows has no value of its own")
                first -= 1
            value, rank = self.marked(first)
            for row in range(first + 1, i + 1) if self.encoding == DELTAS else ():
                need(rank < row, "rank beyond the rows")
                value = value + self.child[1].bits(row - rank - 1) & ALL
            for _ in range(i - first) if self.encoding == CHAIN else ():
                need(value < self.child[1].rows, "value without successor")
                value = self.child[1].bits(value)
            return value
        low, high = 0, self.child[0].rows
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.child[0].cell(middle) > i else (middle + 1, high)
        need(low < self.child[1].rows and (low == 0 or self.child[0].cell(low - 1) <= i), "run ends do not reach the row")
        return self.child[1].bits(low)

    def marked(self, i):
        k = i // 1024
        before = int.from_bytes(self.at(BITMAP, 128 * k, (i + 7) // 8 - 128 * k), "little")
        before &= (1 << i - 1024 * k) - 1
        row = int.from_bytes(self.at(RANK, 8 * k, 8), "little") + bin(before).count("1")
        need(row < self.child[0].rows, "rank beyond the values")
        return self.child[0].bits(row), row

    def cell(self, i):
        need(not self.why, f"column {self.name}: {self.why}")
        need(0 <= i < self.rows, f"column {self.name}: row {i} out of range")
        value = self.bits(i)
        if value is None or self.type == BYTES or self.type == U64:
            return value
        if self.type == I64:
            return signed(value)
        if self.type == BOOL and value < 2:
            return bool(value)
        if self.type == F64:
            return struct.unpack("<d", struct.pack("<Q", value))[0]
        limit = 2 if self.type == BOOL else 1 << 32
        if self.ref:
            limit = self.file.tables[self.ref - 1].rows
        need(value < limit, f"column {self.name}, row {i}: value {value} out of range")
        return value


def signed(bits):
    return bits - (1 << 64) if bits >> 63 else bits


# ---- archives (9.2)

def inflate(data, most):
    """A raw deflate stream that ends with its last byte; at most `most` bytes."""
    stream = zlib.decompressobj(-15)
    try:
        out = stream.decompress(data, most + 1)
    except zlib.error as reason:
        raise Bad(f"deflate: {reason}") from reason
    need(stream.eof and not stream.unused_data and len(out) <= most, "deflate stream of another size")
    return out


def lz4(data, most):
    """An LZ4 block: a token, literals, and a copy of what stands `offset` bytes before, over and over; literals end it."""
    out, at = bytearray(), 0

    def number(at, value):
        if value == 15:
            while True:
                need(at < len(data), "LZ4 block is cut")
                value, at = value + data[at], at + 1
                if data[at - 1] != 255:
                    break
        return at, value

    while True:
        need(at < len(data), "LZ4 block is cut")
        token = data[at]
        at, literals = number(at + 1, token >> 4)
        need(at + literals <= len(data) and len(out) + literals <= most, "literals of an LZ4 block")
        out += data[at:at + literals]
        at += literals
        if at == len(data):
            return bytes(out)
        need(at + 2 <= len(data), "LZ4 block is cut")
        offset = int.from_bytes(data[at:at + 2], "little")
        at, length = number(at + 2, token & 15)
        need(0 < offset <= len(out) and len(out) + length + 4 <= most, "copy of an LZ4 block")
        for _ in range(length + 4):
            out.append(out[-offset])


class Varints:
    def __init__(self, stream):
        self.stream, self.used = stream, 0

    def next(self):
        value = 0
        for shift in range(0, 70, 7):
            need(self.used < len(self.stream), "stream is cut")
            byte = self.stream[self.used]
            self.used += 1
            value |= (byte & 127) << shift
            if byte < 128:
                need(value <= ALL, "varint beyond 64 bits")
                return value
        raise Bad("varint beyond 10 bytes")

    def end(self):
        need(self.used == len(self.stream), "stream is too long")


def unfold(number):
    return number >> 1 ^ -(number & 1)


class Thaw:
    """The blocks of a compressed section, one after the other, into its values."""

    def __init__(self, column):
        self.width = 4 if column.type in (U32, STRING) else 8
        self.wrap = (1 << 8 * self.width) - 1
        self.column, self.values, self.known = column, [], {}

    def numbers(self, block):
        return [int.from_bytes(block[i:i + self.width], "little") for i in range(0, len(block), self.width)]

    def spread(self, stream, count):
        need(len(stream) == count * self.width, "stream of another size")
        return [int.from_bytes(stream[i::count], "little") for i in range(count)]

    def differences(self, folded):
        value, out = 0, []
        for number in folded:
            value = value + unfold(number) & self.wrap
            out.append(value)
        return out

    def parent(self, stream, row):
        at = row - 1
        for _ in range(stream.next()):
            need(0 < at and self.values[at] < at, "step out of the tree")
            at = self.values[at]
        return at

    def rank(self, stream, row, parents):
        parent, k = parents(row), stream.next()
        need(parent is not None and parent < row, "parent is not before its row")
        followers = self.known.setdefault(self.values[parent], [])
        if k >= len(followers):
            need(k - len(followers) < 1 << 32, "value beyond 32 bits")
            followers.append(k - len(followers))
            return followers[-1]
        return followers[k]

    def block(self, transform, stream, size):
        count, varints = size // self.width, Varints(stream)
        if transform == 1:
            new = self.spread(stream, count)
        elif transform == 2:
            new = [varints.next() for _ in range(count)]
            new = new if self.width == 4 else [unfold(v) & ALL for v in new]
        elif transform == 3:
            new = self.differences([varints.next() for _ in range(count)])
        elif transform == 4:
            new = self.differences(self.spread(stream, count))
        else:
            f = self.column.file
            table = next((t for t in f.tables if self.column in t.columns), None)
            parents = None
            if transform == 6:
                c = next((c for c in table.columns if c.name == "parent"), None) if table else None
                need(c and c is not self.column and not c.why and c.type == U32
                     and all(s.codec // 16 != 6 for s in c.section.values()), "ranks without parents")
                parents = c.bits
            for row in range(len(self.values), len(self.values) + count):
                value = 0 if row == 0 else self.rank(varints, row, parents) if transform == 6 else self.parent(varints, row)
                self.values.append(value)
            varints.end()
            return
        if transform in (2, 3):
            varints.end()
        need(all(v <= self.wrap for v in new), "value beyond its type")
        self.values += new


def thaw(column, section):
    """The bytes of a compressed section."""
    data, at, out = column.file.bytes[section.offset:section.offset + section.size], 0, []
    codec, transform, state = section.codec % 16, section.codec // 16, Thaw(column)
    for start in range(0, section.raw_size, 524288):
        size = min(524288, section.raw_size - start)
        need(at + 4 <= len(data), "compressed section is cut")
        head = int.from_bytes(data[at:at + 4], "little")
        stored = bytes(data[at + 4:at + 4 + head % (1 << 30)])
        need(len(stored) == head % (1 << 30), "compressed section is cut")
        at += 4 + len(stored)
        need(not head >> 30 & 1 or transform < 5, "block without its transform")
        stream = stored if head >> 31 else inflate(stored, 655360) if codec == 1 else lz4(stored, 655360)
        need(len(stream) <= 655360, "stream is too long")
        if transform == 0 or head >> 30 & 1:
            need(len(stream) == size, "block of another size")
            out.append(stream)
        else:
            before = len(state.values)
            state.block(transform, stream, size)
            out.append(b"".join(v.to_bytes(state.width, "little") for v in state.values[before:]))
    need(at == len(data), "compressed section is too long")
    return b"".join(out)


class Table:
    def __init__(self, name, flags, rows, columns):
        self.name, self.flags, self.rows, self.columns = name, flags, rows, columns


class Section:
    def __init__(self, raw):
        (self.offset, self.size, self.raw_size, self.checksum, self.role, self.codec, self.align, self.flags,
         self.column) = struct.unpack("<QQQQBBBBI", raw)
        self.data = None  # decompressed


class File:
    def __init__(self, data, verify=False):
        self.bytes, size = memoryview(data), len(data)
        need(data[:8] == MAGIC[:max(0, min(8, size))] and size > 0, "not a pcol file")
        need(size >= 144, "file is cut")
        (major, minor, header_size, incompatible, _, _, file_size, index_at, index_size, index_sum, tables, columns, sections,
         names, table_stride, column_stride, section_stride, algorithm) = struct.unpack("<HHIQQQQQQQIIIIHHHB", data[8:95])
        need(major == 1, f"version {major} is not supported")
        need(algorithm == 1, "unknown checksum algorithm")
        need(incompatible < 2, f"unknown incompatible features {incompatible:#x}")
        self.archive = incompatible == 1
        if verify:
            self.compare(0, 120, int.from_bytes(data[120:128], "little"), "header")
        need(minor or not any(data[95:120]), "reserved bytes are not zero")
        need(file_size == size, "file is cut" if size < file_size else "bytes behind the end of the file")
        need(data[size - 16:] == struct.pack("<Q", size) + MARK, "no end mark")
        need(128 <= header_size <= index_at and index_at % 8 == 0, "header or index out of place")
        need(32 <= table_stride <= 1024 and 88 <= column_stride <= 1024 and 40 <= section_stride <= 1024
             and not (table_stride | column_stride | section_stride) % 8, "strides")
        need(tables <= 4096 and columns <= 65536 and sections <= 262144 and names <= 1 << 24, "too many descriptors")
        parts = tables * table_stride, columns * column_stride, sections * section_stride
        raw_size, end = (sum(parts) + names + 7) // 8 * 8, index_at + index_size
        need((raw_size // 1040 <= index_size if self.archive else raw_size == index_size) and end <= size - 16, "size of the index")
        if verify:
            self.compare(index_at, index_size, index_sum, "index")
        starts = index_at, index_at + parts[0], index_at + parts[0] + parts[1], index_at + sum(parts)
        if self.archive:
            data = inflate(data[index_at:end], raw_size)
            need(len(data) == raw_size, "size of the index")
            starts = tuple(s - index_at for s in starts)
        self.names = data[starts[3]:starts[3] + names]
        self.sections = [Section(data[starts[2] + i * section_stride:][:40]) for i in range(sections)]
        self.columns = [Column(self, i, data[starts[1] + i * column_stride:][:88]) for i in range(columns)]
        self.tables, at = [], 0
        for i in range(tables):
            name, length, flags, rows, first, count = struct.unpack("<IHHQII", data[starts[0] + i * table_stride:][:24])
            need((first == at or not count) and at + count <= columns and rows <= 1 << 48, "columns of a table out of place")
            at += count
            self.tables.append(Table(self.name(name, length), flags, rows, self.columns[at - count:at]))
        self.table_columns = at
        self.check_index(end, verify, minor)

    def check_index(self, end, verify, minor):
        for s in self.sections:
            need(3 <= s.align <= 30 and s.offset % (1 << s.align) == 0, "section not aligned")
            need(s.offset >= end and 0 < s.size <= len(self.bytes) - 16 - s.offset, "section out of place")
            need(0 < s.raw_size and s.raw_size // 1040 <= s.size if s.codec else s.raw_size == s.size, "raw size of a section")
            need(minor > 0 or not s.flags & ~1, "unknown flag of a section")
            if verify:
                need(not any(self.bytes[end:s.offset]), "padding is not zero")
                self.compare(s.offset, s.size, s.checksum, f"section at byte {s.offset}")
            end = s.offset + s.size
        need(not verify or not any(self.bytes[end:-16]), "padding is not zero")
        for c in reversed(self.columns):
            need(c.ref <= len(self.tables), "reference to no table")
            c.place()
        children = [c.number for parent in self.columns for c in parent.child]
        need(sorted(children) == list(range(self.table_columns, len(self.columns))), "children of no or two columns")
        need(sum(c.section_count for c in self.columns) == len(self.sections), "sections of no column")
        need(len({t.name for t in self.tables}) == len(self.tables), "two tables of one name")
        for t in self.tables:
            need(0 < len(t.name) < 256 and all(c.name and c.rows == t.rows for c in t.columns),
                 "column without a name or with other rows than its table")
            need(len({c.name for c in t.columns}) == len(t.columns), "two columns of one name")

    def compare(self, offset, size, checksum, what):
        from xxh3 import xxh3
        need(xxh3(self.bytes[offset:offset + size]) == checksum, f"checksum of the {what}")

    def name(self, offset, size):
        need(offset + size <= len(self.names), "name out of range")
        return self.names[offset:offset + size].decode("utf-8", "surrogateescape")

    def table(self, name):
        return next((t for t in self.tables if t.name == name), None)

    def rows(self, table):
        t = self.table(table)
        return t.rows if t else 0

    def has(self, table, column):
        t = self.table(table)
        return t is not None and any(c.name == column for c in t.columns)

    def get_type(self, table, column):
        t = self.table(table)
        return next((c.type for c in t.columns if c.name == column), None) if t else None

    def get(self, table, column, default=None):
        """A function from row to value of a physical column; strings as bytes."""
        t = self.table(table)
        need(not t or not t.flags & ~2 and not any(c.flags & MUST_UNDERSTAND for c in t.columns),
             f"table {table} needs a newer reader")
        c = next((c for c in t.columns if c.name == column), None) if t else None
        if c is None:
            return lambda row: default
        return (lambda row: self.text(c.cell(row))) if c.type == STRING else c.cell

    def text(self, code):
        return None if code is None else self.get("strings", "value")(code)



class Views(File):
    """Physical rows, and the logical tables of spec.md sections 7 and 8: each a list of names and a generator of rows."""

    def physical(self, name):
        t = self.table(name)
        need(t, f"no table {name}")
        read = [self.get(name, c.name) for c in t.columns]
        return [c.name for c in t.columns], ([r(i) for r in read] for i in range(t.rows))

    def dotted(self, table, columns, row=lambda i: i):
        """(name, function) of the dotted columns whose physical column is there."""
        return [("." + c, (lambda get: lambda i: get(row(i)))(self.get(table, c))) for c in columns.split()
                if self.has(table, c)]

    def further(self, columns, table, used, row=lambda i: i):
        """Append the other columns of a table, then its labels; names that are taken get longer."""
        t = self.table(table)
        if not t:
            return columns
        taken = {name for name, _ in columns}
        label = lambda name: name == "label_shape" or name[:6] == "label." and name[6:].isdigit()

        def add(name, source):
            get = self.get(table, source)
            columns.append((name, lambda i: get(row(i))))
            taken.add(name)

        for c in t.columns:
            if c.name in used.split() or label(c.name) or table == "samples" and c.name[:6] == "value." or c.why:
                continue
            name = "." + c.name
            add(f".{table}.{c.name}" if name in taken or c.name in taken else name, c.name)
        of, key, kind = (self.get("label_keys", c) for c in ("table", "key", "kind"))
        repeats = {}
        for k in range(self.rows("label_keys")):
            if of(k) != table.encode() or not self.has(table, f"label.{k}") or kind(k) not in KINDS:
                continue
            name = ".label." + key(k).decode("utf-8", "surrogateescape").replace("\0", "\\0")
            n = repeats.get(key(k), 1)
            while (name if n == 1 else f"{name}#{n}") in taken:
                n += 1
            add(name if n == 1 else f"{name}#{n}", f"label.{k}")
            repeats[key(k)] = n + 1
        return columns

    def rows_of(self, columns, count):
        return [name for name, _ in columns], ([get(i) for _, get in columns] for i in range(count))

    def v2_meta(self):
        version = struct.unpack("<HH", self.bytes[8:12])
        return ["key", "value"], iter([[b"version", b"2.0"], [b"format", b"%d.%d" % version]])

    def v2_sources(self):
        get = lambda c: self.get("sources", c)
        columns = [("source_id", lambda i: i + 1), ("source_type", get("type")), ("source_uri", get("uri")),
                   ("source_timestamp", get("timestamp"))]
        own = "period period_type period_unit interval_ns duration_ns default_sample_type collapsed"
        columns += self.dotted("sources", own)
        self.further(columns, "sources", "type uri timestamp " + own)
        source, key, value = (self.get("source_meta", c) for c in ("source", "key", "value"))
        meta = {}
        for i in range(self.rows("source_meta")):
            meta.setdefault(key(i) or b"", {})[source(i)] = value(i)
        for name, values in meta.items():
            name = name.decode("utf-8", "surrogateescape").replace("\0", "?")
            taken = "." + name in (c for c, _ in columns) or name.startswith("meta.")
            own_name = name in own.split() + ["source_id", "source_type", "source_uri", "source_timestamp"]
            columns.append(((".meta." if taken or own_name else ".") + name, values.get))
        return self.rows_of(columns, self.rows("sources"))

    def v2_samples(self):
        source = self.get("samples", "source", 0)
        columns = [("sample_id", lambda i: i + 1), ("source_id", lambda i: source(i) + 1)]
        for name, get in self.dotted("samples", "time duration cpu_delta"):
            columns.append((name, lambda i, get=get: None if get(i) is None else float(get(i)) / 1e6))
        for physical, name in (("thread", ".thread_id"), ("stack", ".stack_id"), ("text", ".text")):
            columns += [(name, get) for _, get in self.dotted("samples", physical)]
        self.further(columns, "samples", "source stack thread time duration cpu_delta text")
        return self.rows_of(columns, self.rows("samples"))

    def v2_sample_values(self):
        count = self.rows("sample_types")
        kind, unit, ordinal = (self.get("sample_types", c, 0) for c in ("type", "unit", "ordinal"))
        types = [(kind(k), unit(k), ordinal(k), self.get("samples", f"value.{k}")) for k in range(count)]
        samples = self.table("samples")
        double = any(c.name.startswith("value.") and c.type == F64 for c in samples.columns) if samples else False
        order = {s: range(count) for s in range(self.rows("sources"))}
        if self.rows("source_types"):
            source, sample_type = self.get("source_types", "source"), self.get("source_types", "sample_type")
            order = {}
            for i in range(self.rows("source_types")):
                order.setdefault(source(i), []).append(sample_type(i))
        repeated = any(t[2] for t in types)
        source = self.get("samples", "source", 0)

        def rows():
            for i in range(self.rows("samples")):
                for k in order.get(source(i), ()):
                    need(k is not None and k < count, "table source_types: no such sample type")
                    value = types[k][3](i)
                    if value is not None:
                        yield [i + 1, types[k][0], types[k][1], float(value) if double else value] + [types[k][2]] * repeated
        return ["sample_id", "type", "unit", "value"] + [".ord"] * repeated, rows()

    def lines(self, group):
        """Rows of locations of a group."""
        first, n = self.get("location_groups", "first_location"), self.rows("locations")
        need(group is not None, "table stacks: group is null")
        if not self.has("location_groups", "first_location"):
            need(group < n, "group without a location")
            return range(group, group + 1)
        end = first(group + 1) if group + 1 < self.rows("location_groups") else n
        need(first(group) < end <= n, f"table location_groups, row {group}: no lines")
        return range(first(group), end)

    def location_list(self, stack):
        parent, group, found = self.get("stacks", "parent"), self.get("stacks", "group"), []
        while stack:
            found += self.lines(group(stack))
            up = parent(stack)
            need(up is not None and up < stack, f"table stacks, row {stack}: parent is not before it")
            stack = up
        return found

    def lists(self):
        """The location list of each sample, empty where it has no stack."""
        stack, known = self.get("samples", "stack"), {None: []}
        for i in range(self.rows("samples")):
            s = stack(i)
            if s not in known:
                known[s] = self.location_list(s)
            yield known[s]

    def v2_sample_locations(self):
        return ["sample_id", "depth", "location_id"], ([i + 1, depth + 1, place + 1] for i, found in enumerate(self.lists())
                                                       for depth, place in enumerate(found))

    def v2_locations(self):
        function, line = self.get("locations", "function"), self.get("locations", "line")
        groups, several = self.rows("location_groups"), self.has("location_groups", "first_location")
        owner = []
        for g in range(groups):
            need(self.lines(g)[0] == len(owner), f"table location_groups, row {g}: location of no group")
            owner += [g] * len(self.lines(g))
        need(len(owner) == self.rows("locations"), "locations of no group")
        columns = [("location_id", lambda i: i + 1), ("function_id", lambda i: None if function(i) is None else function(i) + 1),
                   ("line", lambda i: None if line(i) is None or line(i) < 0 else line(i))]
        columns += self.dotted("locations", "column filename")
        columns += [(".group_id", lambda i: owner[i])] * several
        columns += [(".mapping_id", get) for _, get in self.dotted("location_groups", "mapping", lambda i: owner[i])]
        columns += self.dotted("location_groups", "address folded id file_number", lambda i: owner[i])
        columns += [(".inline", lambda i: i + 1 < len(owner) and owner[i + 1] == owner[i])] * several
        self.further(columns, "locations", "function line column filename")
        self.further(columns, "location_groups", "first_location mapping address folded id file_number", lambda i: owner[i])
        return self.rows_of(columns, self.rows("locations"))

    def v2_functions(self):
        name, system, start = (self.get("functions", c) for c in ("name", "system_name", "start_line"))
        columns = [("function_id", lambda i: i + 1), ("name", name),
                   ("system_name", lambda i: name(i) if system(i) is None else system(i)),
                   ("filename", self.get("functions", "filename")),
                   ("start_line", lambda i: None if start(i) is None or start(i) < 0 else start(i))]
        columns += self.dotted("functions", "id")
        self.further(columns, "functions", "name system_name filename start_line id")
        return self.rows_of(columns, self.rows("functions"))

    def v1_open(self):
        """What v1 shows: column of values, ids of locations by row, start line and name of functions; Bad if it cannot."""
        kind, unit, level, ordinal = (self.get("sample_types", c, 0) for c in ("type", "unit", "level", "ordinal"))
        value = next((f"value.{k}" for k in range(self.rows("sample_types")) if (kind(k), unit(k)) == (b"samples", b"count")
                      and not level(k) and not ordinal(k) and self.get_type("samples", f"value.{k}") == I64), None)
        need(value or not self.rows("samples"), "v1 has only samples/count")
        values, function, line = self.get("samples", value), self.get("locations", "function"), self.get("locations", "line")
        ids, least, functions = {}, {}, []
        for i in range(self.rows("locations")):
            f, at = function(i), line(i)
            if f is not None:
                need(at is None or at >= 0, f"table locations, row {i}: v1 has no negative lines")
                ids[i] = len(ids) + 1
                least[f] = at if f not in least else least[f] if at is None else at if least[f] is None else min(at, least[f])
        rprof = any(self.get("sources", "type")(i) in (b"rprof", b"rprofmem") for i in range(self.rows("sources")))
        for number, name, system, filename, start, *_ in self.v2_functions()[1]:
            need(name and system, f"table functions, row {number - 1}: v1 needs a name")
            if rprof and name == system:
                name = b"gc" if name == b"<GC>" else name.replace(b".", b"_")
            functions.append([number, name, system, filename or b"", start if start is not None else least.get(number - 1) or 0])
        samples = []
        for i, found in enumerate(self.lists()):
            found = [ids[place] for place in found if place in ids]
            if found:
                need(0 < (values(i) or 0) < 1 << 31, f"table samples, row {i}: v1 cannot hold the value")
                samples.append([values(i), found])
        places = [[n, function(i) + 1, line(i) or 0] for i, n in ids.items()]
        return {"meta": ("key value", [[b"version", b"1.0"]]), "sample_types": ("type unit", [[b"samples", b"count"]]),
                "samples": ("value locations", samples), "locations": ("location_id function_id line", places),
                "functions": ("function_id name system_name filename start_line", functions)}

    MODELS = {"v2": ["meta", "sources", "samples", "sample_values", "sample_locations", "locations", "functions"],
              "v1": ["meta", "sample_types", "samples", "locations", "functions"]}

    def view(self, model, name):
        if model == "physical" or name not in self.MODELS[model]:
            return self.physical(name)
        if model == "v1":
            names, rows = self.v1_open()[name]
            return names.split(), iter(rows)
        return getattr(self, f"v2_{name}")()


def tsv(value):
    if value is None:
        return b"\\N"
    if isinstance(value, bytes):
        for a, b in ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r")):
            value = value.replace(a, b)
        return value
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float):
        return repr(value).replace("nan", "NaN").replace("inf", "Infinity").encode()
    if isinstance(value, list):
        return b"[" + b",".join(b"%d" % v for v in value) + b"]"
    return b"%d" % value


def main(arguments):
    options = [a for a in arguments if a.startswith("--") or a in ("v1", "v2")]
    operands = [a for a in arguments if a not in options]
    model = "physical" if "--physical" in options else "v1" if "v1" in options else "v2"
    if len(operands) != (1 if "--tables" in options else 2):
        sys.exit(__doc__)
    try:
        with open(operands[0], "rb") as stream:
            file = Views(stream.read(), "--verify" in options)
        if "--tables" in options:
            for name in file.MODELS.get(model) or [t.name for t in file.tables]:
                print(name)
            return 0
        names, rows = file.view(model, operands[1])
        out = sys.stdout.buffer
        out.write(b"\t".join(tsv(n.encode("utf-8", "surrogateescape")) for n in names) + b"\n")
        for row in rows:
            out.write(b"\t".join(map(tsv, row)) + b"\n")
    except Bad as fault:
        print(f"reader.py: {operands[0]}: {fault}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
