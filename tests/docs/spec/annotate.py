#!/usr/bin/env python3
"""annotate.py - a small pcol file in hexadecimal, one line for each field, for section 3.4 of spec.md

    annotate.py FILE     print the annotated bytes
    annotate.py          replace the block in docs/spec/container.md that is generated from the golden file

Parses header, index and sections by spec.md alone, for files that are not archives. tests/docs/spec/run compares the block.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))
sys.dont_write_bytecode = True
import reader  # noqa: E402

GOLDEN = "tests/format/golden/1.0/valid/folded-example.pcol"
HEADER = [("magic", 8), ("major", 2), ("minor", 2), ("header_size", 4), ("incompatible", 8), ("read_only_compatible", 8), ("compatible", 8),
          ("file_size", 8), ("index_offset", 8), ("index_size", 8), ("index_checksum", 8), ("table_count", 4), ("column_count", 4),
          ("section_count", 4), ("records_size", 4), ("child_count", 4), ("reserved", 2), ("checksum_algorithm", 1), ("reserved", 25),
          ("header_checksum", 8)]
TYPES = ["", "i64", "u64", "f64", "u32", "string", "bytes", "bool"]
ENCODINGS = "PLAIN LINEAR PACKED SPARSE RUNS CHAIN DELTAS FRONT SPLIT DICTIONARY TREE".split()
FLAGS = {1: "NULLABLE", 2: "MUST_UNDERSTAND", 4: "STATS", 8: "ASCENDING", 16: "DEFAULT_NULL"}
ROLES = ["", "VALUES", "VALIDITY", "MARKS", "DATA"]
TABLE = "name_size rows column_count flags".split()
COLUMN = "kind name_size flags ref_table range section_count base width rows child_count step scale null_count min".split()
SECTION = "size role align codec raw_size flags".split()


class Annotator:
    def __init__(self, data):
        self.data, self.at, self.lines, self.sections = data, 0, [], []
        self.columns = {f"{t.name}.{c.name}": c for t in reader.File(data).tables for c in t.columns}

    def line(self, size, meaning):
        """Append the next `size` bytes, 16 on a line, with their meaning on the first one."""
        part, start = self.data[self.at:self.at + size], self.at
        self.at += size
        for i in range(0, size, 16):
            self.lines.append(f"    {start + i:04X}  {part[i:i + 16].hex(' ').upper():<47}  {meaning if i == 0 else ''}".rstrip())
        return part

    def varint(self, at):
        value = shift = 0
        while True:
            value |= (self.data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if self.data[at - 1] < 128:
                return value, at

    def record(self, names):
        """(fields of the next record, its size)"""
        mask, at = self.varint(self.at)
        fields = dict.fromkeys(names, 0)
        for bit, name in enumerate(names):
            if mask >> bit & 1:
                fields[name], at = self.varint(at)
        return fields, at - self.at

    def describe(self, fields):
        zigzag = {"base", "step", "min"}
        return ", ".join(f"{name} {value >> 1 ^ -(value & 1) if name in zigzag else value}" for name, value in fields.items() if value)

    def column(self, name, child):
        fields, size = self.record(COLUMN)
        text = self.data[self.at + size:self.at + size + fields["name_size"]].decode()
        path = f"{name}.{text}" if text else f"{name}, child {child}"
        kind, flags = fields["kind"], " ".join(word for bit, word in FLAGS.items() if fields["flags"] & bit)
        rest = self.describe({k: v for k, v in fields.items() if k not in ("kind", "name_size", "flags")})
        self.line(size + len(text), f"column {path}: {TYPES[kind % 16]} {ENCODINGS[kind // 16]}" + (", " + flags if flags else "") +
                  (", " + rest if rest else ""))
        for _ in range(fields["section_count"]):
            section, size = self.record(SECTION)
            role = ROLES[section["role"]]
            self.sections.append((role, path, section))
            self.line(size, f"  section: {role}, size {section['size']}, align {section['align']}")
        for i in range(fields["child_count"]):
            self.column(path, i)

    def file(self):
        values = {}
        for name, size in HEADER:
            part = self.data[self.at:self.at + size]
            values[name] = int.from_bytes(part, "little")
            shown = "" if name in ("magic", "reserved") or "checksum" in name and size == 8 else f" {values[name]}"
            self.line(size, name + shown)
        self.at = values["index_offset"]
        for i in range(values["section_count"]):
            self.line(8, f"checksum of section {i}")
        records = self.at
        for _ in range(values["table_count"]):
            fields, size = self.record(TABLE)
            name = self.data[self.at + size:self.at + size + fields["name_size"]].decode()
            rest = {k: v for k, v in fields.items() if k not in ("name_size", "flags")}
            self.line(size + len(name), f"table {name}: {self.describe(rest)}" + (", PREORDER" if fields["flags"] == 2 else ""))
            for _ in range(fields["column_count"]):
                self.column(name, None)
        assert self.at == records + values["records_size"]
        self.padding(8)
        for i, (role, path, section) in enumerate(self.sections):
            self.padding(8 << section["align"])
            self.line(section["size"], f"section {i}: {role} of {path}: {self.values(path)}")
        self.padding(8)
        self.line(8, f"end mark: file_size {values['file_size']}")
        self.line(8, "\"PCOLEND\\n\"")
        assert self.at == len(self.data)
        return "\n".join(self.lines) + "\n"

    def values(self, path):
        """The values of a column of a table, or of a child of one."""
        name, _, child = path.partition(", child ")
        column = self.columns[name].children[int(child)] if child else self.columns[name]
        return " ".join(v.decode() if isinstance(v, bytes) else str(v) for v in map(column.cell, range(column.rows)))

    def padding(self, align):
        if self.at % align:
            self.line(-self.at % align, "zero bytes")


def block(path=ROOT / GOLDEN):
    return Annotator(path.read_bytes()).file()


def main():
    if len(sys.argv) > 1:
        print(block(pathlib.Path(sys.argv[1])), end="")
        return
    spec = ROOT / "docs/spec/container.md"
    text, count = re.subn(r"(?<=\n)    0000  89 50.*\n(?:    [0-9A-F]{4,}  .*\n)*", lambda _: block(), spec.read_text())
    assert count == 1, "no block of bytes in docs/spec/container.md"
    spec.write_text(text)


if __name__ == "__main__":
    main()
