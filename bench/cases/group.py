"""Group-by function of 5 million samples (--quick: 500,000) within a process, with the file opened each time: from the sums of a pcol
file, and by reading every sample. Peers are DuckDB on Parquet, DuckDB in memory and SQLite in memory, which have the same two
columns and a table of the innermost functions of stacks (bench/group_by.mjs; npm installs the pinned DuckDB under build/bench; SQLite
is Python's). Ratios are speedups; all results must have the same sum."""
import csv
import statistics
import subprocess
import time

from harness import DATA, PCOL, ROOT, Missing, duckdb, lines, missing, program, row, timed, tool


def cat(path, *arguments):
    done = subprocess.run([PCOL, "cat", "--format", "csv", *arguments, path], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"pcol cat failed: {done.stderr.strip()[:200]}")
    return csv.DictReader(done.stdout.splitlines())


def tables(packed):
    """The two tables as CSV: (stack, value) of samples, (stack, name of the innermost function) of stacks."""
    samples, stacks = DATA / "group-samples.csv", DATA / "group-stacks.csv"
    with samples.open("wb") as out:
        timed([PCOL, "cat", "--physical", "--table", "samples", "--columns", "stack,value.1", "--format", "csv", packed], stdout=out)
    names = [r["name"] for r in cat(packed, "--table", "functions")]
    functions = [int(r["function"]) for r in cat(packed, "--physical", "--table", "locations")]
    with stacks.open("w") as out:
        out.write("stack,name\n")
        for number, r in enumerate(cat(packed, "--physical", "--table", "stacks")):
            if number:
                out.write(f"{number},{names[functions[int(r['group'])]]}\n")
    return samples, stacks


def sqlite(samples, stacks, repeats):
    """The same question to Python's SQLite; its tables are in memory and indexed by their keys."""
    try:
        import sqlite3
    except ImportError as reason:
        return [{"what": "sqlite in memory", "missing": str(reason)}]
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE samples(stack INTEGER, value INTEGER)")
    db.execute("CREATE TABLE stacks(stack INTEGER PRIMARY KEY, name TEXT)")
    for table, path in (("samples", samples), ("stacks", stacks)):
        with path.open(newline="") as text:
            rows = csv.reader(text)
            next(rows)
            db.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        rows = db.execute("SELECT name, sum(value) FROM samples s JOIN stacks k ON s.stack = k.stack GROUP BY name").fetchall()
        taken.append((time.perf_counter() - started) * 1000)
    return [{"what": "sqlite in memory", "ms": statistics.median(taken), "rows": len(rows), "total": sum(v for _, v in rows)}]


def measure(options):
    count = 500000 if options.quick else 5000000
    packed = DATA / "group.pcol"
    DATA.mkdir(parents=True, exist_ok=True)
    timed([program("gen_scale"), "--samples", count, packed])
    ours = {r["what"]: r for r in lines([program("group"), packed, max(options.runs, 5)])}
    label = {"sums": f"self and total by function, {count:,} samples, from the file's sums",
             "samples": f"self and total by function, {count:,} samples, each of them read"}
    try:
        samples, stacks = tables(packed)
    except Missing as reason:
        yield missing("group", "the same tables for DuckDB and SQLite", reason)
        return
    theirs = sqlite(samples, stacks, 3)
    try:
        theirs += lines([tool("node"), ROOT / "bench/group_by.mjs", duckdb(), samples, stacks, DATA, max(options.runs, 5)])
    except Missing as reason:
        theirs += [{"what": "duckdb", "missing": str(reason)}]
    samples.unlink()
    stacks.unlink()
    packed.unlink()
    for what, mine in ours.items():
        for other in theirs:
            if "missing" in other:
                yield missing(f"group.{what}", f"{label[what]}, against {other['what']}", other["missing"])
                continue
            if other["total"] != mine["total"]:
                raise Missing(f"{other['what']} comes to {other['total']}, pcol to {mine['total']}")
            yield row(f"group.{what}", label[what], round(mine["ms"], 3), other["what"], round(other["ms"], 3), other["ms"] / mine["ms"], "ms", runs=3 if other["what"].startswith("sqlite") else max(options.runs, 5))
