"""Components of the cases of bench/run: cached inputs, interleaved runs, rows of results.

Machines differ and are shared, so only ratios are meaningful: the runs of pcol and of its peer alternate, and their medians
are compared.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PCOL = pathlib.Path(os.environ.get("PCOL") or ROOT / "build/pcol").resolve()
PROGRAMS = ROOT / "build/bench"
DATA = PROGRAMS / "data"
MODULES = PROGRAMS / "npm"
DUCKDB = "@duckdb/node-api"
PINNED = "1.5.6-r.1"
SPEEDSCOPE = "speedscope"
SPEEDSCOPE_PINNED = "1.25.0"
MB = 1000 * 1000
SPEND = 60  # seconds after which a comparison starts no further turn
LEAST = 2  # minimum number of turns
SHORT = 0.05  # seconds: shorter commands run several times in each turn
OFTEN = 5
turns = 1  # of the last comparison, for the column runs of its rows
spread = {}  # of the last comparison: median in seconds -> (minimum, maximum)


class Missing(Exception):
    """A peer or the program itself is missing."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def timed(command, stdout=subprocess.DEVNULL, clock="wall"):
    """Seconds (of the clock; clock="cpu": of CPU time) and peak resident bytes of one run."""
    # A child's peak memory starts with that of its parent, which may have had a whole input in memory.
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    started = time.perf_counter()
    child = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
    text = child.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode != 0:
        raise Missing(f"{' '.join(map(str, command[:2]))} failed: {text.strip()[:200]}")
    if clock == "cpu":
        seconds = usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss * 1024


def interleaved(runs, clock="wall", **commands):
    """Medians of alternating runs: name -> (seconds, peak bytes), after one run of each to warm the caches. Slow peers have fewer
    turns than requested (SPEND, LEAST); rows have their number. Short commands run OFTEN times in each turn."""
    global turns, spread
    seen = {name: [] for name in commands}
    started = time.monotonic()
    for turn in range(runs + 1):
        if turn > LEAST and time.monotonic() - started > SPEND:
            break
        turns = max(1, turn)
        for name, command in commands.items():
            result = timed(command, clock=clock)
            for _ in range(OFTEN - 1 if turn and result[0] < SHORT else 0):
                seen[name].append(timed(command, clock=clock))
            if turn:
                seen[name].append(result)
    medians = {name: statistics.median(t for t, _ in results) for name, results in seen.items()}
    spread = {medians[name]: (min(results)[0], max(results)[0]) for name, results in seen.items()}
    return {name: (medians[name], max(m for _, m in results)) for name, results in seen.items()}


def program(name):
    path = PROGRAMS / name
    if not path.exists():
        raise Missing(f"build/bench/{name} is missing")
    return path


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Missing(f"{name} is missing")
    return path


def generated(name, maker, *flags):
    """Path in DATA of an input that a program of bench/ generates; cached until the program changes."""
    generator = program(maker)
    path = DATA / name
    if not path.exists() or path.stat().st_mtime < generator.stat().st_mtime:
        DATA.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        with part.open("wb") as out:
            subprocess.run([generator, *map(str, flags)], stdout=out, check=True)
        part.rename(path)
    return path


def text_file(size):
    """Rprof text of this size with memory columns."""
    return generated(f"memory-{size // MB}M.Rprof", "gen_rprof", "--bytes", size, "--seed", 1, "--memory")


def pack_command(text, packed, *options):
    return [PCOL, "pack", text, "-o", packed, "-f", "--no-sync", *options]


def packed_file(size):
    text = text_file(size)
    packed = text.with_suffix(".pcol")
    timed(pack_command(text, packed))
    return packed


def count(table, packed):
    done = subprocess.run([PCOL, "count", "--table", table, packed], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"pcol count --table {table} failed: {done.stderr.strip()[:200]}")
    return int(done.stdout.split()[-1])


SECONDS = {"s": 1, "ms": 1000, "us": 1000000}


def limits(value, unit):
    """[minimum, maximum] of the runs that this time is the median of; None if it is not of the last interleaved()."""
    scale = SECONDS.get(unit, 0)
    for median, both in spread.items() if scale else ():
        if value and abs(median * scale / value - 1) < 0.01:
            return [round(limit * scale, 4) for limit in both]
    return None


def lines(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{command[0]} failed: {done.stderr.strip()[:200]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def duckdb():
    """Installed once; without it the row of DuckDB reports that it is missing."""
    package = MODULES / "node_modules" / DUCKDB / "package.json"
    if not (package.exists() and json.loads(package.read_text())["version"] == PINNED) and shutil.which("npm"):
        MODULES.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(MODULES), f"{DUCKDB}@{PINNED}"], capture_output=True,
                       timeout=300)
    return MODULES


def speedscope():
    """The folder of the npm package, installed once; Missing without it."""
    folder = MODULES / "node_modules" / SPEEDSCOPE
    if not (folder / "package.json").exists() and shutil.which("npm"):
        MODULES.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(MODULES),
                        f"{SPEEDSCOPE}@{SPEEDSCOPE_PINNED}"], capture_output=True, timeout=300)
    if not (folder / "package.json").exists():
        raise Missing("the npm package speedscope is missing")
    return folder


def row(name, what, value, peer, peer_value, ratio, unit, runs=None):
    """runs: how many the value is the median of, where it is not that of the last interleaved(); 0: it is the same each time."""
    made = {"name": name, "what": what, "value": value, "unit": unit, "peer": peer, "peer_value": peer_value,
            "ratio": round(ratio, 4), "runs": turns if runs is None else runs}
    if runs is None:
        made |= {key: limits(made[of], unit) for key, of in (("limits", "value"), ("peer_limits", "peer_value"))}
    return made


# The peers, each with the command that prints its version and the pattern of it.
PEERS = {"gcc": (["gcc", "-dumpfullversion"], r"\S+"), "gzip": (["gzip", "--version"], r"[\d.]+"), "zstd": (["zstd", "--version"], r"v([\d.]+)"),
         "R": (["Rscript", "--version"], r"[\d.]{3,}"), "Go, pprof": (["go", "version"], r"go([\d.]+)"), "Node": (["node", "--version"], r"v([\d.]+)"),
         "Python": ([sys.executable, "--version"], r"[\d.]+"),
         "SQLite": ([sys.executable, "-c", "import sqlite3; print(sqlite3.sqlite_version)"], r"[\d.]+"),
         "pandas": (["/usr/bin/python3", "-c", "import pandas; print(pandas.__version__)"], r"[\d.]+")}


def versions():
    """name -> version of each peer that is installed."""
    found = {}
    for name, (command, pattern) in PEERS.items():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            match = re.search(pattern, done.stdout + done.stderr) if done.returncode == 0 else None
            if match:
                found[name] = match.group(match.lastindex or 0)
    return found


def memory_row(name, packed, peak):
    """Peak memory of packing against its bound: 64 MB, 24 B per sample, 8 per label cell, 64 per node."""
    done = subprocess.run([PCOL, "info", "--format", "json", packed], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"pcol info failed: {done.stderr.strip()[:200]}")
    info = json.loads(done.stdout)
    samples, labels = info["samples"], sum(label["rows"] for label in info["labels"] if label["table"] == "samples")
    nodes = sum(table["rows"] for table in info["tables"] if table["name"] == "stacks")
    bound = 64 * MB + 24 * samples + 8 * labels + 64 * nodes
    more = f", {labels:,} cells of labels" if labels else ""
    return row(name, f"peak memory of that, {samples:,} samples, {nodes:,} nodes{more}", round(peak / MB, 1),
               "64 MB + 24 B x samples + 8 B x labels + 64 B x nodes", round(bound / MB, 1), peak / bound, "MB")


def missing(name, what, reason):
    return {"name": name, "what": what, "missing": " ".join(str(reason).split())}


def faster(name, what, result, ours, peer, peer_name):
    seconds, peer_seconds = result[ours][0], result[peer][0]
    return row(name, what, round(seconds * 1000, 2), peer_name, round(peer_seconds * 1000, 2), peer_seconds / seconds,
               "ms")


def pprof_program():
    """$PPROF, pprof, or the one among the tools of Go."""
    given = os.environ.get("PPROF") or shutil.which("pprof")
    if given:
        return given
    done = subprocess.run([tool("go"), "tool", "-n", "pprof"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing("pprof is missing")
    return done.stdout.split()[0]


def pprof_file(size):
    """A pprof profile with labels of about this size before compression."""
    return generated(f"labels-{size // MB}M.pb.gz", "gen_pprof", "--bytes", size, "--seed", 1, "--gz")


def runs_of(name, suffix, count, *flags):
    """Profiles of this number of runs of one program, 1 MB each before compression."""
    generator = program(name)
    paths = [DATA / f"run-{number}{suffix}" for number in range(1, count + 1)]
    DATA.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(paths, 1):
        with path.open("wb") as out:
            subprocess.run([generator, "--bytes", str(MB), "--run", str(number), *flags], stdout=out, check=True)
    return paths
