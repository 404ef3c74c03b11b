#!/usr/bin/env python3
"""Writes small.tach, big-endian.tach and zstd.tach, and answers.jsonl, what tests/roundtrip/binary_formats/readers.py reads of each."""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
START = 13193780


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(value):
    return varint((value << 1 ^ value >> 31) & 0xFFFFFFFF)


def zstd(data):
    """A frame of stored blocks."""
    blocks = [data[i:i + 100000] for i in range(0, len(data), 100000)] or [b""]
    out = struct.pack("<IBB", 0xFD2FB528, 0, 0x58)  # window of 2 MiB
    return out + b"".join((len(b) << 3 | (i == len(blocks) - 1)).to_bytes(3, "little") + b for i, b in enumerate(blocks))


class Profile:
    def __init__(self, order="<"):
        self.order, self.records, self.count = order, bytearray(), 0

    def record(self, thread, interpreter, kind, *parts, count=1):
        self.records += struct.pack(self.order + "QIB", thread, interpreter, kind) + b"".join(parts)
        self.count += count

    def full(self, thread, interpreter, delta, status, *frames):
        self.record(thread, interpreter, 1, varint(delta), bytes([status]), varint(len(frames)), *map(varint, frames))

    def change(self, kind, thread, interpreter, delta, status, number, *frames):
        self.record(thread, interpreter, kind, varint(delta), bytes([status, *varint(number), *varint(len(frames))]), *map(varint, frames))

    def repeat(self, thread, interpreter, *samples):
        self.record(thread, interpreter, 0, varint(len(samples)), *(varint(d) + bytes([s]) for d, s in samples), count=len(samples))

    def bytes(self, texts, places, compression=0, stats=b"", **fields):
        data = {0: bytes, 1: zstd}[compression](bytes(self.records))
        strings = b"".join(varint(len(s.encode())) + s.encode() for s in texts)
        table = b"".join(varint(f[0]) + varint(f[1]) + b"".join(map(zigzag, f[2:6])) + bytes([f[6]]) for f in places)
        at = 64 + len(data)
        values = {"magic": 0x54414348, "version": 1, "python": b"\3\x0f\0\0", "start": START, "interval": 1000, "samples": self.count,
                  "threads": 3, "strings": at, "frames": at + len(strings), "compression": compression, "mode": 1, **fields}
        header = struct.pack(self.order + "II4sQQQIQQII", *values.values())
        size = len(header) + len(data) + len(strings) + len(table) + len(stats) + 32
        return header + data + strings + table + stats + struct.pack(self.order + "IIQ16x", len(texts), len(places), size)


STRINGS = ["/app/w\u00f6rk.py", "main", "Work.run", "<listcomp>", "~", "<GC>"]
FRAMES = [(0, 1, 10, 0, 4, 20, 50), (0, 2, 20, 2, 0, 1, 255), (0, 3, 21, 0, -1, 0, 0), (4, 5, -1, 0, -1, 0, 255), (0, 2, 300000, -5, 70000, -7, 254)]
BIG = 2**63 + 77


def fill(p, times=1, first=0):
    def f(*numbers):
        return [n + first for n in numbers]
    for i in range(times):
        p.full(7, 0, 1000 if not i else 0, 3, *f(2, 1, 0))
        p.full(BIG, 1, 1500, 16, *f(0))
        p.repeat(7, 0, (1000, 3), (0, 1), (300, 255))
        p.change(2, 7, 0, 1000, 1, 2, *f(4, 3))
        p.change(3, 7, 0, 1000, 0, 3, *f(2))
        p.change(3, 7, 1, 5, 0, 0)
        p.full(BIG, 1, 128, 0)
        p.repeat(BIG, 1, (1, 0))
        p.change(2, BIG, 1, 100000, 8, 0, *f(3, 2, 1, 1, 1))


def profile(n=1, distinct=False, order="<", compression=0, **fields):
    p, strings, frames = Profile(order), STRINGS, FRAMES
    if distinct:
        strings = [s + str(i) for i in range(n) for s in STRINGS]
        frames = [(f[0] + 6 * i, f[1] + 6 * i, *f[2:]) for i in range(n) for f in FRAMES]
    for i in range(n if distinct else 1):
        fill(p, 1 if distinct else n, 5 * i)
    return p.bytes(strings, frames, compression, **fields)


def variants():
    stats = struct.pack(">dddd", 1.5, 1000, 0, 0) + bytes(8) + b"TACHSTAT" + struct.pack(">II", 1, 56)
    return {"small.tach": profile(), "big-endian.tach": profile(order=">", stats=stats), "zstd.tach": profile(compression=1)}


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent.parent / "roundtrip/binary_formats"))
    import readers
    for name, data in variants().items():
        (HERE / name).write_bytes(data)
    (HERE / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in readers.tachyon(profile())))
