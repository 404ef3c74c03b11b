"""The commands of the program under test, for suites that call every command with a hostile profile.

`pcol help` names the commands. Each one is in a list below, or names() fails: so a new command joins these suites.
"""
import os
import pathlib
import re
import subprocess

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parents[1])
PCOL = str(pathlib.Path(os.environ.get("PCOL") or SRC / "build/pcol").resolve())

# Commands that read a profile and print; with the operands before it. "{name}": a function; "{other}": a second profile.
PRINT = {"cat": [], "head": [], "tail": [], "count": [], "info": [], "schema": [], "check": [], "top": [], "tree": [], "peek": ["{name}"],
         "list": ["{name}"], "traces": [], "labels": [], "flame": [], "diff": ["{other}"], "perun": ["items"]}
# Commands that write a file, serve pages, or read no profile.
OTHERS = {"pack", "unpack", "merge", "filter", "symbolize", "report", "view", "formats", "completion", "help"}


def names():
    """Names of all commands."""
    done = subprocess.run([PCOL, "help"], capture_output=True, text=True, check=True)
    found = set(re.findall(r"^  ([a-z]+) {2,}", done.stdout.split("Everywhere:")[0], re.M))
    if found != PRINT.keys() | OTHERS:
        raise SystemExit(f"tests/commands.py: commands that are only there or only in the program: {found ^ (PRINT.keys() | OTHERS)}")
    return found


def printing(name, other):
    """The words of each command that prints a profile, without options; the profile is to follow."""
    names()
    return [[command, *(word.format(name=name, other=other) for word in words)] for command, words in PRINT.items()]
