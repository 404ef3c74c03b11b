"""The Python package (`make python`): a DataFrame of samples x functions of 10 MB of pprof against the way over CSV (`pcol cat`,
pandas.read_csv, merge), with its peak of memory; and the sampler at 100 Hz against the same program without it, which is bound to
the CPU. bench/python.py measures CPU time inside of Python, alternating, without the start of the interpreter; the sampler's time
includes the making of the profile."""
import json
import os
import subprocess

from harness import MB, ROOT, Missing, pack_command, pprof_file, row, timed, tool

PYTHON = "/usr/bin/python3"


def measured(*arguments):
    package = ROOT / "build/python/lib"
    if not (package / "pcol").exists():
        raise Missing("the Python package is missing; run make python")
    done = subprocess.run([tool(PYTHON), ROOT / "bench/python.py", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(package)})
    if done.returncode != 0:
        raise Missing(f"bench/python.py failed: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


def measure(options):
    size = (2 if options.quick else 10) * MB
    profile = pprof_file(size)
    packed = profile.with_suffix(".python.pcol")
    timed(pack_command(profile, packed))
    frames, memory = measured("frames", packed, options.runs), measured("peak", packed)
    what = f"Python: DataFrame of samples x functions of {size // MB} MB of pprof, {frames['rows']:,} rows"
    yield row("python.frames", what, round(frames["ours"] * 1000, 1), "over CSV", round(frames["csv"] * 1000, 1),
              frames["csv"] / frames["ours"], "ms", runs=options.runs)
    yield row("python.frames.memory", "peak memory of that", round(memory["peak"] / MB, 1), "the DataFrame",
              round(memory["frame"] / MB, 1), memory["peak"] / memory["frame"], "MB", runs=1)
    seconds = 0.2 if options.quick else 2
    sampler = measured("sampler", seconds, options.runs)
    what = f"Python: sampler at 100 Hz, CPU time; it states {100 * sampler['stated']:.1f} %"
    yield row("python.sampler", what, round(sampler["under"], 3), "the program alone", round(sampler["alone"], 3),
              sampler["under"] / sampler["alone"], "s", runs=options.runs)
    yield row("python.sampler.samples", "samples of that", sampler["samples"], "nominal", sampler["nominal"],
              sampler["samples"] / sampler["nominal"], "samples", runs=options.runs)
