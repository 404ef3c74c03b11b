#!/usr/bin/env python3
"""A sparse pcol file of any size: gen_sparse.py ROWS OUT

Table samples with one plain column `stack` of ROWS zeros, 4 bytes each, for measuring the time of opening a file and reading one
cell. The checksum of the section is wrong, because computing it would read 10 GB; `check` reports it.
"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
sys.dont_write_bytecode = True
from xxh3 import xxh3  # noqa: E402

MAGIC, MARK = b"\x89PCOL\r\n\x1a", b"PCOLEND\n"
U32, VALUES = 4, 1


def varint(number):
    out = b""
    while number > 127:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


def main():
    rows, path = int(sys.argv[1]), sys.argv[2]
    size, offset = rows * 4, 4096
    table = b"\x07" + varint(7) + varint(rows) + varint(1) + b"samples"  # name_size, rows, column_count
    column = b"\x23" + varint(U32) + varint(5) + varint(1) + b"stack"  # kind, name_size, section_count
    section = b"\x07" + varint(size) + varint(VALUES) + varint(9)  # size, role, align: 4096
    records = table + column + section
    index = bytes(8) + records
    index += bytes(-len(index) % 8)
    total = (offset + size + 7) // 8 * 8 + 16
    header = struct.pack("<8sHHIQQQQQQQIIIIIHB25x", MAGIC, 1, 0, 128, 0, 0, 0, total, 128, len(index), xxh3(index), 1, 1, 1,
                         len(records), 0, 0, 1)
    with open(path, "wb") as out:
        out.write(header + struct.pack("<Q", xxh3(header)) + index)
        out.seek(total - 16)
        out.write(struct.pack("<Q", total) + MARK)


if __name__ == "__main__":
    main()
