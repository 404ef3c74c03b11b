"""A memory profile of 200,000 allocations: pack of both of its forms against wc -c, the packed files against the zlib of the
form with types, and each question of whole processes against Perun's way (bench/perun_query.py, within a Python that runs
already; the data frame needs pandas); ratios are how many times faster."""
import subprocess
import sys

from harness import DATA, MB, PCOL, ROOT, interleaved, pack_command, row, tool


def perun_files(allocations):
    folder = DATA / f"perun-{allocations}"
    generator = ROOT / "bench/gen_perun.py"
    if not (folder / "map.z").exists() or (folder / "map.z").stat().st_mtime < generator.stat().st_mtime:
        subprocess.run([sys.executable, generator, folder, "--allocations", str(allocations)], check=True)
    return folder


def perun_python():
    """A Python that has pandas, if there is one."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode == 0:
            return python
    return sys.executable


def measure(options):
    allocations = 20000 if options.quick else 200000
    folder = perun_files(allocations)
    zipped = (folder / "map.z").stat().st_size
    for form in ("plain", "map"):
        profile, packed = folder / f"{form}.perf", folder / f"{form}.pcol"
        size = profile.stat().st_size
        result = interleaved(options.runs, pcol=pack_command(profile, packed), wc=[tool("wc"), "-c", profile])
        seconds, peak = result["pcol"]
        label = f"{size / MB:.1f} MB of Perun's JSON, {allocations} allocations, {form}"
        yield row(f"perun.pack.{form}", f"pack {label}", round(size / MB / seconds, 1), "the goal", 50, size / MB / seconds / 50, "MB/s")
        yield row(f"perun.memory.{form}", "peak memory of that", round(peak / MB, 1), "the JSON", round(size / MB, 1),
                  peak / size, "MB")
        yield row(f"perun.size.{form}", f"{label}, packed", round(packed.stat().st_size / MB, 3), "zlib of the type map",
                  round(zipped / MB, 3), packed.stat().st_size / zipped, "MB")
    done = subprocess.run([perun_python(), ROOT / "bench/perun_query.py", folder / "map.z"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        theirs, _, question = line.partition("\t")
        seconds, _ = interleaved(options.runs, pcol=[PCOL, *question.split(), folder / "map.pcol"])["pcol"]
        yield row("perun.query", question, round(seconds, 4), "Perun's way", float(theirs), float(theirs) / seconds, "s")
