#!/usr/bin/env python3
"""The benchmark page: bench/page.py RESULTS.jsonl FOLDER writes benchmarks.md and benchmarks.svg there.

RESULTS.jsonl is the output of `bench/run --json`; its first line describes the machine. Rows with a goal (GOALS) are compared with
it. The chart shows the speed ratio of each row that compares times. The notes, FOLDER/benchmarks-notes.md, follow the tables. Each
note begins with the names of its rows, <!-- name name -->; a name that ends in "." is a prefix. The program warns on stderr about
each row that misses its goal and has no note.
"""
import html
import json
import math
import pathlib
import re
import sys

# name -> (goal, "at most" or "at least") for the ratio of a row as bench/run computes it.
GOALS = {
    "open.cell": (1, "at most"), "library.open": (1, "at most"), "library.sum": (0.9, "at least"),
    "library.arrow.samples": (3, "at least"), "library.arrow.values": (3, "at least"),
    "library.arrow.locations": (3, "at least"),
    "library.checks.gather": (1, "at most"), "library.checks.steps": (1, "at most"), "library.check": (1, "at most"),
    "top.packed": (1000, "at least"), "top.packed.taghide": (200, "at least"), "top.scaling": (1.5, "at most"), "scale.top": (1.5, "at most"),
    "pprof.pack": (2.5, "at most"), "pprof.pack.proto": (10, "at least"), "group.sums duckdb on parquet": (20, "at least"),
    "group.sums duckdb in memory": (2, "at least"), "size": (0.65, "at most"), "pprof.size": (1, "at most"), "archive.size": (1, "at most"),
    "pack.memory": (1, "at most"), "scale.memory": (1, "at most"), "scale.pack.memory": (1, "at most"),
    "pack.time": (10, "at most"), "pack.one": (1, "at least"), "pack.summary": (100, "at least"), "top.raw": (20, "at least"),
    "top.rprof": (100, "at least"), "pprof.memory": (3, "at most"), "pprof.memory.bound": (1, "at most"),
    "pprof.unpack.proto": (10, "at least"), "pprof.unpack": (1.3, "at most"), "firefox.pack.wall": (1, "at most"),
    "firefox.pack.node.wall": (1, "at most"), "firefox.memory": (1 / 3, "at most"), "firefox.memory.bound": (1, "at most"),
    "firefox.jslb": (5, "at least"), "firefox.size": (1, "at most"), "perun.pack": (1, "at least"), "perun.size": (1, "at most"),
    "perun.memory.bound": (1, "at most"), "perun.query": (100, "at least"), "merge.memory": (1, "at most"),
    "fleet.flat.memory": (1, "at most"), "fleet.sums": (1, "at most"), "fleet.sums.memory": (1, "at most"),
    "fleet.tree": (1.3, "at most"), "fleet.hashes": (1, "at most"),
    "r.v1": (0.5, "at least"), "r.summary": (40, "at least"), "r.summary.full": (40, "at least"), "r.profvis": (20, "at least"),
    "python.frames": (40, "at least"), "python.frames.memory": (3, "at most"), "python.sampler": (1.02, "at most"),
    "python.sampler.samples": (0.9, "at least"),
    "report.open": (10, "at least"), "report.open.fifth": (10, "at least"), "report.memory": (1 / 3, "at most"),
    "report.memory.fifth": (1 / 3, "at most"), "report.open.goal": (1, "at most"), "report.frames": (1, "at most"),
    "report.frames.p95": (1, "at most"), "report.selections": (1, "at most"), "report.searches": (1, "at most"), "report.labels": (1, "at most"),
    "report.page": (1, "at most"), "report.size": (1, "at most"), "window.again": (1, "at most"), "window.zoomed": (1, "at most"),
    "window.inverted": (1, "at most"), "window.callers": (1, "at most"), "window.memory": (1, "at most"),
    "window.again.deep": (1, "at most"), "window.zoomed.deep": (1, "at most"), "window.inverted.deep": (1, "at most"),
    "window.callers.deep": (1, "at most"), "window.memory.deep": (1, "at most"),
    "cancel.import": (1, "at most"), "cancel.write": (1, "at most"), "cancel.check": (1, "at most"), "cancel.query": (1, "at most"),
    "cancel.read": (1, "at most"), "cancel.export": (1, "at most"),
    "sql.sqlite.name": (1, "at most"), "sql.duckdb.sum": (0.6, "at most"), "sql.duckdb.stack": (1, "at most"),
    "sql.duckdb.stack.many": (1, "at most"),
    "sql.duckdb.time": (1, "at most"), "sql.duckdb.function": (1, "at most"), "sql.duckdb.top": (0.05, "at most"),
}
# Prefixes of rows that share a goal, one row for each kind of input: top.rprof.lines, perun.pack.map.
KINDS = ("top.rprof.", "perun.pack.", "perun.size.", "perun.memory.bound.")
ORDER = ["top", "pack", "pprof", "firefox", "perun", "open", "group", "size", "real", "archive", "library", "scale", "merge", "fleet", "r", "python"]
FASTER = ("top.", "pack.summary", "pprof.pack.proto", "pprof.unpack.proto", "group.", "perun.query", "firefox.parse", "r.summary", "r.profvis")


def goal_of(row):
    name = next((kind[:-1] for kind in KINDS if row["name"].startswith(kind)), row["name"])
    return GOALS.get(f"{name} {row.get('peer', '')}") or GOALS.get(name)


def is_met(row):
    """Whether a row meets its goal; None without a goal."""
    goal = goal_of(row)
    if not goal or "missing" in row:
        return None
    return row["ratio"] <= goal[0] if goal[1] == "at most" else row["ratio"] >= goal[0]


def measured(value, unit, between):
    """A value with the minimum and maximum of its runs."""
    text = f"{number(value)} {unit}"
    return f"{text} ({number(between[0])} to {number(between[1])})" if between else text


def number(value):
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(rows, quick):
    yield "| what | pcol | peer | value | ratio | runs | goal |"
    yield "|---|---:|---|---:|---:|---:|---|"
    for r in rows:
        what = r["what"].replace("|", "\\|")
        if "missing" in r:
            yield f"| {what} | missing: {r['missing']} | | | | | |"
            continue
        goal = goal_of(r)
        met = ""
        if goal and not quick:  # goals apply to the large inputs
            met = f"{goal[1]} {number(goal[0])}: " + ("met" if is_met(r) else "**missed**")
        yield (f"| {what} | {measured(r['value'], r['unit'], r.get('limits'))} | {r['peer']} "
               f"| {measured(r['peer_value'], r['unit'], r.get('peer_limits'))} | {number(r['ratio'])} | {r.get('runs') or ''} | {met} |")


def summary(rows):
    """The number of goals met, and the rows that miss theirs."""
    met = [is_met(r) for r in rows]
    missed = [r for r, good in zip(rows, met) if good is False]
    yield f"Of {sum(m is not None for m in met)} goals {sum(m is True for m in met)} are met." + (" Missed:" if missed else "")
    yield ""
    for r in missed:
        limit, direction = goal_of(r)
        yield f"- `{r['name']}`: {r['what']}, against {r['peer']}: {number(r['ratio'])}, goal {direction} {number(limit)}"
    absent = [r for r in rows if "missing" in r]
    if absent:
        yield ""
        yield f"Not measured, because a program is missing: {len(absent)} of the rows."


def without_note(rows, notes):
    """Names of rows that miss their goals and have no note."""
    about = " ".join(re.findall("<!--(.*?)-->", notes, re.S)).split()
    missed = dict.fromkeys(r["name"] for r in rows if is_met(r) is False)
    return [name for name in missed if not any(name == a or (a.endswith(".") and name.startswith(a)) for a in about)]


# ---- the chart

WIDTH, LEFT, RIGHT, BAR, GAP = 920, 400, 70, 16, 8


def chart(rows):
    """Bar chart of speed ratios on a logarithmic scale."""
    bars = [r for r in rows if "missing" not in r and r["name"].startswith(FASTER) and r["name"] != "top.scaling" and r["ratio"] > 0]
    bars.sort(key=lambda r: -r["ratio"])
    top = 34
    height = top + len(bars) * (BAR + GAP) + 30
    low = min([0.0] + [math.floor(math.log10(r["ratio"])) for r in bars])
    high = max([1.0] + [math.ceil(math.log10(r["ratio"])) for r in bars])

    def x(value):
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    yield f'<text x="{LEFT}" y="18" font-size="14">times faster than the peer (logarithmic)</text>'
    for power in range(int(low), int(high) + 1):
        at = x(10 ** power)
        strong = power == 0
        yield f'<line x1="{at:.1f}" y1="{top - 6}" x2="{at:.1f}" y2="{height - 22}" stroke="{"#444444" if strong else "#dddddd"}"/>'
        yield f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle" fill="#444444">{10 ** power:,}</text>'
    for i, r in enumerate(bars):
        y = top + i * (BAR + GAP)
        label = f"{r['what'].removesuffix(', whole processes') if r['name'].startswith('perun') else r['name']} / {r['peer']}"
        label = label if len(label) < 62 else label[:60] + "…"
        start, end = sorted((x(1), x(r["ratio"])))
        yield f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>'
        yield (f'<rect x="{start:.1f}" y="{y}" width="{max(1.0, end - start):.1f}" height="{BAR}" '
               f'fill="{"#3a7ca5" if r["ratio"] >= 1 else "#b5533c"}"/>')
        yield f'<text x="{end + 4:.1f}" y="{y + 12}">{number(r["ratio"])}</text>'
    yield "</svg>"


PAGE = """# Benchmarks

Generated by `make bench-report` (`bench/run --json build/bench/results.jsonl`, then `bench/page.py`): do not edit. Each row compares
pcol with a peer, in alternating runs. Values are medians of whole processes unless the row names another unit of work, with the minimum and
maximum of the runs. The column `runs` is the number of runs: fewer for slow peers, none for figures that do not vary. A run repeats commands of
less than 50 ms five times. All files are warm, in the page cache. The figures are of one shared machine; others have other ratios. The
first lines of each file in [bench/cases](../bench/cases) describe its group.

Most inputs are generated, with the shapes of real profiles; the group `real` has profiles as profilers wrote them. What pcol reads from sums that it
stored when it packed is marked so; rows that read each sample are next to them. "Perun's way" is a re-implementation of Perun's queries with
pandas, bench/perun_query.py, on Perun's own files; all other peers are the programs themselves.

Machine: {machine}

Peers: {versions}

Commands:

    make bench-report               # all of this page{took}; inputs are generated, the same bytes everywhere
    make bench-quick                # small inputs, within a minute
    bench/run --only NAME           # one of: {names}

![times faster than the peer](benchmarks.svg)
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    machine, rows = lines[0], [line for line in lines[1:] if "name" in line]
    took = {name: wall for line in lines[1:] for name, (wall, _) in line.get("took", {}).items()}
    minutes = f", {sum(took.values()) / 60:.0f} minutes" if took else ""
    names = sorted(dict.fromkeys(r["name"].split(".")[0] for r in rows), key=lambda name: (ORDER + [name]).index(name))
    text = PAGE.format(machine=machine.get("machine", "unknown"), names=", ".join(machine.get("cases", names)), took=minutes,
                       versions=", ".join(f"{name} {version}" for name, version in machine.get("versions", {}).items()))
    if machine.get("quick"):
        text += "\nThis is a quick run with small inputs, possibly on a busy machine: no goals apply.\n"
    else:
        text += "\n" + "\n".join(summary(rows)) + "\n"
    for name in names:
        spent = f"Took {took[name]:.0f} s.\n\n" if name in took else ""
        text += f"\n## {name}\n\n{spent}" + "\n".join(table([r for r in rows if r["name"].split(".")[0] == name], machine.get("quick"))) + "\n"
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    notes = folder / "benchmarks-notes.md"
    if notes.exists():
        text += "\n" + notes.read_text()
    for name in [] if machine.get("quick") else without_note(rows, text):
        print(f"bench/page.py: {name} misses its goal; add a note with the reason to {notes}", file=sys.stderr)
    (folder / "benchmarks.md").write_text(text)
    (folder / "benchmarks.svg").write_text("\n".join(chart(rows)) + "\n")


if __name__ == "__main__":
    main()
