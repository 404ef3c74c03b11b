"""Fixtures. DATA: the profiles of tests/data; PCOL: the command, whose CSV is compared with."""
import csv
import io
import os
import subprocess
from pathlib import Path

import pytest

import pcol

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"
FOLDED = b"main;work;read 3\nmain;work 5\nmain;load 1\nmain 1\n"


def command(*arguments):
    """Rows that the command prints as CSV, as dicts of texts."""
    program = os.environ.get("PCOL", str(ROOT / "build" / "pcol"))
    text = subprocess.run([program, *map(str, arguments)], capture_output=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text.decode())))


@pytest.fixture
def folded():
    return pcol.open(FOLDED, format="folded")


@pytest.fixture
def cpu():
    return pcol.open(DATA / "pprof" / "cpu.pb.gz")


@pytest.fixture
def plain(tmp_path, cpu):
    path = tmp_path / "plain.pcol"
    cpu.save(path, plain=True)
    return path
