#!/usr/bin/env python3
"""The formats of the program under test and inputs of each, for suites that enumerate formats.

`pcol formats` names the formats. Each one that is read has a small profile tests/data/FORMAT/small.*; a suite fails if it is
missing. grow() makes larger profiles of it: by grow(data, n, distinct) of tests/data/FORMAT/grow.py if that file exists, else
by its lines, the largest array of its JSON, or, if it is binary, from converted folded stacks.

As a program it prints one line per format: name, reads, writes, small profile; with tabs between them.
Variables: PCOL, SRC, as tests/run sets them.
"""
import collections
import functools
import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parents[1])
PCOL = str(pathlib.Path(os.environ.get("PCOL") or SRC / "build/pcol").resolve())
DATA = SRC / "tests/data"

Format = collections.namedtuple("Format", "name reads writes suffixes")


@functools.lru_cache(None)
def formats():
    """Without clickhouse, which is a directory of tables of many profiles: tests/oracle/clickhouse."""
    done = subprocess.run([PCOL, "formats", "--format", "json"], capture_output=True, check=True)
    return [Format(row["name"], row["reads"], row["writes"], row["suffixes"].split()) for row in json.loads(done.stdout)
            if row["name"] != "clickhouse"]


def readable():
    """Names, each of which has a small profile."""
    names = [f.name for f in formats() if f.reads]
    for name in names:
        small(name)
    return names


def writable():
    return [f.name for f in formats() if f.writes]


@functools.lru_cache(None)
def generic():
    """Names of the formats that are written from profiles of other formats: all but logs of one kind of event."""
    command = [PCOL, "unpack", "-q", small("folded"), "-o", "-", "--to"]
    return [name for name in writable() if subprocess.run([*command, name], capture_output=True, stdin=subprocess.DEVNULL).returncode == 0]


def returning():
    """Those of them that are read again."""
    return [name for name in generic() if name in readable()]


@functools.lru_cache(None)
def small(name):
    """The path of the small profile of a format."""
    found = sorted((DATA / name).glob("small.*"))
    if len(found) != 1:
        sys.exit(f"FAIL format {name}: pcol reads it, so that tests/data/{name}/small.* must be one small profile of it; "
                 f"there are {len(found)}")
    return found[0]


def smalls():
    """The small profile of each format that is read, by the name of the format."""
    return {name: small(name) for name in readable()}


# ---- larger profiles

def inflated(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def content(name):
    return inflated(small(name).read_bytes())


def grow(name, n, distinct=False):
    """A profile of about n times the samples of the small one; distinct: with names of its own for each time."""
    data = content(name)
    if (DATA / name / "grow.py").exists():
        return module(name, "grow").grow(data, n, distinct)
    if not is_text(data):
        return converted(name, n, distinct)
    return (grow_json if data[:1] in b"{[" else grow_lines)(data, n, distinct)


def module(name, file="make"):
    """tests/data/NAME/FILE.py"""
    spec = importlib.util.spec_from_file_location(f"{file}_{name}", DATA / name / f"{file}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def is_text(data):
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def grow_lines(data, n, distinct):
    """The first line once, the others n times."""
    first, rest = re.match(rb"([^\n]*\n)(.*)", data, re.S).groups()
    names = re.compile(rb'"((?:[^"\\]|\\.)*)"' if b'"' in rest else rb"\b([A-Za-z_]\w{2,})\b", re.S)
    return first + b"".join(names.sub(lambda m: m[0].replace(m[1], m[1] + b"%d" % i), rest) if distinct else rest for i in range(n))


def grow_json(data, n, distinct):
    """The elements of the largest array of objects n times."""
    document = json.loads(data)
    largest = max(arrays(document), key=lambda array: len(json.dumps(array)))
    largest[:] = [renamed(element, str(i)) if distinct else element for i in range(n) for element in largest]
    return json.dumps(document, separators=(",", ":")).encode()


def arrays(value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from arrays(inner)


def renamed(value, suffix):
    if isinstance(value, str):
        return value + suffix
    if isinstance(value, list):
        return [renamed(inner, suffix) for inner in value]
    return {key: renamed(inner, suffix) for key, inner in value.items()} if isinstance(value, dict) else value


def converted(name, n, distinct=False):
    """n folded stacks in this format, converted by pcol."""
    with tempfile.TemporaryDirectory(prefix="pcol-formats-") as folder:
        place, out = pathlib.Path(folder, "grown.folded"), pathlib.Path(folder, "out")
        place.write_bytes(b"".join(b"main;f%d;g%d 1\n" % ((i, i % 7) if distinct else (i % 3, i % 7)) for i in range(n)))
        command = ["pack"] if name == "pcol" else ["unpack", "--to", name]
        subprocess.run([PCOL, *command, "-q", "-f", "--no-sync", place, "-o", out], check=True, stdin=subprocess.DEVNULL)
        return out.read_bytes()


def main():
    for f in formats():
        print(f.name, str(f.reads).lower(), str(f.writes).lower(), small(f.name) if f.reads else "-", sep="\t")


if __name__ == "__main__":
    main()
