"""Profiles of the tests, and their tables as `pcol cat` prints them, in the types of docs/api.md."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("OUT") or ROOT / "build").resolve()
PCOL = str(OUT / "pcol")
DATA = ROOT / "tests/data"
GOLDEN = ROOT / "tests/format/golden"
MODELS = ("v2", "v1", "physical")


def pcol(*arguments, check=True):
    return subprocess.run([PCOL, *map(str, arguments)], capture_output=True, check=check, stdin=subprocess.DEVNULL).stdout


def profiles():
    """Golden files, and a small profile of each format."""
    small = [path for path in sorted(DATA.glob("*/small.*"))]
    return sorted(GOLDEN.glob("*/valid/*.pcol")) + small


def _of_model(model):
    return ["--physical"] if model == "physical" else ["--model", model]


def schema(path, model):
    """{table: [(column, type)]}; empty if the model cannot represent the profile."""
    done = subprocess.run([PCOL, "schema", "-q", "--format", "ndjson", *_of_model(model), str(path)], capture_output=True)
    if done.returncode:
        return {}
    tables = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        tables.setdefault(row["table"], []).append((row["name"], row["type"]))
    return tables


def is_answer(path, table):
    """`pcol cat` shows Perun's resources, models and snapshots as Perun does, not the tables."""
    return path.suffix == ".perf" and table in ("resources", "models", "snapshots")


def rows(path, model, table):
    """Rows as lists of JSON values; None: `pcol cat` rejects the table."""
    done = subprocess.run([PCOL, "cat", "-q", "--format", "ndjson", *_of_model(model), "--table", table, str(path)], capture_output=True)
    if done.returncode:
        return None
    return [[value for _, value in json.loads(line, object_pairs_hook=list)] for line in done.stdout.splitlines()]


def is_text(data):
    """Whether bytes are text to a database: UTF-8 without NUL."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def plain(value, kind):
    """A cell of JSON without the conventions of JSON: bytes for text that is not UTF-8, floats for "NaN"."""
    if value is None:
        return None
    if kind == "f64":
        return float(value)
    if kind in ("string", "bytes"):
        data = value.encode("utf-8", "surrogateescape")
        return value if is_text(data) else data
    return value


def in_sqlite(value, kind):
    """The cell as SQLite shows it."""
    value = plain(value, kind)
    if kind == "f64" and value is not None and value != value:
        return None
    if kind == "u64" and value is not None and value > 2**63 - 1:
        return str(value)
    if kind == "list" and value is not None:
        return "[" + ",".join(map(str, value)) + "]"
    return int(value) if isinstance(value, bool) else value
