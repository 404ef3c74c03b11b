#!/usr/bin/env python3
"""Writes small.cpuprofile, old.cpuprofile (the nested form) and their answers."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def frame(name, url="", line=-1, column=-1, script="0"):
    return {"functionName": name, "scriptId": script, "url": url, "lineNumber": line, "columnNumber": column}


nodes = [
    {"id": 1, "callFrame": frame("(root)"), "hitCount": 0, "children": [2, 5, 9]},
    {"id": 2, "callFrame": frame("", "file:///app/main.js", 0, 0, "80"), "hitCount": 2, "children": [3, 4],
     "positionTicks": [{"line": 28, "ticks": 1}, {"line": 11, "ticks": 1}]},
    {"id": 3, "callFrame": frame("work", "file:///app/main.js", 4, 12, "80"), "hitCount": 3, "deoptReason": "wrong map"},
    {"id": 4, "callFrame": frame("work", "file:///app/main.js", 4, 40, "80"), "hitCount": 0, "children": []},
    {"id": 5, "callFrame": frame("(program)"), "hitCount": 5},
    {"id": 9, "callFrame": frame("zlib\ud83d\ude00", "node:zlib", 392, 25, "66"), "hitCount": 0, "other": [1, 2.5, {"a": None}]}]
document = {"nodes": nodes, "startTime": 2204555310, "endTime": 2204559000, "samples": [2, 2, 3, 3, 5, 3, 9, 1],
            "timeDeltas": [0, 100, 1100, -50, 1250, 7, 3, 400], "title": "small"}
old = {"head": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": 0, "columnNumber": 0, "hitCount": 0, "callUID": 1,
                "children": [{"functionName": "f", "scriptId": "3", "url": "a.js", "lineNumber": 1, "columnNumber": 15, "hitCount": 2,
                              "callUID": 2, "children": [{"functionName": "", "scriptId": "3", "url": "a.js", "lineNumber": 7,
                                                          "columnNumber": 1, "hitCount": 1, "callUID": 4, "children": [],
                                                          "deoptReason": "", "id": 3, "positionTicks": []}],
                              "deoptReason": "no reason", "id": 2, "positionTicks": [{"line": 2, "ticks": 2}]}],
                "deoptReason": "", "id": 1, "positionTicks": []},
       "startTime": 12345.678, "endTime": 12346.5, "samples": [1, 2, 2, 3],
       "timestamps": [12345678000, 12345679100, 12345680200, 12345681300]}
reader = HERE.parent.parent / "roundtrip/json_formats/readers.py"
for name, answers, value in (("small", "answers", document), ("old", "old", old)):
    target = HERE / f"{name}.cpuprofile"
    target.write_text(json.dumps(value, separators=(",", ":")))
    (HERE / f"{answers}.tsv").write_text(subprocess.run([sys.executable, str(reader), str(target)], capture_output=True, text=True,
                                                         check=True).stdout)
