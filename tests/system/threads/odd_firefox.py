#!/usr/bin/env python3
"""odd_firefox.py SEED KIND OUT - a Firefox profile above 1 MB, whose long arrays another thread prefetches

    plain     shared tables before the threads
    late      shared tables after the threads
    junk      long arrays in unknown members, some nested, and brackets in strings
    numbers   in long arrays, spellings that the prefetch does not parse: exponents, -0, spaces and line ends
    fault     a long array with an element that is not a number
    cut       the text ends within an array
"""
import json
import random
import re
import sys

SAMPLES, STACKS, FUNCTIONS = 24000, 9000, 700
ODD = ["1e3", "-0", " 7 ", "\n12\n", "2.50", "1E+2", "0.000001", "5000000000"]
FAULTS = ["x", "[1", "01", "1e999", "}", '"a"', "-", ""]


def shared(rng):
    rows, none = range(FUNCTIONS), [None] * FUNCTIONS
    return {"stackTable": {"length": STACKS, "frame": [rng.randrange(FUNCTIONS) for _ in range(STACKS)],
                           "prefix": [rng.randrange(i) if i and rng.random() < 0.9 else None for i in range(STACKS)]},
            "frameTable": {"length": FUNCTIONS, "address": [-1] * FUNCTIONS, "inlineDepth": [0] * FUNCTIONS, "category": [0] * FUNCTIONS,
                           "subcategory": [0] * FUNCTIONS, "func": list(rows), "nativeSymbol": none, "innerWindowID": none,
                           "line": [rng.randrange(1, 999) for _ in rows], "column": none},
            "funcTable": {"length": FUNCTIONS, "isJS": [False] * FUNCTIONS, "relevantForJS": [False] * FUNCTIONS, "name": list(rows),
                          "resource": [-1] * FUNCTIONS, "source": none, "lineNumber": none, "columnNumber": none},
            "resourceTable": {"length": 0, "lib": [], "name": [], "host": [], "type": []},
            "nativeSymbols": {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []},
            "sources": {"length": 0, "id": [], "filename": []},
            "stringArray": [f"f[{i},1,2,3" for i in rows]}


def thread(rng, number, kind):
    times = [round(1.25 * i + rng.random(), 6) for i in range(SAMPLES)]
    made = {"name": "[1,2,3", "processType": "default", "processStartupTime": 0, "processShutdownTime": None, "registerTime": 0,
            "unregisterTime": None, "pausedRanges": [], "isMainThread": not number, "pid": "1", "tid": number,
            "samples": {"length": SAMPLES, "weightType": "samples", "stack": [rng.randrange(STACKS) for _ in range(SAMPLES)],
                        "time": times, "weight": [1] * SAMPLES if number else None,
                        "threadCPUDelta": [rng.choice([None, 0, 900]) if number == 1 else rng.randrange(999) for _ in range(SAMPLES)]},
            "markers": {"length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [], "startTime": []}}
    if kind == "junk":
        made = {"junk": [rng.randrange(99) for _ in range(3000)], **made, "more": [[7] * 600, [[n] * 600 for n in range(3)], "[" * 50]}
        made["samples"]["unknown"] = [rng.random() for _ in range(SAMPLES)]
    return made


def main():
    rng, kind = random.Random(int(sys.argv[1])), sys.argv[2]
    profile = {"meta": {"interval": 1, "startTime": 0, "processType": 0, "product": "x", "version": 30, "preprocessedProfileVersion": 60,
                        "markerSchema": [], "categories": [{"name": "Other", "color": "grey", "subcategories": ["Other"]}], "stackwalk": 1},
               "libs": [], "shared": shared(rng), "threads": [thread(rng, n, kind) for n in range(3)]}
    if kind == "late":
        profile["shared"] = profile.pop("shared")
    text = json.dumps(profile, separators=(",", ":"))
    if kind == "numbers":  # in place of numbers of the same column, so that lengths stay
        text = re.sub(r'(?<="threadCPUDelta":\[)[^]]*', lambda m: ",".join(rng.choice(ODD) if rng.random() < 0.001 else n for n in m[0].split(",")), text)
    elif kind == "fault":
        at = text.index(",", rng.randrange(text.index('"threads"'), len(text) - 1000))
        text = text[:at + 1] + rng.choice(FAULTS) + text[at + 1:]
    elif kind == "cut":
        text = text[:rng.randrange(len(text) // 2, len(text))]
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        out.write(text)


main()
