#!/usr/bin/env python3
"""perun_query.py FILE QUESTION | --library FILE [QUESTION...] | --list: Perun's way of answering, for comparison.

FILE is an object of Perun's store: zlib over "profile TYPE LENGTH\\0" and the JSON of a type map. As in Perun, each question
inflates and parses all of it and goes over dictionaries; the data frame is made with pandas, where that is installed. This is a
faithful rendering of what its functions do, not its code: no command line, no imports of the rest of Perun.

With a QUESTION the answer is printed in the form that `pcol QUESTION` prints, so that two whole processes can be compared that do
the same: start, read, answer, print. With --library the questions are answered in this process and nothing is printed but the
seconds of each (inflate, parse, answer), to be set against pcol_file_open(), pcol_ask() and all rows of the answer.
"""
import collections
import itertools
import json
import sys
import time
import zlib

RANKS = {"bin": 0, "file": 1, "source": 1, "package": 1, "module": 2, "class": 3, "struct": 3, "structure": 3, "function": 4,
         "func": 4, "method": 4, "procedure": 4, "line": 5, "instruction": 6}


def load(path):
    with open(path, "rb") as f:
        text = zlib.decompress(f.read()).decode("utf-8")
    return json.loads(text.split("\0", 1)[1])


def all_resources(profile):
    for name, arrays in profile["resources"].items():
        persistent = profile["resource_type_map"][name]
        if not arrays:
            yield persistent.get("snapshot", 0), dict(persistent)
        keys = list(arrays)
        for cells in zip(*arrays.values()):
            resource = dict(zip(keys, cells))
            resource.update(persistent)
            yield resource.get("snapshot", 0), resource


def rank(item):
    key = item[0]
    return RANKS.get(key) if key in RANKS else int("".join(str(ord(c) + 6) for c in key))


def flattened(key, value):
    if isinstance(value, dict):
        nested = []
        for inner, item in all_items(value):
            nested.append((inner, item))
            yield f"{key}:{inner}", item
        if isinstance(key, str):
            nested.sort(key=rank)
            yield key, ":".join(str(item) for _, item in nested)
    elif isinstance(value, list):
        parts = []
        for i, member in enumerate(value):
            parts.append(":".join(str(item) for _, item in flattened(i, member)))
        yield key, ",".join(parts)
    else:
        yield key, value


def all_items(resource):
    for key, value in resource.items():
        yield from flattened(key, value)


def key_values(resource, path):
    if not path:
        yield resource
        return
    first, rest = path[0], path[1:]
    if first == "" and isinstance(resource, list):
        for member in resource:
            yield from key_values(member, rest)
    elif isinstance(resource, dict) and first in resource:
        yield from key_values(resource[first], rest)


def unique(values):
    seen = []
    for value in values:
        if value not in seen:
            seen.append(value)
    return seen


def fields(profile):
    found = set()
    for _, resource in all_resources(profile):
        found.update(key for key, _ in all_items(resource))
    return found


def numeric(profile):
    found, excluded = set(), set()
    for _, resource in all_resources(profile):
        for key, value in all_items(resource):
            if isinstance(value, (int, float)) and key not in excluded:
                found.add(key)
            else:
                excluded.add(key)
                found.discard(key)
    return found


def items(profile):
    return [list(all_items(resource)) for _, resource in all_resources(profile)]


def frame(profile):
    import pandas
    columns = collections.defaultdict(list)
    names = fields(profile)
    for snapshot, resource in all_resources(profile):
        columns["snapshots"].append(snapshot)
        flat = dict(all_items(resource))
        for name in names:
            columns[name].append(flat.get(name, float("nan")))
    return pandas.DataFrame(columns)


def snapshots(profile):
    groups = collections.defaultdict(list)
    for snapshot, resource in all_resources(profile):
        groups[snapshot].append(resource)
    return [groups[i] for i in range(max(groups) + 1)]


def flame(profile):
    lines = []
    for resources in snapshots(profile):
        for r in resources:
            if r.get("subtype") != "free":
                frames = [f"{f['function']}()~{f['source']}~{f['line']}" for f in [r["uid"], *r["trace"][::-1]]]
                lines.append(f"{';'.join(frames)} {r['amount']}")
    return lines


def values(path):
    return lambda profile: [list(key_values(r, path.split(":"))) for _, r in all_resources(profile)]


def unique_values(path):
    return lambda profile: unique(v for _, r in all_resources(profile) for v in key_values(r, path.split(":")))


# ---- printing, as pcol does: TSV with a header, JSON a line for each resource, lines of text


def cell(value):
    """A string is itself, but for what TSV escapes; any other value is its JSON."""
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value if value.isprintable() and "\\" not in value else escaped(value)
    return json.dumps(value, separators=(",", ":"))


def escaped(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def tsv(header, rows):
    out = sys.stdout
    out.write(header + "\n")
    out.writelines("\t".join(map(cell, row)) + "\n" for row in rows)


def print_resources(resources):
    encode = json.JSONEncoder(separators=(",", ":")).encode
    sys.stdout.writelines(encode(resource) + "\n" for _, resource in resources)


def print_frame(made):
    made.to_csv(sys.stdout, sep="\t", index=False, na_rep="\\N")


def print_items(rows):
    tsv("row\tkey\tvalue", ((number, key, value) for number, resource in enumerate(rows) for key, value in resource))


def print_fields(names):
    tsv("field", ((name,) for name in names))


def print_values(rows):
    tsv("row\tvalue", ((number, value) for number, found in enumerate(rows) for value in found))


def print_unique(found):
    tsv("value", ((value,) for value in found))


def print_snapshots(groups):
    numbers = itertools.count()
    tsv("snapshot\trow", ((snapshot, next(numbers)) for snapshot, group in enumerate(groups) for _ in group))


def print_lines(lines):
    sys.stdout.writelines(line + "\n" for line in lines)


def print_models(models):
    tsv("row", ((number,) for number, _ in models))


QUESTIONS = {
    "cat -t resources --format ndjson": (lambda profile: list(all_resources(profile)), print_resources),
    "cat -t resources --flat": (frame, print_frame),
    "perun items": (items, print_items),
    "perun fields": (fields, print_fields),
    "perun fields --numeric": (numeric, print_fields),
    "perun values --path uid:function": (values("uid:function"), print_values),
    "perun values --path uid:function --unique": (unique_values("uid:function"), print_unique),
    "perun values --path trace::function": (values("trace::function"), print_values),
    "perun values --path trace::function --unique": (unique_values("trace::function"), print_unique),
    "perun snapshots": (snapshots, print_snapshots),
    "perun flame": (flame, print_lines),
    "perun models --group model": (lambda profile: list(enumerate(profile["models"])), print_models),
}


def main():
    if sys.argv[1] == "--list":
        print("\n".join(QUESTIONS))
        return
    if sys.argv[1] != "--library":
        answer, show = QUESTIONS[sys.argv[2]]
        show(answer(load(sys.argv[1])))
        return
    for question, (answer, _) in QUESTIONS.items():
        if len(sys.argv) > 3 and question not in sys.argv[3:]:
            continue
        start = time.perf_counter()
        try:
            answer(load(sys.argv[2]))
        except ImportError:
            continue
        print(f"{time.perf_counter() - start:.4f}\t{question}", flush=True)


if __name__ == "__main__":
    main()
