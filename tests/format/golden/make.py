#!/usr/bin/env python3
"""make.py - writer of the golden files, byte by byte from spec.md alone

    make.py valid      files with every encoding, type and table
    make.py invalid    copies of valid files with one fault each; checksums are recomputed unless the fault is a checksum
    make.py packed     files that $PCOL packs from tests/data

Existing files are not changed: golden files are added, never rewritten.
"""
import math
import os
import pathlib
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from xxh3 import xxh3  # noqa: E402

FOLDER = HERE / "1.0"
DATA = HERE.parent.parent / "data"
I64, U64, F64, U32, STRING, BYTES, BOOL = range(1, 8)
PLAIN, LINEAR, PACKED, SPARSE, RUNS, CHAIN, DELTAS, FRONT, SPLIT, DICTIONARY, TREE = range(11)
VALUES, VALIDITY, MARKS, DATA_BYTES = range(1, 5)
NULLABLE, STATS, ASCENDING, DEFAULT_NULL = 1, 4, 8, 16
ALL = (1 << 64) - 1


# ---- a writer

class Column:
    def __init__(self, kind, encoding, rows, sections=(), children=(), flags=0, width=0, base=0, step=0, scale=0, nulls=0):
        self.kind, self.encoding, self.rows, self.sections, self.children = kind, encoding, rows, list(sections), list(children)
        self.flags, self.width, self.base, self.step, self.scale, self.nulls = flags, width, base & ALL, step & ALL, scale, nulls
        self.name, self.ref = "", None


def double(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def bits(values, width):
    """Numbers of `width` bits, least significant bit first."""
    whole = 0
    for i, value in enumerate(values):
        whole |= value << i * width
    return whole.to_bytes((len(values) * width + 7) // 8, "little")


def validity(values, flags=0):
    """(sections, flags, nulls) of the nulls among values."""
    nulls = sum(v is None for v in values)
    return ([(VALIDITY, bits([int(v is not None) for v in values], 1))], flags | NULLABLE, nulls) if nulls else ([], flags, 0)


def plain(kind, values):
    sections, flags, nulls = validity(values)
    values = [v if v is not None else b"" if kind == BYTES else 0 for v in values]
    if not values:
        return linear(kind, 0)
    if kind == BYTES:
        offsets = [0]
        for v in values:
            offsets.append(offsets[-1] + len(v))
        data = b"".join(values)
        sections += [(DATA_BYTES, data)] if data else []
        return Column(kind, PLAIN, len(values), sections, [plain(U64, offsets)], flags, nulls=nulls)
    if kind == BOOL:
        data = bits(values, 1)
    else:
        data = struct.pack(f"<{len(values)}{ {I64: 'q', U64: 'Q', F64: 'd', U32: 'I', STRING: 'I'}[kind]}", *values)
    return Column(kind, PLAIN, len(values), [(VALUES, data)] + sections, flags=flags, nulls=nulls)


def linear(kind, rows, base=0, step=0, null=False):
    return Column(kind, LINEAR, rows, flags=(NULLABLE | DEFAULT_NULL) * null, base=base, step=step, nulls=rows * null)


def packed(kind, width, base, scale, residuals, valid=None):
    sections, flags, nulls = validity(valid or [0])
    return Column(kind, PACKED, len(residuals), [(VALUES, bits(residuals, width) + bytes(8))] + sections, flags=flags, width=width,
                  base=base, scale=scale, nulls=nulls)


def marked_section(marks):
    """A bitmap; after each 1024 bits, except the last ones, the number of bits set so far."""
    data = b""
    for k in range(0, len(marks), 1024):
        data += (struct.pack("<Q", sum(marks[:k])) if k else b"") + bits(marks[k:k + 1024], 1)
    return MARKS, data


def sparse(kind, rows, marked, child, base=0, step=0, null=False):
    marks = [int(i in marked) for i in range(rows)]
    return Column(kind, SPARSE, rows, [marked_section(marks)], [child], (NULLABLE | DEFAULT_NULL) * null, base=base,
                  step=step, nulls=(rows - len(marked)) * null)


def chain(kind, values, successors, child):
    """child: makes a column of the values of marked rows."""
    marks = [int(i % 64 == 0 or successors[values[i - 1]] != v) for i, v in enumerate(values)]
    return Column(kind, CHAIN, len(values), [marked_section(marks)],
                  [child([v for v, mark in zip(values, marks) if mark]), plain(kind, successors)])


def deltas(kind, values, low, high, child, rises):
    """child, rises: make a column of the values of marked rows, of the differences of the others."""
    marks = [int(i % 64 == 0 or not low <= v - values[i - 1] <= high) for i, v in enumerate(values)]
    return Column(kind, DELTAS, len(values), [marked_section(marks)],
                  [child([v for v, mark in zip(values, marks) if mark]),
                   rises([v - values[i - 1] for i, (v, mark) in enumerate(zip(values, marks)) if not mark])])


def front(strings, offsets=lambda values: plain(U64, values), shared=lambda values: plain(U32, values)):
    """Strings in order; offsets, shared: make a column of numbers."""
    common = [0 if i % 64 == 0 else len(os.path.commonprefix([strings[i - 1], s])) for i, s in enumerate(strings)]
    own, places = b"", [0]
    for s, n in zip(strings, common):
        own += s[n:]
        places.append(len(own))
    return Column(BYTES, FRONT, len(strings), [(DATA_BYTES, own)] if own else [], [offsets(places), shared(common)])


def split(kind, values, most, child, others):
    """child, others: make a column of the values above `most`, and of the rest."""
    marks = [int(v > most) for v in values]
    return Column(kind, SPLIT, len(values), [marked_section(marks)], [child([v for v in values if v > most]), others([v for v in values if v <= most])])


def dictionary(kind, entries, codes, codes_of=0):
    """codes: a column; codes_of: how many columns before this one has them, and `codes` are numbers."""
    rows = codes if isinstance(codes, list) else codes.numbers
    nulls = sum(bool(entries.nulls) and entries.absent[code] for code in rows)
    return Column(kind, DICTIONARY, len(rows), children=[entries] if codes_of else [entries, codes], flags=NULLABLE * bool(entries.nulls),
                  base=codes_of, nulls=nulls)


def tree(parents, child=lambda values: plain(U64, values)):
    """child: makes a column of the steps."""
    marks, steps = [0], []
    for i, parent in list(enumerate(parents))[1:]:
        marks.append(int(parent != i - 1))
        if marks[-1] and parent < i // 1024 * 1024:
            steps.append(parent + 1024)
        elif marks[-1]:
            at, n = i - 1, 0
            while at != parent:
                at, n = parents[at], n + 1
            steps.append(n - 1)
    return Column(U32, TREE, len(parents), [marked_section(marks)], [child(steps)])


def runs(kind, ends, values):
    return Column(kind, RUNS, ends[-1], children=[plain(U64, ends), values])


def named(name, column, ref=None):
    column.name, column.ref = name, ref
    return column


def varint(number):
    out = b""
    while number > 127:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


def folded(bits):
    """The number of a signed value, given as 64 bits."""
    return (bits << 1 ^ ALL * (bits >> 63)) & ALL


def record(fields):
    """A mask, and a number for each field that is not 0."""
    return varint(sum(1 << k for k, v in enumerate(fields) if v)) + b"".join(varint(v) for v in fields if v)


class Node:
    """A record with its name, and what hangs on it: columns of a table, sections and children of a column. Fields as in the file."""

    TABLE = "name_size rows column_count flags".split()
    COLUMN = "kind name_size flags ref_table range section_count base width rows child_count step scale null_count min".split()
    SECTION = "size role align codec raw_size flags".split()

    def __init__(self, kind, fields, name=b"", data=None):
        self.kind, self.fields, self.name, self.data, self.parts = kind, dict(zip(kind, fields)), name, data, []
        self.checksum, self.start, self.later = None, 0, b""

    def bytes(self):
        """later: numbers of a later version's fields, from bit 20 on."""
        fields = [self.fields[name] for name in self.kind]
        known = record(fields)
        if self.later:
            fields = [*fields, *[0] * (20 - len(fields)), *self.later]
            known = record(fields)
        return known + self.name + b"".join(part.bytes() for part in self.parts)

    def all(self):
        yield self
        for part in self.parts:
            yield from part.all()


def column_node(c, numbers, small):
    name = c.name.encode()
    node = Node(Node.COLUMN, [c.kind + 16 * c.encoding, len(name), c.flags, numbers.get(c.ref, 0), 0, len(c.sections), folded(c.base), c.width,
                              0 if name else c.rows, len(c.children), folded(c.step), max(c.scale - 1, 0), c.nulls, 0], name)
    for role, data, *rest in c.sections:
        codec, raw_size = rest or (0, len(data))
        align = 12 if len(data) >= 65536 else 6 if len(data) >= 4096 else small
        node.parts.append(Node(Node.SECTION, [len(data), role, align - 3, codec, 0 if raw_size == len(data) else raw_size, 0], data=data))
    node.parts += [column_node(child, numbers, small) for child in c.children]
    return node


HEADER = dict(magic="0Q", major="8H", minor="10H", header_size="12I", incompatible="16Q", read_only_compatible="24Q", compatible="32Q",
              file_size="40Q", index_offset="48Q", index_size="56Q", index_checksum="64Q", table_count="72I", column_count="76I",
              section_count="80I", records_size="84I", child_count="88I", reserved0="92H", checksum_algorithm="94B", reserved1="95B")


def assemble(tables, archive=None, header=(), trailing=b"", front=b"", tail=b""):
    """The bytes of a file of tables. header: fields to override; trailing: bytes after the last record; front: further bytes of
    the header; tail: bytes before the end mark."""
    nodes = [node for table in tables for node in table.all()]
    sections = [node for node in nodes if node.kind is Node.SECTION]
    columns = [node for node in nodes if node.kind is Node.COLUMN]
    sums = [xxh3(node.data) if node.checksum is None else node.checksum for node in sections]
    records = b"".join(table.bytes() for table in tables) + trailing
    index = struct.pack(f"<{len(sums)}Q", *sums) + records
    index += bytes(-len(index) % 8)
    stored = archive(index) if archive else index
    body, begin = b"", 128 + len(front) + len(stored)
    for node in sections:
        body += bytes(-(begin + len(body)) % (8 << node.fields["align"] if node.fields["align"] < 10 else 8))
        node.start = begin + len(body)
        body += node.data
    body += bytes(-(begin + len(body)) % 8) + tail
    size = begin + len(body) + 16
    fields = dict(magic=int.from_bytes(b"\x89PCOL\r\n\x1a", "little"), major=1, header_size=128 + len(front), file_size=size,
                  index_offset=128 + len(front), index_size=len(stored), index_checksum=xxh3(stored), table_count=len(tables),
                  column_count=len(columns), section_count=len(sections), records_size=len(records),
                  child_count=sum(not node.name for node in columns), checksum_algorithm=1, incompatible=int(archive is not None))
    fields.update(header)
    head = bytearray(128)
    for name, value in fields.items():
        struct.pack_into("<" + HEADER[name][-1], head, int(HEADER[name][:-1]), value)
    struct.pack_into("<Q", head, 120, xxh3(bytes(head[:120])))
    return bytes(head) + front + stored + body + struct.pack("<Q", size) + b"PCOLEND\n"


def write(tables, strings=(), small=6, archive=None):
    """The bytes of a file. tables: (name, flags, rows, [columns]); strings: those that string columns use, sorted; small: log2 of the
    alignment of small sections. archive: a function from the raw index to its bytes in the file."""
    if strings:
        tables = [("strings", 0, len(strings), [named("value", plain(BYTES, strings))])] + tables
    numbers, nodes = {table[0]: i + 1 for i, table in enumerate(tables)}, []
    for name, flags, rows, columns in tables:
        nodes.append(Node(Node.TABLE, [len(name.encode()), rows, len(columns), flags], name.encode()))
        nodes[-1].parts = [column_node(c, numbers, small) for c in columns]
    return assemble(nodes, archive)


# ---- valid files

def encodings():
    """Every type, plain with and without nulls; every encoding over three blocks of rows."""
    strings = sorted([b"", b"\\N", b"a", b"a\0b", b"tab\tline\nreturn\rback\\slash", b"\xff\xfe", "ü".encode(), b"z"])
    n = 12
    some = [None if i % 5 == 2 else i for i in range(n)]

    def mapped(function):
        return [None if i is None else function(i) for i in some]

    small = [
        named("i64", plain(I64, [(-1) ** i * 3 ** (i * 3) for i in range(n)])),
        named("i64_null", plain(I64, mapped(lambda i: -i))),
        named("i64_ends", plain(I64, [-2 ** 63, 2 ** 63 - 1] * 6)),
        named("u64", plain(U64, [2 ** 64 - 1 - i for i in range(n)])),
        named("f64", plain(F64, [0.0, -0.0, 0.1, 1e-5, 1e16, 1e15, 123456789.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308])),
        named("f64_null", plain(F64, mapped(lambda i: i / 3))),
        named("u32", plain(U32, [2 ** 32 - 1 - i for i in range(n)])),
        named("u32_null", plain(U32, mapped(lambda i: i * 1000))),
        named("string", plain(STRING, [i % 8 for i in range(n)])),
        named("string_null", plain(STRING, mapped(lambda i: i % 8))),
        named("bytes", plain(BYTES, [strings[i % 8] * (i % 3) for i in range(n)])),
        named("bytes_null", plain(BYTES, mapped(lambda i: strings[i % 8]))),
        named("bytes_empty", plain(BYTES, [b""] * n)),
        named("bool", plain(BOOL, [i % 3 == 0 for i in range(n)])),
        named("bool_null", plain(BOOL, mapped(lambda i: i % 2))),
        named("null_i64", linear(I64, n, null=True)),
        named("null_bytes", linear(BYTES, n, null=True)),
        named("null_f64", linear(F64, n, null=True)),
        named("pack_null", packed(I64, 3, 10, 100, [5, 0, 7, 2, 0, 0, 1, 0, 3, 4, 5, 6], some)),
        named("constant", linear(F64, n, double(2.5))),
    ]
    n = 2100
    mix = [i * 2654435761 % 2 ** 32 for i in range(n)]
    large = [
        named("linear", linear(I64, n, -7, 3)),
        named("linear_string", linear(STRING, n, 5)),
        named("packed_1", packed(BOOL, 1, 0, 1, [m >> 9 & 1 for m in mix])),
        named("packed_8", packed(U32, 8, 0, 1, [m & 255 for m in mix])),
        named("packed_13", packed(I64, 13, -4000, 5, [m & 8191 for m in mix])),
        named("packed_32", packed(U32, 32, 0, 1, mix)),
        named("packed_57", packed(U64, 57, 2 ** 63, 1, [m * m & (1 << 57) - 1 for m in mix])),
        named("packed_64", packed(I64, 64, 1, 1, [m * m & ALL for m in mix])),
        named("sparse", sparse(U32, n, {i for i in range(n) if mix[i] % 11 == 0 or i == 0},
                               plain(U32, [i // 2 for i in range(n) if mix[i] % 11 == 0 or i == 0]), -1, 1)),
        named("sparse_null", sparse(F64, n, set(range(1000, 1100)), plain(F64, [i / 8 for i in range(100)]), null=True)),
        named("sparse_f64", sparse(F64, n, {5, 2099}, linear(F64, 2, double(-1.5)), double(0.5))),
        named("sparse_packed", sparse(I64, n, set(range(0, n, 4)), packed(I64, 7, 0, 3, [m & 127 for m in mix[::4]]), 9)),
        named("sparse_sparse", sparse(I64, n, set(range(100, 2000)), sparse(I64, 1900, {7, 1500}, plain(I64, [-1, -2]), 4, 1), 0)),
        named("runs", runs(STRING, [3, 1024, 1025, 2100], plain(STRING, [6, 1, 0, 3]))),
        named("runs_f64", runs(F64, [2099, 2100], plain(F64, [math.nan, 0.5]))),
        named("runs_packed", runs(I64, [k * 21 for k in range(1, 101)], packed(I64, 5, -7, 1, [m & 31 for m in mix[:100]]))),
    ]
    return write([("x_small", 0, 12, small), ("x_blocks", 0, n, large), ("x_empty", 0, 0, [named("nothing", linear(I64, 0))])], strings)


def chains():
    """CHAIN and DELTAS over three blocks of rows, small sections at multiples of 8, and the examples of spec.md."""
    n = 2100
    mix = [i * 2654435761 % 2 ** 32 for i in range(n)]
    following = [(i * 7 + 3) % 40 for i in range(40)]
    walk = [5]
    for m in mix[1:]:
        walk.append(following[walk[-1]] if m >> 7 & 7 else m >> 11 & 31)
    heap = [2 ** 62]
    for m in mix[1:]:
        heap.append(heap[-1] + 56 * (m >> 20 & 15) if m & 31 else heap[-1] - (m >> 8))
    mixed = lambda kind: (lambda values: plain(kind, values))

    large = [
        named("chain", chain(U32, walk, following, lambda values: plain(U32, values))),
        named("chain_packed", chain(STRING, [w % 5 for w in walk], [1, 2, 3, 4, 0],
                                    lambda values: packed(STRING, 3, 0, 1, values))),
        named("chain_linear", chain(U32, [i % 64 for i in range(n)], list(range(1, 65)), lambda values: linear(U32, len(values)))),
        named("deltas", deltas(I64, heap, 0, 56 * 15, mixed(I64), lambda rises: packed(I64, 4, 0, 56, [r // 56 for r in rises]))),
        named("deltas_u64", deltas(U64, [h * 2 for h in heap], -2 ** 26, 2 ** 26, mixed(U64), mixed(I64))),
        named("deltas_constant", deltas(U32, [5 * i for i in range(n)], 5, 5, lambda values: linear(U32, len(values), 0, 320),
                                        lambda rises: linear(I64, len(rises), 5))),
        named("deltas_own", deltas(STRING, [m & 3 for m in mix], 9, 9, mixed(STRING), mixed(I64))),
    ]
    examples = [
        named("chain", chain(U32, [2, 5, 1, 2, 5, 5], [0, 0, 5, 0, 0, 1], lambda values: plain(U32, values))),
        named("deltas", deltas(I64, [100, 104, 109, 20, 23, 27], 3, 5, mixed(I64), lambda rises: packed(I64, 2, 3, 1, [r - 3 for r in rises]))),
    ]
    return write([("x_blocks", 0, n, large), ("x_examples", 0, 6, examples)], [b"", b"a", b"b", b"c", b"d"], small=3)


def dictionaries():
    """SPLIT and DICTIONARY over three blocks of rows, columns that share codes, and the examples of spec.md."""
    n = 2100
    mix = [i * 2654435761 % 2 ** 32 for i in range(n)]
    ranked = [min((m & 0xffff | 1 << 16).bit_length() - (m & 0xffff).bit_length(), 15) for m in mix]
    plainly = lambda kind: (lambda values: plain(kind, values))
    narrow = lambda kind, width: (lambda values: packed(kind, width, 0, 1, values))

    def codes(values, column):
        column.numbers = values
        return column

    def entries(kind, values):
        column = plain(kind, values)
        column.absent = [v is None for v in values]
        return column

    twice = split(U32, ranked, 1, lambda large: split(U32, large, 4, plainly(U32), narrow(U32, 3)), narrow(U32, 1))
    sizes = [m >> 8 & 7 if m & 31 else m for m in mix]
    large = [
        named("split", split(I64, sizes, 7, plainly(I64), narrow(I64, 3))),
        named("split_f64", split(F64, [v / 4 for v in sizes], 1, plainly(F64), plainly(F64))),
        named("split_string", split(STRING, [m & 3 for m in mix], 2, lambda values: linear(STRING, len(values), 3), narrow(STRING, 2))),
        named("split_all", split(I64, [5] * n, 4, lambda values: linear(I64, len(values), 5), lambda values: linear(I64, 0))),
        named("codes", dictionary(I64, entries(I64, [64, 32, -48, 2 ** 40, *range(100, 112)]), codes(ranked, twice))),
        named("shared_u64", dictionary(U64, packed(U64, 4, 2 ** 63, 5, list(range(16))), ranked, 1)),
        named("shared_null", dictionary(STRING, entries(STRING, [1, None, 0, 3] * 4), ranked, 2)),
        named("shared_f64", dictionary(F64, entries(F64, [0.5, math.nan, None, -0.0] * 4), ranked, 3)),
        named("few", dictionary(BOOL, entries(BOOL, [0, 1]), codes([m >> 5 & 1 for m in mix], sparse(U32, n, {i for i in range(n) if mix[i] >> 5 & 1},
              linear(U32, sum(m >> 5 & 1 for m in mix), 1))))),
        named("shared_bool", dictionary(BOOL, entries(BOOL, [None, 1]), [m >> 5 & 1 for m in mix], 1)),
        named("many", dictionary(U32, packed(U32, 8, 10 ** 6, 3, [m & 255 for m in mix[:1024]] + [0] * 76),
                                 codes([m % 1100 for m in mix], plain(U32, [m % 1100 for m in mix])))),
        named("runs", runs(I64, [k * 21 for k in range(1, 101)], dictionary(I64, entries(I64, [7, -7]), codes([0, 1] * 50, plain(U32, [0, 1] * 50))))),
    ]
    examples = [
        named("sizes", split(I64, [3, 1, 200, 0, 2], 3, plainly(I64), narrow(I64, 2))),
        named("count", dictionary(I64, entries(I64, [1, 1, 2]), codes([0, 1, 0, 2, 0], plain(U32, [0, 1, 0, 2, 0])))),
        named("size", dictionary(I64, entries(I64, [64, 32, 48]), [0, 1, 0, 2, 0], 1)),
    ]
    return write([("x_blocks", 0, n, large), ("x_examples", 0, 5, examples)], [b"", b"a", b"b", b"c"], small=3)


def rich():
    """Every table and column of spec.md section 6 but Rprof's: two sources, inlined lines, repeated types, doubles."""
    words = sorted([b"pprof", b"rprof", b"cpu.pb.gz", b"2026-01-02T03:04:05Z", b"cpu", b"nanoseconds", b"samples", b"count", b"heap", b"bytes",
                    b"main", b"f.g", b"inl", b"_Z3inlv", b"a.c", b"b.c", b"<GC>", b"thread 1", b"77", b"1234", b"prog", b"/bin/prog",
                    b"deadbeef", b"host", b"alpha", b"beta", b"note", b"", b"\xffraw", b"weight", b"ms", b"top.R"])

    def text(*values):
        return plain(STRING, [None if v is None else words.index(v) for v in values])

    def col(name, kind, *values, ref=None):
        return named(name, plain(kind, values), ref)

    tables = [
        ("sources", 0, 2, [named("type", text(b"pprof", b"rprof")), named("uri", text(b"cpu.pb.gz", None)),
                           named("timestamp", text(b"2026-01-02T03:04:05Z", None)), col("period", I64, 10000000, None),
                           named("period_type", text(b"cpu", None)), named("period_unit", text(b"nanoseconds", None)),
                           col("interval_ns", I64, None, 20000000), col("duration_ns", I64, 1500000000, None),
                           named("default_sample_type", text(b"cpu", None)), col("collapsed", BOOL, 0, 1)]),
        ("source_meta", 0, 3, [col("source", U32, 1, 0, 1, ref="sources"), named("key", text(b"host", b"note", b"note")),
                               named("value", text(b"alpha", b"\xffraw", b""))]),
        ("sample_types", 0, 4, [named("type", text(b"samples", b"cpu", b"cpu", b"heap")),
                                named("unit", text(b"count", b"nanoseconds", b"nanoseconds", b"bytes")),
                                col("level", BOOL, 0, 0, 0, 1), col("ordinal", U32, 0, 0, 1, 0)]),
        ("source_types", 0, 5, [col("source", U32, 0, 0, 0, 1, 1, ref="sources"), col("sample_type", U32, 2, 0, 1, 0, 3, ref="sample_types")]),
        ("functions", 0, 5, [named("name", text(b"main", b"f.g", b"inl", b"<GC>", b"main")),
                             named("system_name", text(None, None, b"_Z3inlv", None, None)),
                             named("filename", text(b"a.c", b"b.c", None, None, b"")), col("start_line", I64, 3, -4, None, None, 0),
                             col("id", U64, 2 ** 64 - 1, 0, None, None, 7)]),
        ("locations", 0, 8, [col("function", U32, 0, 2, 1, None, 3, 4, None, 1, ref="functions"),
                             col("line", I64, 10, 20, -5, None, None, 7, 12, 99), col("column", I64, None, 4, None, None, None, 0, None, -1),
                             named("filename", text(None, None, None, None, None, None, b"top.R", None))]),
        ("location_groups", 0, 6, [col("first_location", U32, 0, 1, 3, 4, 5, 6, ref="locations"),
                                   col("mapping", U32, 0, 0, None, None, 1, None, ref="mappings"),
                                   col("address", U64, 4096, 2 ** 64 - 1, None, 0, 5, None), col("folded", BOOL, 0, 1, 0, 0, 0, 0),
                                   col("id", U64, 1, 2 ** 63, None, None, None, None), col("file_number", I64, None, None, None, None, None, 1)]),
        ("mappings", 0, 2, [col("start", U64, 4096, 2 ** 64 - 4096), col("limit", U64, 8192, 2 ** 64 - 1), col("file_offset", U64, 0, 512),
                            named("filename", text(b"/bin/prog", None)), named("build_id", text(b"deadbeef", b"")),
                            col("has_functions", BOOL, 1, 0), col("has_filenames", BOOL, 1, 0), col("has_line_numbers", BOOL, 0, 1),
                            col("has_inline_frames", BOOL, 0, 1), col("id", U64, 1, 12345678901234567890)]),
        ("threads", 0, 1, [col("source", U32, 0, ref="sources"), named("name", text(b"thread 1")), named("tid", text(b"77")),
                           named("pid", text(b"1234")), named("process_name", text(b"prog"))]),
        ("stacks", 2, 8, [named("parent", sparse(U32, 8, {0, 4, 6, 7}, plain(U32, [0, 2, 0, 0]), -1, 1), "stacks"),
                          col("group", U32, 0, 0, 1, 3, 2, 4, 4, 5, ref="location_groups")]),
        ("samples", 0, 9, [named("source", runs(U32, [5, 9], plain(U32, [0, 1])), "sources"),
                           col("stack", U32, 3, 4, 2, 0, None, 5, 7, 3, 3, ref="stacks"),
                           named("thread", sparse(U32, 9, {0, 2}, plain(U32, [0, 0]), null=True), "threads"),
                           col("time", I64, 0, 1000000, 1234567, -5, None, None, 2 ** 53 + 1, 10 ** 17, 3),
                           col("duration", I64, 0, None, 10500000, None, None, None, None, None, None),
                           col("cpu_delta", I64, None, 700000, 0, None, None, None, None, None, None),
                           named("value.0", linear(I64, 9, 1)), col("value.1", I64, 10, -20, 2 ** 53 + 1, 0, -2 ** 63, None, None, None, None),
                           col("value.2", F64, 0.5, None, -0.0, 1e300, 0.1, None, None, None, None),
                           col("value.3", I64, None, None, None, None, None, 8, 16, None, 24),
                           named("text", text(None, None, None, None, None, b"note", None, None, None))]),
        ("stack_sums", 0, 6, [col("stack", U32, 0, 2, 3, 4, 5, 7, ref="stacks"), col("sum.0", I64, 1, 1, 3, 1, 1, 1),
                               col("sum.1", I64, 0, 2 ** 53 + 1, 10, -20, None, None), col("sum.2", F64, 1e300, 0.0, 0.5, None, None, None)]),
        ("sample_zones", 0, 2, [col("location_row", U64, 0, 26), col("value_row", U64, 0, 21)]),
    ]
    return write(tables, words)


def sums():
    """function_sums: two functions of one name, recursion, an inlined line, code that shows its binary, nothing at all, or no name."""
    words = sorted([b"pprof", b"samples", b"count", b"delta", b"main", b"sort", b"", b"a.c", b"b.c", b"top.R", b"/opt/bin/prog//"])

    def text(*values):
        return plain(STRING, [None if v is None else words.index(v) for v in values])

    def col(name, kind, *values, ref=None):
        return named(name, plain(kind, values), ref)

    tables = [
        ("sources", 0, 1, [named("type", text(b"pprof"))]),
        ("sample_types", 0, 2, [named("type", text(b"samples", b"delta")), named("unit", text(b"count", b"count"))]),
        ("functions", 0, 4, [named("name", text(b"main", b"main", b"sort", b"")), named("filename", text(b"a.c", b"b.c", b"a.c", None))]),
        ("locations", 0, 6, [col("function", U32, 0, 2, 1, 3, None, None, ref="functions"),
                             named("filename", text(None, None, None, None, b"top.R", None))]),
        ("location_groups", 0, 5, [col("first_location", U32, 0, 1, 3, 4, 5, ref="locations"), col("mapping", U32, 0, 0, 0, None, None, ref="mappings")]),
        ("mappings", 0, 1, [named("filename", text(b"/opt/bin/prog//"))]),
        # 1 main, 2 main main sort, 3 main main sort main, 4 main [prog], 5 (top.R), 6 (top.R) <unknown>
        ("stacks", 2, 7, [col("parent", U32, 0, 0, 1, 2, 1, 0, 5, ref="stacks"), col("group", U32, 0, 0, 1, 0, 2, 3, 4, ref="location_groups")]),
        ("samples", 0, 9, [col("stack", U32, 1, 2, 3, 4, 5, 6, 0, 3, None, ref="stacks"), col("value.0", I64, 1, 2, 4, 8, 16, 32, 64, 128, 256),
                           col("value.1", I64, 1, -1, None, None, None, None, None, None, None)]),
        ("function_sums", 0, 5, [col("location", U32, 0, 1, 3, 5, None, ref="locations"), col("self.0", I64, 133, 2, 8, 32, 80),
                                 col("total.0", I64, 143, 134, 8, 32, 80)]),
        ("sample_zones", 0, 2, [col("location_row", U64, 0, 17), col("value_row", U64, 0, 11)]),
    ]
    return write(tables, words)


def bare():
    """Functions known by nothing but an address: in one library, in two, in none, and names that only look like it."""
    library, long = b"/usr/lib/libc.so.6", b"/" + b"l" * 1001
    words = sorted([b"pprof", b"samples", b"count", b"main", b"0x9a03e", b"0x9A03F", b"0x", b"0x9a03g", b"0x0123456789abcdef0", b"0x10", b"0x11", b"0x12",
                    library, long, b"", b"prog", b"0x13"])

    def text(*values):
        return plain(STRING, [None if v is None else words.index(v) for v in values])

    def col(name, kind, *values, ref=None):
        return named(name, plain(kind, values), ref)

    names = [b"main", b"0x9a03e", b"0x9A03F", b"0x", b"0x9a03g", b"0x0123456789abcdef0", b"0x10", b"0x11", b"0x12", b"0x13", None]
    functions = [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, None, 9, 10]
    mapping = [1, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, None, 0]
    n = len(functions)
    tables = [
        ("sources", 0, 1, [named("type", text(b"pprof"))]),
        ("sample_types", 0, 1, [named("type", text(b"samples")), named("unit", text(b"count"))]),
        ("functions", 0, len(names), [named("name", text(*names))]),
        ("locations", 0, n, [col("function", U32, *functions, ref="functions")]),
        ("location_groups", 0, n, [col("mapping", U32, *mapping, ref="mappings"), col("address", U64, *[4096 + 16 * i for i in range(n)])]),
        ("mappings", 0, 4, [col("start", U64, 4096, 0, 0, 0), named("filename", text(library, b"prog", long, None))]),
        ("stacks", 2, n + 1, [col("parent", U32, 0, 0, *[1] * (n - 1), ref="stacks"), col("group", U32, 0, *range(n), ref="location_groups")]),
        ("samples", 0, n, [col("stack", U32, *range(1, n + 1), ref="stacks"), named("value.0", linear(I64, n, 1))]),
        ("sample_zones", 0, 2, [col("location_row", U64, 0, 2 * n - 1), col("value_row", U64, 0, n)]),
    ]
    return write(tables, words)


def labels():
    """Labels of most kinds, trees with every tag, source rows, and columns beyond the data model in every view."""
    words = sorted([b"perun", b"samples", b"count", b"location_groups", b"k", b"a\0b", b"k#2", b"", b"bytes", b"string", b"integer", b"double",
                    b"bigint", b"bool", b"null", b"empty", b"stack", b"frame", b"name", b"ownframe", b"function", b"x", b"y", b"-0",
                    b"36893488147419103232", b"f", b"g", b"hot", b"cold", b"doc", b"root", b"stacks", b"stackTable", b"prefix", b"i32",
                    b"t\xed\xa0\x80", b"\x08\x01", b"threads", b"own", b"[]"])

    def text(*values):
        return plain(STRING, [None if v is None else words.index(v) for v in values])

    def col(name, kind, *values, ref=None):
        return named(name, plain(kind, values), ref)

    def label(k, column, ref=None):
        return named(f"label.{k}", column, ref)

    key, kind = [b"k"] * 4, [b"string", b"string", b"integer", b"stack"]
    key += [b"a\0b", b"k#2", b"", b"d", b"big", b"flag", b"none", b"set", b"here", b"depth", b"function", b"tag"]
    kind += [b"integer", b"string", b"empty", b"double", b"bigint", b"bool", b"null", b"bool", b"frame", b"ownframe", b"name", b"string"]
    words = sorted({*words, *key})
    of = [b"samples"] * 14 + [b"location_groups"] * 2
    shapes = [[(3, 0), (0, 1), (2, 0)], [], [(None, 0), (4, 0), (None, 0)], [(13, 0), (1, 0)], [(14, 0), (15, 0)]]
    entries = [e for shape in shapes for e in shape]
    nodes = [  # parent, key, tag, integer, number, text, first
        (None, None, 8, None, None, None, None), (0, b"doc", 5, None, None, b"", None), (0, b"doc", 0, None, None, None, None),
        (0, b"k", 7, None, None, None, None), (3, None, 1, None, None, None, None), (3, None, 2, None, None, None, None),
        (3, None, 3, -2 ** 63, None, b"bytes", None), (3, None, 4, None, -0.0, None, None), (3, None, 6, None, None, b"36893488147419103232", None),
        (3, None, 9, 2, None, None, 1), (3, None, 10, 0, None, None, 0), (3, None, 11, None, None, b"\x08\x01", None),
        (0, b"root", 12, None, None, b"threads", None), (0, b"stack", 13, 2, 1.0, b"stacks", None),
        (None, None, 8, None, None, None, None), (14, b"x", 5, None, None, b"t\xed\xa0\x80", None), (14, b"y", 9, 1, None, None, 0),
        (None, None, 7, None, None, None, None)]
    node = list(zip(*nodes))
    tables = [
        ("sources", 0, 1, [named("type", text(b"perun")), named("doc_url", text(b"doc")), col("time_ns", I64, -1), col("extra", U64, 0, ref="nodes")]),
        ("sample_types", 0, 1, [named("type", text(b"samples")), named("unit", text(b"count"))]),
        ("functions", 0, 2, [named("name", text(b"f", b"g")), col("is_js", BOOL, 1, 0), col("category", U32, None, 1, ref="categories")]),
        ("categories", 0, 2, [named("name", text(b"cold", b"hot"))]),
        ("locations", 0, 3, [col("function", U32, 0, 1, 0, ref="functions"), col("category", U32, 0, None, 1, ref="categories")]),
        ("location_groups", 0, 2, [col("first_location", U32, 0, 2, ref="locations"), col("category", U32, None, 1, ref="categories"),
                                   label(15, text(None, b"x")), col("label_shape", U32, None, 4, ref="label_shapes"),
                                   col("extra", U64, 17, None, ref="nodes"), named("note", text(b"", None))]),
        ("stacks", 2, 3, [col("parent", U32, 0, 0, 1, ref="stacks"), col("group", U32, 0, 0, 1, ref="location_groups")]),
        ("samples", 0, 6, [
            col("stack", U32, 2, 1, None, 0, 2, 2, ref="stacks"), named("value.0", linear(I64, 6, 1)),
            label(0, text(b"x", None, None, b"", None, None)), label(1, text(None, None, None, b"y", b"x", None)),
            label(2, plain(I64, [5, None, None, 0, None, None])), label(3, plain(U32, [2, None, None, None, None, 0]), "stacks"),
            label(4, plain(I64, [None, None, -1, None, None, None])), label(5, text(None, None, None, b"own", None, None)),
            label(6, plain(BOOL, [None, None, None, 1, None, None])), label(7, plain(F64, [None, None, None, 0.1, None, None])),
            label(8, text(None, None, None, b"-0", None, None)), label(9, plain(BOOL, [None, None, None, 0, None, None])),
            label(10, plain(BOOL, [None, None, None, 1, None, None])), label(12, plain(U32, [None, None, None, 1, None, None]), "location_groups"),
            label(13, plain(U32, [None, None, None, None, 1, None])), col("label_shape", U32, 0, 1, 2, None, 3, None, ref="label_shapes"),
            col("extra", U64, None, None, 14, None, None, None, ref="nodes"), col("time_ms", F64, None, 0.1, None, None, None, None)]),
        ("sample_zones", 0, 2, [col("location_row", U64, 0, 11), col("value_row", U64, 0, 6)]),
        ("label_keys", 0, 16, [named("table", text(*of)), named("key", text(*key)), named("kind", text(*kind)),
                               named("unit", text(None, None, b"bytes", *[None] * 13)), col("occurrence", U32, 0, 1, *[0] * 14)]),
        ("label_shapes", 0, 5, [col("first_key", U64, *[sum(map(len, shapes[:i])) for i in range(5)])]),
        ("label_shape_keys", 0, len(entries), [col("label_key", U32, *[k for k, _ in entries], ref="label_keys"),
                                               col("joined", BOOL, *[j for _, j in entries])]),
        ("nodes", 2, len(nodes), [col("parent", U64, *node[0], ref="nodes"), named("key", text(*node[1])), col("tag", U32, *node[2]),
                                  col("integer", I64, *node[3]), col("number", F64, *node[4]), named("text", text(*node[5])),
                                  col("first", U64, *node[6])]),
        ("node_integers", 0, 3, [col("value", I64, 7, 8, 9)]),
        ("source_rows", 0, 4, [col("source", U32, 0, 0, 0, 0, ref="sources"), named("table", text(*[b"stackTable"] * 3, b"function")),
                               named("target", text(*[b"stacks"] * 3, b"location_groups")), col("ordinal", U64, 0, 1, 2, 0),
                               col("row", U64, 2, 1, 2, 1), col("id", U64, None, 2 ** 64 - 1, None, None)]),
        ("source_columns", 0, 1, [col("source", U32, 0, ref="sources"), named("table", text(b"stackTable")), named("column", text(b"prefix")),
                                  named("form", text(b"i32")), col("first_cell", U64, 0, ref="source_cells"), col("cells", U64, 7)]),
        ("source_cells", 0, 7, [col("kind", U32, *range(7)), col("integer", I64, *[None] * 3, 7, *[None] * 3),
                                col("number", F64, *[None] * 4, 0.5, *[None] * 2), named("text", text(*[None] * 5, b"x", b"[]"))]),
    ]
    return write(tables, words)


def stacks_only():
    """A sample with the empty stack, one without a stack; no locations at all."""
    words = [b"count", b"rprof", b"samples"]
    return write([
        ("sources", 0, 1, [named("type", plain(STRING, [1]))]),
        ("sample_types", 0, 1, [named("type", plain(STRING, [2])), named("unit", plain(STRING, [0]))]),
        ("stacks", 2, 1, [named("parent", linear(U32, 1), "stacks"), named("group", linear(U32, 1))]),
        ("samples", 0, 2, [named("stack", plain(U32, [0, None]), "stacks"), named("value.0", linear(I64, 2, 1))]),
        ("sample_zones", 0, 2, [named("location_row", linear(U64, 2)), named("value_row", linear(U64, 2, 0, 2))]),
    ], words)


def later():
    """A file of a later 1.x: higher minor, longer header, unknown fields, table, column, features, bytes after the records."""
    image = Image(write([("x_new", 0, 2, [named("a", plain(I64, [1, 2]))])]))
    for table in image.tables:
        for node in table.all():
            node.later = [5, 2 ** 64 - 1]
    image.header = dict(minor=7, compatible=1 << 40, read_only_compatible=2)
    image.trailing, image.front = b"\xee" * 11, b"\xdd" * 32
    return image.bytes()


# ---- archives

BLOCK, STORED, BARE = 131072, 1, 2


def deflate(data):
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def lz4(data):
    """An LZ4 block: the first bytes as literals, copies of them while they repeat, the rest as literals."""
    period = next((p for p in range(1, 65) if len(data) > 4 * p + 64 and data[:p] * 3 == data[p:4 * p]), 0)
    length = next((i for i in range(period, len(data)) if data[i] != data[i - period]), len(data)) - period - 12
    if not period or length < 4:
        return lz4_literals(data, None)
    return lz4_literals(data[:period], (period, length)) + lz4_literals(data[period + length:], None)


def lz4_literals(data, copy):
    def more(value):
        return b"" if value < 15 else b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255])

    length = copy[1] - 4 if copy else 0
    token = bytes([min(15, len(data)) << 4 | min(15, length)])
    return token + more(len(data)) + data + (struct.pack("<H", copy[0]) + more(length) if copy else b"")


def fold(value, width):
    value &= (1 << 8 * width) - 1
    sign = value >> 8 * width - 1
    return (value << 1 & (1 << 8 * width) - 1) ^ ((1 << 8 * width) - 1) * sign


def spread(numbers, width):
    return b"".join(bytes(n >> 8 * k & 255 for n in numbers) for k in range(width))


def transformed(t, width, data):
    """The streams of a section's blocks, for the transforms that need no tree."""
    for start in range(0, len(data), BLOCK):
        block = data[start:start + BLOCK]
        numbers = [int.from_bytes(block[i:i + width], "little") for i in range(0, len(block), width)]
        differences = [fold(b - a, width) for a, b in zip([0] + numbers, numbers)]
        yield (block, spread(numbers, width), b"".join(varint(n if width == 4 else fold(n, 8)) for n in numbers),
               b"".join(map(varint, differences)), spread(differences, width))[t]


def tree_stream(t, parents, values, first=0, end=None):
    """The stream of a block of a column of a tree: rows [first, end)."""
    out, known, outer = b"", {}, first - 1
    for row in range(max(first, 1), end or len(parents)):
        if t == 5:
            steps, at = 0, row - 1
            while at != parents[row] and at >= first:
                steps, at = steps + 1, parents[at]
            out += varint(steps) if at == parents[row] else varint(steps + 1) + varint(outer - parents[row])
            outer = outer if parents[row] >= first else parents[row]
            continue
        followers = known.setdefault(values[parents[row]] if parents[row] >= first else None, [])
        if values[row] in followers:
            out += varint(followers.index(values[row]))
        else:
            out += varint(len(followers) + values[row])
            followers.append(values[row])
    return out


def blocks(codec, streams, heads=()):
    out = entries = b""
    for i, stream in enumerate(streams):
        head = heads[i] if i < len(heads) else 0
        block = bytes([head]) + (stream if head & STORED else deflate(stream) if codec == 1 else lz4(stream))
        out += block
        entries += struct.pack("<2Q", len(out), xxh3(block))
    return out + entries * (len(entries) > 16)


def frozen(column, codec, t=0, streams=None, heads=()):
    """The column with its VALUES or DATA compressed."""
    width = 4 if column.kind in (U32, STRING) else 8
    role, data = next((r, d) for r, d in column.sections if r in (VALUES, DATA_BYTES))
    made = blocks(codec, streams or transformed(t, width, data), heads)
    column.sections = [(r, made, codec + 16 * t, len(data)) if r == role else (r, d) for r, d in column.sections]
    return column


def tree_tables(parents, groups):
    """Tables around a tree of stacks, and its two columns under the transforms of trees."""
    count, n = max(groups) + 1, len(parents)
    parent = frozen(plain(U32, parents), 1, 5, [tree_stream(5, parents, groups, i, min(n, i + BLOCK // 4)) for i in range(0, n, BLOCK // 4)])
    group = frozen(plain(U32, groups), 2, 6, [tree_stream(6, parents, groups)])
    return [("functions", 0, count, [named("name", linear(STRING, count))]),
            ("locations", 0, count, [named("function", linear(U32, count, 0, 1), "functions")]),
            ("location_groups", 0, count, []),
            ("stacks", 2, len(parents), [named("parent", parent, "stacks"), named("group", group, "location_groups")])]


def archive_tables():
    n = 200
    mixed = [(-1) ** i * i ** 4 for i in range(n)]
    rising = [10 ** 12 + 1000 * i + i * i % 7 for i in range(n)]
    parents, groups = [0], [0]
    for row in range(1, 300):
        at = row - 1
        for _ in range(row * 7919 % 5 % 3):
            at = parents[at]
        groups.append((groups[at] + 1 + parents[1:].count(at)) % 40)
        parents.append(at)
    strings = sorted(b"name %d" % (i * i) for i in range(40))
    columns = [named(f"{name}_{codec}_{t}", frozen(plain(kind, values), codec, t)) for codec in (1, 2) for t in range(5)
               for name, kind, values in (("i64", I64, mixed), ("rising", U64, rising), ("u32", U32, [i * 2654435761 % 2 ** 32 for i in range(n)]),
                                          ("f64", F64, [i / 8 for i in range(n)]))]
    columns += [named("stored", frozen(plain(I64, mixed), 1, 3, heads=[STORED])),
                named("bare", frozen(plain(I64, [7] * n), 2, 3, [struct.pack("<q", 7) * n], [BARE])),
                named("raw", plain(I64, mixed)),
                named("null", frozen(plain(I64, [None if i % 7 else i for i in range(n)]), 1, 2))]
    text = plain(STRING, [i % 40 for i in range(n)])
    table = [("x_kinds", 0, n, columns + [named("text", frozen(text, 1, 3))]),
             ("x_bytes", 0, n, [named("bytes", frozen(plain(BYTES, [b"ab" * (i % 9) for i in range(n)]), 2))])]
    return tree_tables(parents, groups) + table, strings


def archive():
    """Every transform under both codecs, blocks that are stored or bare."""
    tables, strings = archive_tables()
    return write(tables, strings, 3, deflate)


def archive_blocks():
    """Columns of several blocks: a tree of which the second block goes on where the first one ends, and numbers."""
    parents, groups, path, calls, state = [0], [0], [0], {}, 1
    for row in range(1, BLOCK // 4 + 300):
        state = (state * 1103515245 + 12345) % 2 ** 31
        del path[max(1, len(path) - 2 * (state >> 20) // 2000) if row % 5000 else 3:]
        calls[path[-1]] = calls.get(path[-1], 0) + 1
        parents.append(path[-1])
        groups.append((path[-1] + calls[path[-1]]) % 20)
        path.append(row)
    n = BLOCK // 8 + 50
    columns = [named(name, frozen(plain(I64, [i * i // 90000 for i in range(n)]), 1, t)) for name, t in (("bytes", 1), ("varint", 2))]
    return write(tree_tables(parents, groups) + [("x_numbers", 0, n, columns)], (b"",), 3, deflate)


def all_pressed(name):
    """A valid file as an archive of which every section is compressed, by either codec in turn."""
    image = Image((FOLDER / "valid" / f"{name}.pcol").read_bytes())
    sections = [node for table in image.tables for node in table.all() if node.kind is Node.SECTION]
    for i, node in enumerate(sections):
        codec, t = 1 + i % 2, 0
        node.fields.update(codec=codec + 16 * t, raw_size=len(node.data), align=0)
        node.data = blocks(codec, [node.data], [STORED] if i % 7 == 3 else [])
        node.fields.update(size=len(node.data), raw_size=0 if node.fields["raw_size"] == len(node.data) else node.fields["raw_size"])
    return assemble(image.tables, deflate)


def archive_faults():
    """name -> a damaged archive: tables with one column of which something is wrong, or the index."""
    numbers = list(range(0, 3000, 3))
    values = struct.pack("<1000q", *numbers)
    deltas = next(transformed(3, 8, values))
    parents, groups = [0, 0, 1, 2, 0], [0, 1, 2, 1, 2]

    def one(column, pack=deflate):
        return write([("x_kinds", 0, column.rows, [named("a", column)])], (), 3, pack)

    def section(data, codec, raw_size=8000, kind=I64, rows=1000):
        return Column(kind, PLAIN, rows, [(VALUES, data, codec, raw_size)])

    def tree(t, stream, heads=()):
        tables = tree_tables(parents, groups)
        column = tables[-1][3][t - 5]
        column.sections = [(VALUES, blocks(1, [stream], heads), 1 + 16 * t, 20)]
        return write(tables, (b"",), 3, deflate)

    squares = bytes(i * i // 7 % 127 for i in range(17000))
    two = blocks(1, [squares[:BLOCK // 8], squares[BLOCK // 8:]])

    def several(*changes):
        """Two blocks; changes: (place from the end, number)."""
        made = bytearray(two)
        for at, number in changes:
            struct.pack_into("<Q", made, len(made) - at, number)
        return one(section(bytes(made), 33, 136000, I64, 17000))

    good, end = blocks(1, [deltas]), len(two) - 32
    return {
        "entry-checksum": several((24, 1)),
        "entry-empty": several((32, 0)),
        "entry-beyond": several((32, 2 ** 60)),
        "entry-back": several((32, end), (16, end - 5)),
        "entry-short": several((16, end - 1)),
        "entries-cut": one(section(two[:31], 33, 8000 * 4, I64, 4000)),
        "entries-alone": one(section(two[-160:], 33, 136000, I64, 17000)),
        "index-cut": one(section(good, 49), lambda index: deflate(index)[:-1]),
        "index-short": one(section(good, 49), lambda index: deflate(index[:-8])),
        "index-long": one(section(good, 49), lambda index: deflate(index + bytes(8))),
        "index-bomb": one(section(good, 49), lambda index: b"\0"),
        "codec-unknown": one(section(good, 3)),
        "transform-unknown": one(section(good, 1 + 16 * 7)),
        "transform-of-bool": one(Column(BOOL, PLAIN, 8, [(VALUES, good, 1 + 16, 1)])),
        "transform-of-tree": one(section(good, 1 + 16 * 5)),
        "raw-size": one(section(good, 49, 8008)),
        "raw-size-bomb": one(section(b"\0" * 8, 1, 8 * 10 ** 9, I64, 10 ** 9)),
        "raw-size-0": one(section(good, 49, 0)),
        "block-cut": one(section(good[:-1], 49)),
        "block-long": one(section(good + b"\0", 49)),
        "block-empty": one(section(good[:1], 49, 800, I64, 100)),
        "block-flags": one(section(b"\4" + good[1:], 49)),
        "block-deflate": one(section(good[:1] + b"\xff" * (len(good) - 1), 49)),
        "block-two-streams": one(section(good + good[1:], 49)),
        "lz4-offset": one(section(b"\0\x1fa\x09\x00" + b"\xff" * 4 + b"\0", 2)),
        "lz4-bomb": one(section(b"\0\x1fa\x01\x00" + b"\xff" * 7995 + b"\0", 2)),
        "stream-cut": one(section(blocks(1, [deltas[:-1]]), 49)),
        "stream-long": one(section(blocks(1, [deltas + b"\0"]), 49)),
        "stream-size": one(section(blocks(1, [values[:-8]]), 17)),
        "varint-long": one(section(blocks(1, [b"\x80" * 10 + b"\1" + deltas]), 49)),
        "varint-beyond-u32": one(section(blocks(1, [varint(2 ** 32) + bytes(999)]), 33, 4000, U32)),
        "parent-above-root": tree(5, b"\0\0\0\4"),
        "parent-outside": tree(5, b"\0\0\0\5\1"),
        "parent-bare": tree(5, struct.pack("<5I", *parents), [BARE]),
        "rank-beyond": tree(6, varint(2 ** 40) + b"\0\0\0"),
        "rank-cut": tree(6, b"\1\2\1"),
        "undeclared": write([("x_kinds", 0, 1000, [named("a", section(good, 49))])], (), 3),
    }


def fronts():
    """FRONT: a pool of three blocks, children of other encodings, rows of a few bytes, the example of spec.md."""
    pool = sorted({b"", b"\0", b"\xff", b"\xff\0"} | {b"pkg/%d.(*T).Method%d" % (i % 7, i * i) for i in range(150)} | {b"long" * 70 + bytes([i]) for i in range(9)})
    n = len(pool)
    words = [b"a", b"ab", b"abc", b"b", b"bcd"]
    return write([("strings", 0, n, [named("value", front(pool))]),
                  ("x_small", 0, 5, [named("words", front(words, lambda v: packed(U64, max(v).bit_length(), 0, 1, v),
                                                          lambda v: packed(U32, 2, 0, 1, v)))]),
                  ("x_one", 0, 1, [named("empty", front([b""])), named("text", front([b"text"]))]),
                  ("x_named", 0, n, [named("up", linear(STRING, n, 0, 1)), named("down", linear(STRING, n, n - 1, -1))]),
                  ("x_example", 0, 4, [named("path", front([b"src/fmt/print.go", b"src/fmt/scan.go", b"src/io/io.go", b"src/io/pipe.go"]))])])


def trees():
    """TREE over three blocks, whose second one returns to rows of the first; a short one; the example of spec.md."""
    n, parents = 2100, [0]
    for i in range(1, n):
        at = i - 1
        for _ in range(i * 2654435761 % 2 ** 32 >> 11 & 7 if i * 40503 % 65536 >> 9 & 1 else 0):
            at = parents[at]
        parents.append(0 if i in (1300, 1900) else at)
    example = [0, 0, 1, 2, 1, 0, 5, 6, 6, 5]
    return write([("x_blocks", 2, n, [named("parent", tree(parents), "x_blocks"), named("deltas", tree(parents, lambda v: deltas(
        U64, v, -3, 4, lambda w: plain(U64, w), lambda w: packed(I64, 3, -3, 1, [x + 3 for x in w]))), "x_blocks")]),
                  ("x_example", 2, len(example), [named("parent", tree(example, lambda v: packed(U64, 2, 0, 1, v)), "x_example")]),
                  ("x_two", 2, 2, [named("parent", tree([0, 0], lambda v: linear(U64, 0)), "x_two")])])


# ---- faults

class Image:
    """A file in parts that can be changed; bytes() puts them together again, with right checksums."""

    def __init__(self, data):
        self.data, self.tables, self.header, self.trailing, self.front, self.tail = data, [], {}, b"", b"", b""
        tables, _, sections = struct.unpack_from("<3I", data, 72)
        index, size = struct.unpack_from("<2Q", data, 48)
        self.at, self.section_end = index + 8 * sections, index + size
        for _ in range(tables):
            table = self.node(Node.TABLE)
            table.parts = [self.column() for _ in range(table.fields["column_count"])]
            self.tables.append(table)
        self.records = self.at - index - 8 * sections

    def count(self, kind):
        return struct.unpack_from("<I", self.data, int(HEADER[f"{kind}_count"][:-1]))[0]

    def number(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            number, shift, self.at = number | (byte & 127) << shift, shift + 7, self.at + 1
            if byte < 128:
                return number

    def node(self, kind):
        mask = self.number()
        node = Node(kind, [self.number() if mask >> k & 1 else 0 for k in range(len(kind))])
        size = node.fields.get("name_size", 0)
        node.name, self.at = self.data[self.at:self.at + size], self.at + size
        return node

    def column(self):
        column = self.node(Node.COLUMN)
        for _ in range(column.fields["section_count"]):
            section = self.node(Node.SECTION)
            self.section_end += -self.section_end % (8 << section.fields["align"])
            section.start, self.section_end = self.section_end, self.section_end + section.fields["size"]
            section.data = self.data[section.start:self.section_end]
            column.parts.append(section)
        column.parts += [self.column() for _ in range(column.fields["child_count"])]
        return column

    def table(self, name):
        return next(t for t in self.tables if t.name == name.encode())

    def find(self, table, name="", role=0):
        """The node of a table, a column (`parent/0` is child 0 of parent) or a section."""
        node = self.table(table)
        for part in name.split("/") if name else ():
            columns = [p for p in node.parts if p.kind is Node.COLUMN]
            node = columns[int(part)] if part.isdigit() else next(c for c in columns if c.name == part.encode())
        return next(p for p in node.parts if p.kind is Node.SECTION and p.fields["role"] == role) if role else node

    def bytes(self):
        return assemble(self.tables, None, self.header, self.trailing, self.front, self.tail)


def faults():
    """name -> bytes of each damaged file."""
    base, enc, steps, totals, words, codes, wood, marks = ((FOLDER / "valid" / f"{name}.pcol").read_bytes()
                                              for name in ("rich", "encodings", "chains", "sums", "fronts", "dictionaries", "trees", "labels"))
    made = {}

    def case(name, change, source=base):
        image = Image(source)
        change(image)
        made[name] = image.bytes()

    def raw(name, data):
        made[name] = bytes(data)

    def header(name, field, value):
        case(name, lambda m: m.header.update({field: value}))

    def put(name, where, field, value, source=base):
        """A field of a record set to another number; type and encoding are one."""
        def change(m):
            node = m.find(*where)
            kind = node.fields.get("kind", 0)
            whole = {"type": kind // 16 * 16 + value, "encoding": kind % 16 + 16 * value}
            node.fields["kind" if field in whole else field] = whole.get(field, value)
        case(name, change, source)

    def cell(name, where, offset, data, source=base):
        def change(m):
            node = m.find(*where)
            node.data = node.data[:offset] + data + node.data[offset + len(data):]
        case(name, change, source)

    def flipped(at):
        data = bytearray(base)
        data[at] ^= 1
        return data

    def word(name, where, row, text, source):
        """A text in place of the row's own."""
        strings = Image(source).find("strings", "value")
        offsets = strings.parts[1].parts[0].data
        places = struct.unpack(f"<{len(offsets) // 8}Q", offsets)
        words = [strings.parts[0].data[a:b] for a, b in zip(places, places[1:])]
        cell(name, (*where, VALUES), 4 * row, struct.pack("<I", words.index(text)), source)

    def start(*where):
        return Image(base).find(*where).start

    size = len(base)
    raw("empty", b"")
    raw("magic-text-mode", base.replace(b"\r\n", b"\n", 1))
    raw("magic-wrong", b"PAR1" + base[4:])
    raw("cut-in-magic", base[:5])
    raw("cut-in-header", base[:100])
    raw("cut-in-index", base[:300])
    raw("cut-in-sections", base[:size // 2 // 64 * 64])
    raw("cut-last-byte", base[:-1])
    raw("grown", base + b"\0")
    raw("flip-header", flipped(84))
    raw("flip-header-reserved", flipped(100))
    raw("flip-index", flipped(128 + 8))
    raw("flip-section", flipped(start("samples", "value.1", VALUES)))
    raw("flip-padding", flipped(start("samples", "value.1", VALUES) - 1))
    raw("flip-end-mark", flipped(size - 1))
    header("version-2", "major", 2)
    header("feature-unknown", "incompatible", 1 << 17)
    header("checksum-algorithm", "checksum_algorithm", 9)
    header("header-size", "header_size", 64)
    header("index-offset-beyond", "index_offset", size + 8)
    header("index-offset-huge", "index_offset", 2 ** 64 - 8)
    header("index-size", "index_size", 8)
    header("tables-too-many", "table_count", 5000)
    header("children-too-many", "child_count", 1000)
    header("children-fewer", "child_count", 1)
    header("columns-more", "column_count", Image(base).count("column") + 1)
    header("sections-fewer", "section_count", 1)
    header("records-cut", "records_size", Image(base).records - 8)
    header("records-none", "records_size", 4)
    header("reserved", "reserved1", 1)
    case("end-mark-away", lambda m: setattr(m, "tail", bytes(64)))
    put("string-refers", ("functions", "name"), "ref_table", 1)
    raw("end-mark-size", base[:-16] + struct.pack("<Q", size + 8) + base[-8:])
    put("table-name-outside", ("samples",), "name_size", 255)
    put("table-name-empty", ("samples",), "name_size", 0)

    def twice(m):
        node, other = m.table("threads"), m.table("stacks")
        node.name, node.fields["name_size"] = other.name, other.fields["name_size"]

    case("table-name-twice", twice)
    put("table-rows-huge", ("samples",), "rows", 2 ** 60)
    put("table-columns-outside", ("sample_zones",), "column_count", 60000)
    put("table-columns-beyond-u32", ("sample_zones",), "column_count", 2 ** 32)
    put("table-flag-unknown", ("locations",), "flags", 0x100)
    put("column-must-understand", ("samples", "text"), "flags", 2 | NULLABLE)
    put("table-must-understand", ("locations",), "flags", 1)
    put("column-rows", ("samples", "time"), "rows", 8)
    put("column-ref-outside", ("samples", "stack"), "ref_table", 99)
    put("column-type-unknown", ("samples", "stack"), "type", 15)
    put("column-encoding-unknown", ("samples", "stack"), "encoding", 66)
    put("column-encoding-other", ("samples", "stack"), "encoding", LINEAR)
    put("column-sections-outside", ("samples", "time"), "section_count", 255)
    put("column-children-outside", ("stacks", "parent"), "child_count", 200)
    put("column-null-count", ("samples", "stack"), "null_count", 2)
    put("child-with-name", ("stacks", "parent/0"), "name_size", 1)

    def nested(m):
        node = m.find("x_blocks", "sparse_sparse/0/0")
        for _ in range(2):
            child = Node(Node.COLUMN, [I64 + 16 * LINEAR] + [0] * 13)
            node.parts, node.fields["child_count"] = [*node.parts, child], 1
            node = child

    case("children-too-deep", nested, enc)
    case("field-unknown", lambda m: setattr(m.table("samples"), "later", [1]))
    case("records-long", lambda m: setattr(m, "trailing", b"\0"))

    def long_number(m):
        m.table("samples").later = [0]
        m.table("samples").bytes = lambda: b"\xff" * 10 + b"\1"

    case("number-too-long", long_number)
    put("packed-width-58", ("x_blocks", "packed_57"), "width", 58, enc)
    put("packed-width-0", ("x_blocks", "packed_1"), "width", 0, enc)
    put("packed-scale-0", ("x_blocks", "packed_13"), "scale", ALL, enc)
    put("packed-step", ("x_blocks", "packed_13"), "step", 2, enc)
    put("f64-step", ("x_small", "constant"), "step", 2, enc)
    put("f64-step-of-plain", ("x_small", "f64"), "step", 2, enc)
    put("unused-width", ("x_small", "f64"), "width", 8, enc)
    put("unused-scale", ("x_blocks", "linear"), "scale", 1, enc)
    put("unused-base", ("x_blocks", "runs_f64"), "base", 1, enc)
    put("unused-step", ("x_small", "i64"), "step", 2, enc)
    put("null-by-default-base", ("x_small", "null_i64"), "base", 1, enc)
    put("ascending-doubles", ("x_small", "constant"), "flags", ASCENDING, enc)
    put("stats-of-nulls", ("x_small", "null_i64"), "flags", NULLABLE | STATS | DEFAULT_NULL, enc)
    put("section-beyond-file", ("samples", "time", VALUES), "size", 1 << 40)
    put("section-size-huge", ("samples", "time", VALUES), "size", 2 ** 64 - 64)
    put("section-size-other", ("samples", "time", VALUES), "size", 64)
    put("section-size-0", ("samples", "time", VALUES), "size", 0)
    put("section-align-27", ("samples", "time", VALUES), "align", 27)
    put("section-align-28", ("samples", "time", VALUES), "align", 28)
    put("section-raw-size", ("samples", "time", VALUES), "raw_size", 64)
    put("section-flag-unknown", ("samples", "time", VALUES), "flags", 2)
    put("section-role-unknown", ("samples", "time", VALUES), "role", 55)
    put("section-codec-unknown", ("samples", "time", VALUES), "codec", 3)
    case("checksum-of-section", lambda m: setattr(m.find("samples", "value.1", VALUES), "checksum", 1))
    cell("parent-not-before", ("stacks", "parent/0", VALUES), 4, struct.pack("<I", 6))
    cell("parent-is-itself", ("stacks", "parent/0", VALUES), 12, struct.pack("<I", 7))
    cell("group-outside", ("stacks", "group", VALUES), 4 * 3, struct.pack("<I", 6))
    cell("first-location-falls", ("location_groups", "first_location", VALUES), 4 * 2, struct.pack("<I", 1))
    cell("first-location-outside", ("location_groups", "first_location", VALUES), 4 * 5, struct.pack("<I", 8))
    cell("function-outside", ("locations", "function", VALUES), 0, struct.pack("<I", 5))
    cell("stack-outside", ("samples", "stack", VALUES), 0, struct.pack("<I", 8))
    cell("source-outside", ("samples", "source/1", VALUES), 4, struct.pack("<I", 2))
    cell("string-outside", ("functions", "name", VALUES), 0, struct.pack("<I", 1000))
    cell("string-offsets-fall", ("strings", "value/0", VALUES), 8 * 3, struct.pack("<Q", 2 ** 40))
    cell("strings-unsorted", ("strings", "value", DATA_BYTES), 0, b"~")
    cell("zone-wrong", ("sample_zones", "location_row", VALUES), 8, struct.pack("<Q", 20))
    cell("sum-wrong", ("stack_sums", "sum.0", VALUES), 0, struct.pack("<q", 5))
    cell("function-sum-self", ("function_sums", "self.0", VALUES), 0, struct.pack("<q", 134), totals)
    cell("function-sum-total", ("function_sums", "total.0", VALUES), 0, struct.pack("<q", 144), totals)
    cell("function-sum-negative", ("function_sums", "self.0", VALUES), 24, struct.pack("<q", -32), totals)
    cell("function-sum-locations", ("function_sums", "location", VALUES), 8, struct.pack("<I", 2), totals)
    cell("validity-tail", ("samples", "stack", VALIDITY), 1, b"\xff")
    cell("sibling-twice", ("stacks", "group", VALUES), 4 * 4, struct.pack("<I", 3))
    cell("rank-wrong", ("x_blocks", "sparse", MARKS), 128, struct.pack("<Q", 2 ** 40), enc)
    cell("runs-fall", ("x_blocks", "runs/0", VALUES), 8, struct.pack("<Q", 2), enc)
    cell("runs-short", ("x_blocks", "runs/0", VALUES), 24, struct.pack("<Q", 2000), enc)
    put("chain-of-wide", ("x_blocks", "chain"), "type", U64, steps)
    put("chain-successors-sparse", ("x_blocks", "chain/1"), "encoding", SPARSE, steps)
    cell("chain-not-marked", ("x_blocks", "chain", MARKS), 8, b"\0", steps)
    cell("chain-without-successor", ("x_blocks", "chain/1", VALUES), 4 * 3, struct.pack("<I", 40), steps)
    cell("chain-rank", ("x_blocks", "chain", MARKS), 128, struct.pack("<Q", 0), steps)
    put("deltas-successors-sparse", ("x_blocks", "deltas/1"), "encoding", SPARSE, steps)
    put("deltas-of-doubles", ("x_blocks", "deltas"), "type", F64, steps)
    put("deltas-too-few", ("x_blocks", "deltas_u64/1"), "rows", 3, steps)
    put("deltas-of-wide", ("x_blocks", "deltas/1"), "type", U64, steps)
    cell("deltas-not-marked", ("x_blocks", "deltas", MARKS), 8, b"\0", steps)
    cell("deltas-rank", ("x_blocks", "deltas", MARKS), 128, struct.pack("<Q", 0), steps)
    cell("deltas-rank-high", ("x_blocks", "deltas_constant", MARKS), 128, struct.pack("<Q", 2 ** 40), steps)
    cell("types-same", ("sample_types", "ordinal", VALUES), 8, struct.pack("<I", 0))
    case("sums-missing", lambda m: setattr(m.find("stack_sums", "sum.0"), "name", b"x_m.0"))
    case("sums-of-wide", lambda m: m.find("stack_sums", "sum.2").fields.update(kind=I64))
    case("type-null", lambda m: m.find("sources", "type").fields.update(flags=NULLABLE | DEFAULT_NULL, kind=STRING + 16 * LINEAR, section_count=0, null_count=2)
         or setattr(m.find("sources", "type"), "parts", []))
    raw("source-cells-without-kind", write([("source_cells", 0, 1, [named("integer", linear(I64, 1, 5))])]))
    case("function-sums-missing", lambda m: setattr(m.find("function_sums", "self.0"), "name", b"x_lf.0"), totals)
    cell("function-sums-overflow", ("samples", "value.0", VALUES), 8 * 2, struct.pack("<q", 2 ** 63 - 1), totals)
    word("label-kind-of-frames", ("label_keys", "kind"), 0, b"name", marks)
    word("label-kind-unknown", ("label_keys", "kind"), 2, b"x", marks)
    word("label-kind-other", ("label_keys", "kind"), 0, b"integer", marks)
    word("label-key-of-no-table", ("label_keys", "table"), 0, b"threads", marks)
    word("label-key-twice", ("label_keys", "kind"), 1, b"integer", marks)
    cell("label-occurrence", ("label_keys", "occurrence", VALUES), 4, struct.pack("<I", 0), marks)
    cell("label-stack-outside", ("samples", "label.3", VALUES), 0, struct.pack("<I", 3), marks)
    cell("label-frame-outside", ("samples", "label.12", VALUES), 12, struct.pack("<I", 2), marks)
    cell("shape-key-outside", ("label_shape_keys", "label_key", VALUES), 0, struct.pack("<I", 16), marks)
    cell("shape-first-falls", ("label_shapes", "first_key", VALUES), 16, struct.pack("<Q", 1), marks)
    cell("extra-outside", ("samples", "extra", VALUES), 16, struct.pack("<Q", 18), marks)
    cell("node-parent-later", ("nodes", "parent", VALUES), 8, struct.pack("<Q", 2), marks)
    cell("node-tag-unknown", ("nodes", "tag", VALUES), 8, struct.pack("<I", 99), marks)
    cell("node-array-outside", ("nodes", "first", VALUES), 8 * 9, struct.pack("<Q", 2), marks)
    cell("node-array-long", ("nodes", "integer", VALUES), 8 * 9, struct.pack("<q", 4), marks)
    cell("node-array-negative", ("nodes", "integer", VALUES), 8 * 9, struct.pack("<q", -1), marks)
    cell("node-row-outside", ("nodes", "integer", VALUES), 8 * 13, struct.pack("<q", 3), marks)
    word("node-row-of-no-table", ("nodes", "text"), 13, b"function", marks)
    cell("label-frame-too-deep", ("samples", "label.13", VALUES), 4 * 4, struct.pack("<I", 2), marks)
    cell("label-occurrence-beyond", ("label_keys", "occurrence", VALUES), 4, struct.pack("<I", 16), marks)
    cell("source-cell-kind", ("source_cells", "kind", VALUES), 0, struct.pack("<I", 7), marks)
    cell("source-cell-empty", ("source_cells", "kind", VALUES), 0, struct.pack("<I", 3), marks)
    cell("source-cells-beyond", ("source_columns", "cells", VALUES), 0, struct.pack("<Q", 8), marks)
    cell("source-row-outside", ("source_rows", "row", VALUES), 0, struct.pack("<Q", 3), marks)
    cell("source-row-ordinal", ("source_rows", "ordinal", VALUES), 8, struct.pack("<Q", 2), marks)
    cell("category-outside", ("functions", "category", VALUES), 4, struct.pack("<I", 2), marks)
    cell("mapping-outside", ("location_groups", "mapping", VALUES), 0, struct.pack("<I", 2))
    cell("thread-outside", ("samples", "thread/0", VALUES), 0, struct.pack("<I", 1))
    cell("meta-source-outside", ("source_meta", "source", VALUES), 0, struct.pack("<I", 2))
    cell("source-type-outside", ("source_types", "sample_type", VALUES), 0, struct.pack("<I", 4))
    cell("front-shared-beyond", ("strings", "value/1", VALUES), 4 * 3, struct.pack("<I", 2), words)
    cell("front-shared-by-first", ("strings", "value/1", VALUES), 4 * 64, struct.pack("<I", 1), words)
    cell("front-shared-huge", ("strings", "value/1", VALUES), 4 * 70, struct.pack("<I", ALL >> 32), words)
    cell("front-offsets-fall", ("strings", "value/0", VALUES), 8 * 70, struct.pack("<Q", 1), words)
    cell("front-offsets-beyond", ("strings", "value/0", VALUES), 8 * 70, struct.pack("<Q", 2 ** 40), words)
    cell("front-unsorted", ("strings", "value", DATA_BYTES), 0, b"~", words)
    cell("front-unsorted-own", ("x_example", "path", DATA_BYTES), 23, b"a", words)
    put("front-of-numbers", ("x_small", "words"), "type", U64, words)
    put("front-of-wide", ("x_small", "words/1"), "type", U64, words)
    put("front-offsets-too-few", ("x_small", "words/0"), "rows", 5, words)
    put("front-shared-too-few", ("x_small", "words/1"), "rows", 4, words)

    cell("tree-root-marked", ("x_blocks", "parent", MARKS), 0, b"\1", wood)
    cell("tree-steps-beyond-root", ("x_example", "parent/0", VALUES), 0, b"\3", wood)
    cell("tree-steps-beyond-block", ("x_blocks", "parent/0", VALUES), 8 * 560, struct.pack("<Q", 1023), wood)
    cell("tree-far-not-before", ("x_blocks", "parent/0", VALUES), 8 * 100, struct.pack("<Q", 1024), wood)
    cell("tree-far-huge", ("x_blocks", "parent/0", VALUES), 8 * 900, struct.pack("<Q", 2 ** 63), wood)
    cell("tree-rank", ("x_blocks", "parent", MARKS), 128, struct.pack("<Q", 0), wood)
    cell("tree-rank-high", ("x_blocks", "parent", MARKS), 128, struct.pack("<Q", 2 ** 40), wood)
    put("tree-of-wide", ("x_blocks", "parent"), "type", U64, wood)
    put("tree-steps-of-rows", ("x_blocks", "parent/0"), "type", U32, wood)
    case("tree-nulls", lambda m: m.find("x_two", "parent").fields.update(flags=NULLABLE, null_count=1), wood)
    put("tree-too-many-marks", ("x_two", "parent/0"), "rows", 2, wood)

    def crowded(m):
        node = m.table("x_one")
        node.fields["rows"] = 2 ** 40
        for column in node.parts:
            offsets, shared = (p for p in column.parts if p.kind is Node.COLUMN)
            for child, rows, kind in ((offsets, 2 ** 40 + 1, U64), (shared, 2 ** 40, U32)):
                child.parts = []
                child.fields.update(kind=kind + 16 * LINEAR, rows=rows, section_count=0)

    case("front-more-rows-than-bytes", crowded, words)
    put("split-others-sparse", ("x_blocks", "split/1"), "encoding", SPARSE, codes)
    put("split-too-few", ("x_blocks", "split_string/1"), "rows", 3, codes)
    put("split-of-wide", ("x_blocks", "split/1"), "type", U64, codes)
    put("split-nullable", ("x_blocks", "split/0"), "flags", NULLABLE, codes)
    cell("split-rank", ("x_blocks", "split", MARKS), 128, struct.pack("<Q", 0), codes)
    cell("split-rank-high", ("x_blocks", "split", MARKS), 128, struct.pack("<Q", 2 ** 40), codes)
    put("codes-of-itself", ("x_blocks", "shared_u64"), "base", 0, codes)
    put("codes-of-none", ("x_blocks", "shared_u64"), "base", 2 * 6, codes)
    put("codes-after", ("x_blocks", "shared_u64"), "base", 1, codes)
    put("codes-of-sharer", ("x_blocks", "shared_null"), "base", 2, codes)
    put("codes-of-split", ("x_blocks", "shared_u64"), "base", 2 * 5, codes)
    put("codes-of-wide", ("x_blocks", "codes/1"), "type", I64, codes)
    put("codes-too-few", ("x_blocks", "many/1"), "rows", 2099, codes)
    cell("codes-beyond", ("x_blocks", "many/1", VALUES), 4 * 1500, struct.pack("<I", 1100), codes)
    put("dictionary-of-wide", ("x_blocks", "codes/0"), "type", U64, codes)
    put("dictionary-sparse", ("x_blocks", "shared_u64/0"), "encoding", SPARSE, codes)
    put("dictionary-null", ("x_blocks", "codes/0"), "flags", NULLABLE, codes)
    put("dictionary-null-count", ("x_blocks", "shared_null"), "null_count", 7, codes)
    put("bool-not-bool", ("x_blocks", "packed_1"), "base", 2, enc)
    return made


# ---- packed files

def packed_files(pcol):
    """Pack the golden files of profiles in tests/data that do not exist yet."""
    files = {name: [f"{name}.Rprof"] for name in
             "all append crlf empty gc line memory names plain stackless toplevel".split()}
    files["rprofmem"] = ["rprofmem.out"]
    files["two-sources"] = ["gc.Rprof", "toplevel.Rprof", "--meta", "host=example", "--meta", "run=7"]
    files["memory-plain"] = ["memory.Rprof", "--plain"]
    files["append-plain"] = ["append.Rprof", "--plain"]
    files["memory-archive"] = ["memory.Rprof", "--archive"]
    files["append-archive-lz4"] = ["append.Rprof", "--archive=lz4"]
    jobs = [("rprof", name, arguments) for name, arguments in files.items()] + [("folded", "example", ["example.folded"])]
    for source, name, arguments in jobs:
        target = FOLDER / "valid" / f"{source}-{name}.pcol"
        if not target.exists():
            subprocess.run([pcol, "pack", *arguments, "-o", str(target)], cwd=DATA / source, check=True)
            print(target.relative_to(HERE))


def put(folder, name, data):
    target = FOLDER / folder / f"{name}.pcol"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.write_bytes(data)
        print(target.relative_to(HERE))


def main():
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    if what == "valid":
        for name, make in dict(encodings=encodings, rich=rich, sums=sums, stacks_only=stacks_only, later=later, chains=chains, dictionaries=dictionaries, labels=labels, archive=archive, archive_blocks=archive_blocks, fronts=fronts, trees=trees, bare=bare, nothing=lambda: write([]),
                               **{f"{of}_archive": lambda of=of: all_pressed(of) for of in ("rich", "labels", "sums", "encodings")}).items():
            put("valid", name.replace("_", "-"), make())
    elif what == "invalid":
        for name, data in faults().items():
            put("invalid", name, data)
        for name, data in archive_faults().items():
            put("invalid", f"archive-{name}", data)
    elif what == "packed":
        packed_files(os.environ.get("PCOL", str(HERE.parents[2] / "build" / "pcol")))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
