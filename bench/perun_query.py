#!/usr/bin/env python3
"""perun_query.py FILE [QUESTION...]: Perun's way of answering, for comparison: seconds of each question as a whole.

FILE is an object of Perun's store: zlib over "profile TYPE LENGTH\\0" and the JSON of a type map. As in Perun, each question
inflates and parses all of it and goes over dictionaries; the data frame is made with pandas, where that is installed. This is a
faithful rendering of what its functions do, not its code: no command line, no imports of the rest of Perun.
"""
import collections
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
    resources = list(all_resources(profile))
    return [[r for s, r in resources if s == i] for i in range(max(s for s, _ in resources) + 1)]


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


QUESTIONS = {
    "cat -t resources --format ndjson": lambda profile: list(all_resources(profile)),
    "cat -t resources --flat": frame,
    "query items": items,
    "query fields": fields,
    "query fields --numeric": numeric,
    "query values --path uid:function": values("uid:function"),
    "query values --path uid:function --unique": unique_values("uid:function"),
    "query values --path trace::function": values("trace::function"),
    "query values --path trace::function --unique": unique_values("trace::function"),
    "query snapshots": snapshots,
    "query flame": flame,
    "query models --group model": lambda profile: list(enumerate(profile["models"])),
}


def main():
    for question, function in QUESTIONS.items():
        if len(sys.argv) > 2 and question not in sys.argv[2:]:
            continue
        start = time.time()
        try:
            function(load(sys.argv[1]))
        except ImportError:
            continue
        print(f"{time.time() - start:.3f}\t{question}", flush=True)


if __name__ == "__main__":
    main()
