#!/usr/bin/env python3
"""The benchmark page: bench/page.py RESULTS.jsonl FOLDER writes benchmarks.md and benchmarks.svg there.

RESULTS.jsonl is what `bench/run --json` wrote; its first line describes the machine. Rows that have a goal (GOALS) are
set against it; the chart shows how many times faster than its peer each of those is.
"""
import html
import json
import math
import pathlib
import sys

# name -> (goal, "at most" or "at least", whether the ratio is peer / pcol already). The ratio of a row as bench/run gives it.
GOALS = {
    "open.large": (1.2, "at most"), "library.sum": (0.9, "at least"),
    "library.checks.gather": (1, "at most"), "library.checks.steps": (1, "at most"), "library.check": (1, "at most"),
    "top.packed": (1000, "at least"), "top.packed.taghide": (200, "at least"), "top.scaling": (1.5, "at most"), "scale.top": (1.5, "at most"),
    "pprof.pack": (2.5, "at most"), "pprof.pack.proto": (10, "at least"), "group.sums duckdb on parquet": (20, "at least"),
    "group.sums duckdb in memory": (2, "at least"), "size": (0.65, "at most"), "pprof.size": (1, "at most"), "archive.size": (1, "at most"),
    "pack.memory": (1, "at most"), "scale.memory": (1, "at most"), "scale.pack.memory": (1, "at most"),
}
FASTER = ("top.", "pprof.pack.proto", "pprof.unpack.proto", "group.", "perun.query", "firefox.parse")


def goal_of(row):
    return GOALS.get(f"{row['name']} {row.get('peer', '')}") or GOALS.get(row["name"])


def number(value):
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(rows, quick):
    yield "| what | pcol | peer | value | ratio | goal |"
    yield "|---|---:|---|---:|---:|---|"
    for r in rows:
        what = r["what"].replace("|", "\\|")
        if "missing" in r:
            yield f"| {what} | missing: {r['missing']} | | | | |"
            continue
        goal = goal_of(r)
        met = ""
        if goal and not quick:  # goals are of the large inputs
            good = r["ratio"] <= goal[0] if goal[1] == "at most" else r["ratio"] >= goal[0]
            met = f"{goal[1]} {number(goal[0])}" + ("" if good else ": **short**")
        yield f"| {what} | {number(r['value'])} {r['unit']} | {r['peer']} | {number(r['peer_value'])} {r['unit']} | {number(r['ratio'])} | {met} |"


# ---- the chart

WIDTH, LEFT, RIGHT, BAR, GAP = 900, 380, 70, 16, 8


def chart(rows):
    """Bars of how many times faster than its peer, on a logarithmic scale."""
    bars = [r for r in rows if "missing" not in r and r["name"].startswith(FASTER) and r["name"] != "top.scaling" and r["ratio"] > 0]
    bars.sort(key=lambda r: -r["ratio"])
    bars = bars[:24]
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
        label = f"{r['what'] if r['name'].startswith('perun') else r['name']} / {r['peer']}"
        label = label if len(label) < 56 else label[:54] + "…"
        start, end = sorted((x(1), x(r["ratio"])))
        yield f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(label)}</text>'
        yield (f'<rect x="{start:.1f}" y="{y}" width="{max(1.0, end - start):.1f}" height="{BAR}" '
               f'fill="{"#3a7ca5" if r["ratio"] >= 1 else "#b5533c"}"/>')
        yield f'<text x="{end + 4:.1f}" y="{y + 12}">{number(r["ratio"])}</text>'
    yield "</svg>"


PAGE = """# Benchmarks

Made by `make bench` (`bench/run --json build/bench/results.jsonl`, then `make bench-page`): do not edit. Every row is pcol
and a peer measured in turn in one run; medians of whole processes unless the row says otherwise. Ratios hold elsewhere, milliseconds do not. What
each group measures stands in the first lines of its file in [bench/cases](../bench/cases).

Machine: {machine}

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
    names = list(dict.fromkeys(r["name"].split(".")[0] for r in rows))
    text = PAGE.format(machine=machine.get("machine", "not said"), names=", ".join(machine.get("cases", names)), took=minutes)
    if machine.get("quick"):
        text += "\nThis is a quick run, of small inputs, on a machine that had other work: no goals are set against it.\n"
    for name in names:
        spent = f"Took {took[name]:.0f} s.\n\n" if name in took else ""
        text += f"\n## {name}\n\n{spent}" + "\n".join(table([r for r in rows if r["name"].split(".")[0] == name], machine.get("quick"))) + "\n"
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    notes = folder / "benchmarks-notes.md"
    if notes.exists():
        text += "\n" + notes.read_text()
    (folder / "benchmarks.md").write_text(text)
    (folder / "benchmarks.svg").write_text("\n".join(chart(rows)) + "\n")


if __name__ == "__main__":
    main()
