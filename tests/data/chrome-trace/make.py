#!/usr/bin/env python3
"""Writes small.json, with V8 profiles and spans, ../trace-event/small.json, an array of spans alone, and their answers."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def frame(name, url="", line=-1, column=-1):
    return {"codeType": "JS", "columnNumber": column, "functionName": name, "lineNumber": line, "scriptId": 3, "url": url}


def event(ph, name, ts, args=None, **more):
    return {"args": args or {}, "cat": "x", "name": name, "ph": ph, "pid": 10, "tid": 11, "ts": ts, **more}


events = [
    event("M", "thread_name", 0, {"name": "Main"}), event("M", "process_name", 0, {"name": "Renderer"}),
    event("P", "Profile", 100, {"data": {"startTime": 1000}}, id="0x1"),
    event("P", "ProfileChunk", 101, {"data": {
        "cpuProfile": {"nodes": [{"callFrame": frame("(root)"), "id": 1}, {"callFrame": frame("f", "a.js", 3, 1), "id": 2, "parent": 1},
                                 {"callFrame": frame(""), "id": 3, "parent": 2}], "samples": [2, 3, 3]},
        "lines": [1, 2, 2], "timeDeltas": [10, 20, 30]}}, id="0x1", tid=12),
    event("P", "Profile", 102, {"data": {"startTime": 5}}, id="0x2", pid=99),
    event("X", "Layout", 100.5, dur=50.25), event("X", "Paint", 110, dur=10, args={"data": {"timeDeltas": [1, 2, 3]}}),
    event("P", "ProfileChunk", 150, {"data": {
        "cpuProfile": {"nodes": [{"callFrame": frame("g"), "id": 4, "parent": 3}], "samples": [4, 2]}, "timeDeltas": [40, -35],
        "endTime": 1065}}, id="0x1", tid=12)]
spans = [
    event("E", "before", 1), event("B", "outer", 2), event("X", "leaf", 3.125, dur=1.5), event("B", "inner", 5, tid="worker"),
    event("B", "inner", 6), event("E", "inner", 8), event("X", "late", 9, dur=4), event("E", "outer", 10),
    event("X", "same", 20, dur=5), event("X", "same", 20, dur=5), event("X", "zero", 22, dur=0), event("B", "open", 30),
    event("i", "instant", 31), event("X", "last", 40, dur=2, tid="worker"), event("X", "end", 41, dur=1)]
reader = HERE.parent.parent / "roundtrip/json_formats/readers.py"
for name, value in (("chrome-trace", {"metadata": {"a": [1]}, "traceEvents": events}), ("trace-event", spans)):
    target = HERE.parent / name / "small.json"
    target.write_text(json.dumps(value, separators=(",", ":")))
    (HERE.parent / name / "answers.tsv").write_text(subprocess.run([sys.executable, str(reader), str(target)], capture_output=True, text=True,
                                                         check=True).stdout)
