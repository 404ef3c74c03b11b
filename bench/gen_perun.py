#!/usr/bin/env python3
"""gen_perun.py FOLDER [--allocations N] [--seed N]: a memory profile of Perun in three forms, deterministic for its options.

    plain.perf   the documented form: snapshots with their resources, one object per allocation
    map.perf     the form that Perun writes: resource_type_map and resources by type
    map.z        the same as an object of Perun's store: zlib over "profile memory LENGTH\\0" and the JSON

50 call stacks of 6 to 13 frames, 100 snapshots, addresses at multiples of 16 within 16 MiB, 9 sizes.
"""
import argparse
import json
import pathlib
import random
import zlib

STACKS, SNAPSHOTS = 50, 100
SIZES = (4, 8, 16, 20, 32, 64, 128, 1024, 4096)


def frame(source, function, line):
    return {"source": source, "function": function, "line": line}


def traces(dice):
    frames = [frame(f"../src/module_{i % 20}.c", f"function_{i}", 10 + 7 * i) for i in range(120)]
    outer = [frame("../src/main.c", "main", 22), frame("unreachable", "__libc_start_main", 0), frame("unreachable", "_start", 0)]
    for _ in range(STACKS):
        yield [frame("unreachable", dice.choice(("malloc", "calloc", "realloc")), 0), *dice.sample(frames, dice.randint(3, 9)), *outer]


def write(path, document):
    text = json.dumps(document)
    path.write_text(text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--allocations", type=int, default=200000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(options.seed)
    stacks = list(traces(dice))
    snapshots = [[] for _ in range(SNAPSHOTS)]
    for i in range(options.allocations):
        trace = dice.choice(stacks)
        snapshots[i * SNAPSHOTS // options.allocations].append(
            {"type": "memory", "subtype": trace[0]["function"], "amount": dice.choice(SIZES),
             "address": 31257328 + 16 * dice.randrange(1 << 20), "uid": trace[1], "trace": trace})
    head = {"origin": "f7f3dcea69b97f2b03c421a223a770917149cfae",
            "header": {"type": "memory", "units": {"memory": "B"}, "cmd": "./a.out", "args": "", "workload": ""},
            "collector_info": {"name": "memory", "params": {}}, "postprocessors": []}
    times = [f"{i / 100:.6f}" for i in range(SNAPSHOTS)]
    write(options.folder / "plain.perf", {**head, "snapshots": [{"time": t, "resources": r} for t, r in zip(times, snapshots)]})
    types, resources, names, counts = {}, {}, {}, {}
    for number, members in enumerate(snapshots):
        for r in members:
            key = (id(r["trace"]), number)
            if key not in names:
                uid = f"{r['uid']['source']}:{r['uid']['function']}:{r['uid']['line']}"
                counts[uid] = counts.get(uid, -1) + 1
                names[key] = f"{uid}#{counts[uid]}"
                types[names[key]] = {**{k: v for k, v in r.items() if k not in ("amount", "address")},
                                     "snapshot": number, "time": times[number]}
                resources[names[key]] = {"amount": [], "address": []}
            for k in ("amount", "address"):
                resources[names[key]][k].append(r[k])
    text = write(options.folder / "map.perf", {**head, "resource_type_map": types, "resources": resources, "models": []})
    (options.folder / "map.z").write_bytes(zlib.compress(f"profile memory {len(text)}\0{text}".encode()))


main()
