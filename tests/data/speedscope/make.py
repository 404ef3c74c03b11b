#!/usr/bin/env python3
"""Writes small.speedscope.json and answers.tsv: both kinds of profiles, all forms of numbers, unknown members."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
frames = [{"name": "main", "file": "main.c", "line": 10, "col": 3}, {"name": "parse", "file": "parse.c"},
          {"name": "read ü", "line": 0}, {"name": "parse", "file": "parse.c"}, {"name": "unused", "other": {"x": [1, 2.0]}},
          {"name": "", "col": None}]
profiles = [
    {"type": "sampled", "name": "mixed", "unit": "milliseconds", "startValue": 100, "endValue": 108.75,
     "samples": [[0, 1], [0, 1, 2], [], [0, 3], [0, 1]], "weights": [1, 2.5, 0, 3.25, 2]},
    {"weights": [7, 0, 9007199254740993], "samples": [[0], [0, 1], [0, 1, 2]], "endValue": 1, "startValue": 0, "unit": "bytes",
     "name": "big", "type": "sampled"},
    {"type": "sampled", "name": "floats", "unit": "seconds", "startValue": 0, "endValue": 3.5, "samples": [[2], [5]],
     "weights": [1.0, 2.5], "note": "kept"},
    {"type": "evented", "name": "events", "unit": "milliseconds", "startValue": 5, "endValue": 30, "events": [
        {"type": "O", "frame": 0, "at": 5}, {"type": "O", "at": 7.5, "frame": 1}, {"type": "C", "frame": 1, "at": 9, "why": "x"},
        {"type": "O", "frame": 1, "at": 9}, {"type": "C", "frame": 1, "at": 12.25}, {"type": "C", "frame": 0, "at": 20},
        {"type": "O", "frame": 2, "at": 25, "a": 1, "b": None}, {"type": "C", "frame": 2, "at": 30}]},
    {"type": "evented", "name": "none", "unit": "none", "startValue": 0, "endValue": 0, "events": []}]
document = {"exporter": "make.py", "$schema": "https://www.speedscope.app/file-format-schema.json", "activeProfileIndex": 1,
            "profiles": profiles, "shared": {"frames": frames, "more": True}}
target = HERE / "small.speedscope.json"
target.write_text(json.dumps(document, indent=1) + "\n")
reader = HERE.parent.parent / "roundtrip/json_formats/readers.py"
(HERE / "answers.tsv").write_text(subprocess.run([sys.executable, str(reader), str(target)], capture_output=True, text=True,
                                                   check=True).stdout)
