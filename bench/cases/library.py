"""Library calls within one process, in nanoseconds per item (build/bench/library): open, cell, scan,
walk, range of a view, archive; the sum of a plain column against the sum of an array in memory, its
limit; Arrow streams against `cat --format csv`; the cost of checks at each access, and the speed of
`check`, against their goals."""
import functools
import json
import statistics
import subprocess

import harness
from harness import DATA, Missing, program, timed

row = functools.partial(harness.row, runs=9)  # TURNS of bench/library.c

STREAMS = {"arrow.samples": "samples", "arrow.values": "sample_values",
           "arrow.locations": "sample_locations"}


def csv_seconds(packed, table):
    """CPU time of printing a table, the median of three runs."""
    command = [harness.PCOL, "cat", "--table", table, "--format", "csv", packed]
    return statistics.median(timed(command, clock="cpu")[0] for _ in range(3))


def measure(options):
    samples = 100000 if options.quick else 2000000
    packed, plain, archive = DATA / "library.pcol", DATA / "library-plain.pcol", DATA / "library-archive.pcol"
    DATA.mkdir(parents=True, exist_ok=True)
    timed([program("gen_scale"), "--samples", samples, packed])
    timed([program("gen_scale"), "--samples", samples, "--plain", plain])
    timed([program("gen_scale"), "--samples", samples, "--archive", archive])
    done = subprocess.run([program("library"), packed, plain, archive], capture_output=True, text=True)
    printed = {op: csv_seconds(packed, table) for op, table in STREAMS.items()}
    for path in (packed, plain, archive):
        path.unlink()
    if done.returncode != 0:
        raise Missing(f"library failed: {done.stderr.strip()[:200]}")
    seen = {r["op"]: r for r in map(json.loads, done.stdout.splitlines())}
    array = seen.pop("array")
    plain_sum = seen.pop("sum")
    opened = seen.pop("open")
    checks = [seen.pop("gather"), seen.pop("steps")]
    checked = seen.pop("check")
    yield row("library.open", opened["what"], round(opened["ns"] / 1000, 2), "the goal", 20, opened["ns"] / 20000, "us")
    touched = seen.pop("archive.touch")
    for op, seconds in printed.items():
        stream = seen.pop(op)
        ns = seconds * 1e9 / stream["items"]
        yield row(f"library.{op}", stream["what"] + ": speed", round(1000 / stream["ns"], 2),
                  "cat --format csv", round(1000 / ns, 2), ns / stream["ns"], "million rows/s")
    for op, r in seen.items():
        yield row(f"library.{op}", f"{r['what']}, an item", round(r["ns"], 2), array["what"], round(array["ns"], 2),
                  r["ns"] / array["ns"], "ns")
    yield row("library.archive.touch", touched["what"], round(touched["ns"] / 1000, 1), "opening the file", round(opened["ns"] / 1000, 2),
              touched["ns"] / opened["ns"], "us")
    yield row("library.sum", plain_sum["what"] + ": speed", round(1 / plain_sum["ns"], 3), array["what"], round(1 / array["ns"], 3),
              array["ns"] / plain_sum["ns"], "values/ns")
    for r in checks:
        share = max(0.0, r["checked"] - 1)
        yield row(f"library.checks.{r['op']}", f"checks at each access: {r['what']}, more than without", round(100 * share, 2), "the goal", 12,
                  share / 0.12, "%")
    yield row("library.check", checked["what"] + ": speed", round(1 / checked["ns"], 2), "the goal", 1.5, 1.5 * checked["ns"], "GB/s")
