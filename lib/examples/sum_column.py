#!/usr/bin/env python3
"""sum_column.py - an example: read a file packed with --plain without our library (mmap, struct, memoryview only)

    sum_column.py FILE [TABLE COLUMN]        default: samples value.0

Finds the column by the header and the index as spec.md describes them (sections 3 and 9) and adds up its values
at their offset in the file. Prints "TABLE.COLUMN sum N rows N"; nulls are left out. Nothing is verified here: run
`pcol check` on a file that comes from elsewhere.
"""
import mmap
import struct
import sys

PLAIN, VALUES, VALIDITY = 0, 1, 2
KINDS = {1: "q", 2: "Q", 3: "d", 4: "I", 5: "I"}  # of values: i64, u64, f64, u32, string codes


class Index:
    """Goes through the records of the index: each a mask and a number for each of its bits."""

    def __init__(self, data):
        if data[:8] != b"\x89PCOL\r\n\x1a":
            sys.exit("not a pcol file")
        if struct.unpack_from("<Q", data, 16)[0]:
            sys.exit("an archive, or newer than this reader: pack with --plain, without --archive")
        index, size = struct.unpack_from("<QQ", data, 48)
        self.tables, _, sections = struct.unpack_from("<3I", data, 72)
        self.data, self.at, self.section_end = data, index + 8 * sections, index + size

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            value, shift, self.at = value | (byte & 127) << shift, shift + 7, self.at + 1
            if byte < 128:
                return value

    def record(self, count):
        mask = self.number()
        return [self.number() if mask >> k & 1 else 0 for k in range(max(count, mask.bit_length()))][:count]

    def name(self, size):
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def column(self):
        """(name, type, encoding, place of each role) of a column; its children are passed over."""
        kind, name_size, _, _, _, sections, _, _, _, children = self.record(10)
        name, place = self.name(name_size), {}
        for _ in range(sections):
            size, role, align = self.record(3)
            start = -(-self.section_end >> 3 + align) << 3 + align
            place[role], self.section_end = (start, size), start + size
        for _ in range(children):
            self.column()
        return name, kind % 16, kind // 16, place


def find(data, table_name, column_name):
    """(kind, rows, values offset and size, validity offset or None) of a plain column."""
    index = Index(data)
    for _ in range(index.tables):
        name_size, rows, columns = index.record(3)
        table = index.name(name_size)
        for _ in range(columns):
            column, kind, encoding, place = index.column()
            if (table, column) == (table_name, column_name):
                if rows and encoding != PLAIN or kind not in KINDS:
                    sys.exit(f"{table_name}.{column_name} is not a plain column of numbers: pack with --plain")
                return KINDS[kind], rows, place.get(VALUES, (0, 0)), place.get(VALIDITY)
    sys.exit(f"no column {table_name}.{column_name}")


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    table, column = sys.argv[2:4] if len(sys.argv) == 4 else ("samples", "value.0")
    with open(sys.argv[1], "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        kind, rows, (offset, size), validity = find(data, table, column)
        with memoryview(data) as whole, whole[offset:offset + size] as part, part.cast(kind) as values:
            if validity is None:
                total = sum(values)
            else:
                bits = data[validity[0]:validity[0] + validity[1]]
                total = sum(v for i, v in enumerate(values) if bits[i >> 3] >> (i & 7) & 1)
        print(f"{table}.{column} sum {total} rows {rows}")


main()
