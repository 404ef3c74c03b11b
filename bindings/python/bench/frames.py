"""frames.py PROFILE - a DataFrame of samples x functions: this package against the way over CSV

Prints CPU time (this process and its children, best of 3), and the peak of memory of the first way, measured in a process
of its own, as a multiple of the DataFrame. PCOL: the command. Run it with the package on the path:

    make python && PYTHONPATH=build/python/lib /usr/bin/python3 bindings/python/bench/frames.py run.pb.gz
"""
import io
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas

import pcol

COMMAND = os.environ.get("PCOL", str(Path(__file__).resolve().parents[3] / "build" / "pcol"))


def cpu() -> float:
    """CPU seconds of this process and its children that have ended."""
    return sum(getattr(resource.getrusage(who), name)
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
               for name in ("ru_utime", "ru_stime"))


def by_package(profile: "pcol.Profile") -> pandas.DataFrame:
    return profile.frames().to_pandas(["sample_id", "function"])


def by_csv(path: str) -> pandas.DataFrame:
    def table(name: str, columns: str) -> pandas.DataFrame:
        text = subprocess.run([COMMAND, "cat", "--format", "csv", "--table", name, "--columns",
                               columns, path], capture_output=True, check=True).stdout
        return pandas.read_csv(io.BytesIO(text), na_values="\\N")
    frames = table("sample_locations", "sample_id,location_id")
    frames = frames.merge(table("locations", "location_id,function_id"), on="location_id")
    frames = frames.merge(table("functions", "function_id,name"), on="function_id")
    frames["function"] = frames["name"].astype("category")
    return frames[["sample_id", "function"]]


def best(function, argument) -> tuple[float, pandas.DataFrame]:
    times = []
    for _ in range(3):
        begin = cpu()
        frame = function(argument)
        times.append(cpu() - begin)
    return min(times), frame


def resident() -> int:
    """Peak of this process's memory in KiB, since the last reset of it."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def peak(path: str) -> None:
    """In a process of its own: peak of memory over the start, by the DataFrame."""
    warm = pcol.open(b"main 1\n", format="folded")
    by_package(warm)
    profile = pcol.open(path, copy=False)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")
    before = resident()
    frame = by_package(profile)
    used = (resident() - before) * 1024
    print(f"{used / frame.memory_usage(deep=False).sum():.2f}")


def main() -> None:
    if sys.argv[1] == "--peak":
        peak(sys.argv[2])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.pcol")
        opening, profile = best(pcol.open, sys.argv[1])
        profile.save(path)
        first, frame = best(lambda p: by_package(pcol.open(p)), path)
        second, other = best(by_csv, path)
        counts = frame["function"].value_counts().sort_index()
        wanted = other["function"].value_counts().sort_index()
        if dict(counts[counts > 0]) != dict(wanted[wanted > 0]):
            sys.exit("the two ways differ")
        memory = subprocess.run([sys.executable, __file__, "--peak", path], capture_output=True,
                                text=True, check=True).stdout.strip()
    print(f"open the profile:  {1000 * opening:8.1f} ms")
    print(f"samples x functions, {len(frame)} rows")
    print(f"  this package:    {1000 * first:8.1f} ms, peak of memory {memory} times the DataFrame")
    print(f"  over CSV:        {1000 * second:8.1f} ms, {second / first:.0f} times as long")


if __name__ == "__main__":
    main()
