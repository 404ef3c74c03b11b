"""SQL over 5 million samples (--quick: 500,000), CPU time: the extension of DuckDB against DuckDB on Parquet files of the same columns,
on one thread (bench/sql_duckdb.mjs), two of them also against a table of DuckDB in memory, and that of SQLite against a table of SQLite in memory, whose loading is not counted. Each
question opens the profile again in DuckDB, and both must give the same answer. Ratios are ours to the peer's.

A sum by stack of 10,000 stacks misses its goal, 1.0 of Parquet: nine tenths of its CPU time are DuckDB's, as a table of DuckDB in memory shows.
From Parquet DuckDB gets dictionary vectors, and looks each of at most 20,000 entries up in its hash table once; its C API has no such vectors,
nor statistics. Without dictionaries (30,000 stacks) Parquet takes the same way as we do."""
import sqlite3
import statistics
import subprocess
import time

from harness import DATA, ROOT, Missing, duckdb, lines, missing, program, row, timed, tool

MANY = 30000  # stacks, more than DuckDB's limit for dictionaries that it groups by
LABELS = {"sum": "sum of all values", "stack": "sum by stack", "time": "sum of a tenth of the time, by time_from and time_to",
          "function": "sum by function: a virtual column, against a join", "top": "self by function: pcol_top(), against a join",
          "stack.table": "sum by stack", "stack.many": f"sum by stack of {MANY:,}", "top.table": "self by function: pcol_top(), against a table of its rows"}
# Each table with the columns of the question; a stack of the benchmark has one location in each group.
TABLES = {"samples": ("stack", "value"), "stacks": ("group",), "locations": ("function",), "functions": ("name",)}
NAMES = """SELECT f.name, sum(s.value) FROM {0}samples s JOIN {0}stacks k ON k.rowid = s.stack + 1
    JOIN {0}locations l ON l.rowid = k."group" + 1 JOIN {0}functions f ON f.rowid = l.function + 1 GROUP BY f.name ORDER BY 1"""


def built(name):
    path = ROOT / "build" / name
    if not path.exists():
        raise Missing(f"build/{name} is missing; run make sqlite duckdb")
    return path


def cpu(db, sql):
    started = time.process_time()
    rows = db.execute(sql).fetchall()
    return (time.process_time() - started) * 1000, rows


def in_sqlite(packed, count, runs):
    db = sqlite3.connect(":memory:")
    if not hasattr(db, "enable_load_extension"):
        yield missing("sql.sqlite", "the same questions in SQLite", "this Python's SQLite loads no extensions")
        return
    db.enable_load_extension(True)
    db.load_extension(str(built("pcol.so")))
    for table, columns in TABLES.items():
        db.execute(f"CREATE VIRTUAL TABLE {table} USING pcol('{packed}', {table}, physical)")
        names = ", ".join(f'"{name}"' if name != "value" else '"value.1" AS value' for name in columns)
        db.execute(f"CREATE TABLE own_{table} AS SELECT {names} FROM {table}")
    questions = {"sum": ('SELECT sum("value.1") FROM samples', "SELECT sum(value) FROM own_samples"),
                 "name": (NAMES.format("").replace("s.value", 's."value.1"'), NAMES.format("own_"))}
    for what, (mine, theirs) in questions.items():
        taken = [[], []]
        for _ in range(runs):
            (x, a), (y, b) = cpu(db, mine), cpu(db, theirs)
            if a != b:
                raise Missing(f"the answers to {what} differ")
            taken[0].append(x)
            taken[1].append(y)
        label = {"sum": "sum of all values", "name": "sum by name, joins of four tables"}[what]
        x, y = map(statistics.median, taken)
        yield row(f"sql.sqlite.{what}", f"SQLite, {count:,} samples: {label}, CPU", round(x, 1), "a table in memory", round(y, 1), x / y,
                  "ms", runs=runs)


def in_duckdb(packed, count, runs, *asked):
    suffix = ".many" if asked else ""
    try:
        command = [tool("node"), ROOT / "bench/sql_duckdb.mjs", duckdb(), built("pcol.duckdb_extension"), packed, DATA, runs, *asked]
        for r in lines(command):
            what = r["what"] + suffix
            label = f"DuckDB, {count:,} samples: {LABELS[what]}, CPU"
            if "missing" in r:
                yield missing(f"sql.duckdb.{what}", label, r["missing"])
                continue
            peer = "a table in memory" if what.endswith(".table") else "Parquet"
            yield row(f"sql.duckdb.{what}", label, round(r["ours"], 1), peer, round(r["peer"], 1), r["ours"] / r["peer"], "ms", runs=runs)
    except (Missing, subprocess.SubprocessError) as reason:
        yield missing(f"sql.duckdb{suffix}", "the same questions in DuckDB", reason)


def measure(options):
    count = 500000 if options.quick else 5000000
    packed = DATA / "sql.pcol"
    DATA.mkdir(parents=True, exist_ok=True)
    timed([program("gen_scale"), "--samples", count, packed])
    yield from in_sqlite(packed, count, options.runs)
    yield from in_duckdb(packed, count, options.runs)
    timed([program("gen_scale"), "--samples", count, "--stacks", MANY, packed])
    yield from in_duckdb(packed, count, options.runs, "stack")
    packed.unlink()
