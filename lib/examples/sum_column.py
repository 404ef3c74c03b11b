#!/usr/bin/env python3
"""sum_column.py - an example: read a file packed with --plain without our library (mmap, struct, memoryview only)

    sum_column.py FILE [TABLE COLUMN]        default: samples value.0

Finds the column by the header and the index as spec.md describes them (sections 3 and 9) and adds up its values
where they lie in the file. Prints "TABLE.COLUMN sum N rows N"; nulls are left out. Nothing is verified here: run
`pcol check` on a file that comes from elsewhere.
"""
import mmap
import struct
import sys

PLAIN, VALUES, VALIDITY = 0, 1, 2
KINDS = {1: "q", 2: "Q", 3: "d", 4: "I", 5: "I"}  # of values: i64, u64, f64, u32, string codes


def find(data, table_name, column_name):
    """(kind, rows, values offset and size, validity offset or None) of a plain column."""
    if data[:8] != b"\x89PCOL\r\n\x1a":
        sys.exit("not a pcol file")
    if struct.unpack_from("<Q", data, 16)[0]:
        sys.exit("an archive, or newer than this reader: pack with --plain, without --archive")
    index, = struct.unpack_from("<Q", data, 48)
    tables, columns, sections, names_size, t_stride, c_stride, s_stride = struct.unpack_from("<4I3H", data, 72)
    columns_at = index + tables * t_stride
    sections_at = columns_at + columns * c_stride
    names = sections_at + sections * s_stride

    def name(at):
        offset, size = struct.unpack_from("<IH", data, at)
        return data[names + offset:names + offset + size].decode()

    for t in range(index, columns_at, t_stride):
        if name(t) != table_name:
            continue
        first, count = struct.unpack_from("<II", data, t + 16)
        for c in range(columns_at + first * c_stride, columns_at + (first + count) * c_stride, c_stride):
            if name(c) != column_name:
                continue
            kind, encoding = struct.unpack_from("<BB", data, c + 6)
            rows, first_section = struct.unpack_from("<QI", data, c + 16)
            place = {}
            for s in range(first_section, first_section + data[c + 32]):
                offset, size = struct.unpack_from("<QQ", data, sections_at + s * s_stride)
                place[data[sections_at + s * s_stride + 32]] = (offset, size)
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
