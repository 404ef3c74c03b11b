"""python.py frames|peak|sampler PROFILE|SECONDS [RUNS] - the Python package against other ways; for bench/cases/python.py

A line of JSON: medians of CPU seconds of alternating runs. frames: a DataFrame of samples x functions of a .pcol file, by this
package and over CSV (`pcol cat` and pandas, CPU time of the command included), and the number of rows; the two must agree.
peak: bytes that the first takes at its peak, and bytes of the DataFrame; a process of its own, as memory stays.
sampler: a CPU-bound program alone and under pcol.profile() at 100 Hz, and the samples with their nominal number.
"""
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pandas

import pcol

COMMAND = os.environ.get("PCOL") or str(Path(__file__).resolve().parents[1] / "build" / "pcol")
INTERVAL = 0.01


def cpu():
    """CPU seconds of this process and its children that have ended."""
    return sum(getattr(resource.getrusage(who), name)
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for name in ("ru_utime", "ru_stime"))


def by_package(profile):
    return profile.frames().to_pandas(["sample_id", "function"])


def by_csv(path):
    def table(name, columns):
        command = [COMMAND, "cat", "--format", "csv", "--table", name, "--columns", columns, path]
        text = subprocess.run(command, capture_output=True, check=True).stdout
        return pandas.read_csv(io.BytesIO(text), na_values="\\N")
    frames = table("sample_locations", "sample_id,location_id")
    frames = frames.merge(table("locations", "location_id,function_id"), on="location_id")
    frames = frames.merge(table("functions", "function_id,name"), on="function_id")
    frames["function"] = frames["name"].astype("category")
    return frames[["sample_id", "function"]]


def alternate(runs, ways):
    """Medians of the CPU seconds of ways, after a run of each to warm up, and the last results."""
    times, results = [[] for _ in ways], [None] * len(ways)
    for turn in range(runs + 1):
        for number, way in enumerate(ways):
            begin = cpu()
            results[number] = way()
            if turn:
                times[number].append(cpu() - begin)
    return [statistics.median(t) for t in times], results


def frames(path, runs):
    (ours, over_csv), (frame, other) = alternate(runs, [lambda: by_package(pcol.open(path)), lambda: by_csv(path)])
    counts, wanted = (f["function"].value_counts().sort_index() for f in (frame, other))
    if dict(counts[counts > 0]) != dict(wanted[wanted > 0]):
        sys.exit("the two ways differ")
    return {"ours": ours, "csv": over_csv, "rows": len(frame)}


def resident():
    """Peak of this process's memory in KiB, since the last reset of it."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def peak(path):
    by_package(pcol.open(b"main 1\n", format="folded"))
    profile = pcol.open(path)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = resident()
    frame = by_package(profile)
    return {"peak": (resident() - before) * 1024, "frame": int(frame.memory_usage(deep=False).sum())}


def leaf(n):
    return sum(i * i for i in range(n))


def deep(depth):
    return deep(depth - 1) if depth else leaf(400)


def program(rounds):
    """Bound to the CPU and deterministic: calls, loops, allocations, calls in C."""
    for _ in range(rounds):
        deep(30)
        words = [str(i) for i in range(300)]
        sorted(words, key=len)


def sampler(seconds, runs):
    begin = time.process_time()
    program(500)
    rounds = round(500 * seconds / (time.process_time() - begin))
    counts = []

    def sampled():
        with pcol.profile(interval=INTERVAL) as recorder:
            program(rounds)
        counts.append((recorder.samples, recorder.result.sources["duration_ns"][0] / 1e9 / INTERVAL, recorder.overhead))
    (alone, under), _ = alternate(runs, [lambda: program(rounds), sampled])
    samples, nominal, stated = (statistics.median(values) for values in zip(*counts))
    return {"alone": alone, "under": under, "samples": samples, "nominal": round(nominal, 1), "stated": stated}


def main():
    what, subject, *runs = sys.argv[1:]
    if what == "peak":
        print(json.dumps(peak(subject)))
    else:
        measured = frames(subject, int(runs[0])) if what == "frames" else sampler(float(subject), int(runs[0]))
        print(json.dumps(measured))


if __name__ == "__main__":
    main()
