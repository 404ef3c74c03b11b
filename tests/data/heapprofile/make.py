#!/usr/bin/env python3
"""Writes small.heapprofile and answers.tsv; a sample names a node that the tree lacks."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def node(number, name, size, children=(), url="", line=-1, column=-1):
    return {"callFrame": {"functionName": name, "scriptId": "7", "url": url, "lineNumber": line, "columnNumber": column},
            "selfSize": size, "id": number, "children": list(children)}


head = node(1, "(root)", 0, [
    node(3, "(BYTECODE_COMPILER)", 16416),
    node(4, "", 0, [node(7, "alloc", 32, url="file:///a.js", line=9, column=2), node(5, "", 48, url="file:///a.js", line=0, column=0)])])
document = {"head": head, "samples": [{"size": 32, "nodeId": 7, "ordinal": 3}, {"size": 100, "nodeId": 177, "ordinal": 1},
                                      {"size": 16416, "nodeId": 3, "ordinal": 2, "age": 0.5}]}
target = HERE / "small.heapprofile"
target.write_text(json.dumps(document, separators=(",", ":")))
reader = HERE.parent.parent / "roundtrip/json_formats/readers.py"
(HERE / "answers.tsv").write_text(subprocess.run([sys.executable, str(reader), str(target)], capture_output=True, text=True,
                                                   check=True).stdout)
