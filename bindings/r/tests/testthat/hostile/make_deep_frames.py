#!/usr/bin/env python3
"""A file with right checksums whose one stack has 2^32 + 65536 frames: make_deep_frames.py PCOL >deep-frames.pcol.gz

The builder refuses such a stack. A packed stack of fewer frames, 65,537 calls of which 30,000 have 65,536 lines, therefore gets the
group of these lines in all rows. PCOL is the command.
"""
import gzip
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[5]
spec = importlib.util.spec_from_file_location("make", SRC / "tests/format/golden/make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
LINES, CALLS, DEEP = 65536, 65537, 30000


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value


def profile():
    line = field(4, field(1, 1))
    return (field(1, field(1, 1) + field(2, 2)) + field(2, field(1, b"\1" * DEEP + b"\2" * (CALLS - DEEP)) + field(2, b"\1"))
            + field(4, field(1, 1) + line * LINES) + field(4, field(1, 2) + line) + field(5, field(1, 1) + field(2, 3))
            + b"".join(field(6, text) for text in (b"", b"samples", b"count", b"f")))


def column(image, table, name):
    found = next(t for t in image.tables if t.name == table)
    return found, next(part for part in found.parts if part.name == name)


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, packed = pathlib.Path(folder, "deep.pb"), pathlib.Path(folder, "deep.pcol")
        source.write_bytes(profile())
        subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "pack", "-q", source.name, "-o", packed], check=True, cwd=folder)
        shown = subprocess.run([sys.argv[1], "cat", "--physical", "-t", "stacks", "-c", "group", "--no-header", packed], check=True,
                               capture_output=True, text=True).stdout.split()
        image = make.Image(packed.read_bytes())
    groups = [int(text) for text in shown]
    deep = groups[-1]  # the innermost calls are those of many lines
    stacks, group = column(image, b"stacks", b"group")
    rows = stacks.fields["rows"]
    made = make.column_node(make.plain(make.U32, groups[:1] + [deep] * (rows - 1)), {}, 0)
    group.parts[:] = made.parts
    for key in ("kind", "flags", "base", "step", "width", "scale", "range", "min", "null_count", "section_count", "child_count"):
        if key in group.fields:
            group.fields[key] = made.fields.get(key, 0)
    zones = column(image, b"sample_zones", b"location_row")[1]
    frames = (rows - 1) * LINES
    zones.fields["step"] = 2 * frames
    if zones.fields["range"]:
        zones.fields["range"] = frames
    sys.stdout.buffer.write(gzip.compress(image.bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
