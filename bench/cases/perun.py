"""A memory profile of 200,000 allocations (--quick: 8,000): pack of both forms against wc -c, size of the packed files against zlib of
the form with types, and each query against Perun's implementation (bench/perun_query.py; the data frame needs pandas): as whole
processes with the same output, and within running processes without output (build/bench/ask). Ratios are speedups."""
import subprocess
import sys

from harness import DATA, MB, PCOL, ROOT, Missing, interleaved, memory_row, missing, pack_command, program, row, tool


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
    allocations = 8000 if options.quick else 200000
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
        yield memory_row(f"perun.memory.bound.{form}", packed, peak)
        yield row(f"perun.size.{form}", f"{label}, packed", round(packed.stat().st_size / MB, 3), "zlib of the type map",
                  round(zipped / MB, 3), packed.stat().st_size / zipped, "MB", runs=0)
    yield from questions(1 if options.quick else min(options.runs, 3), folder)


def questions(runs, folder):
    python, theirs = perun_python(), ROOT / "bench/perun_query.py"
    library = within(python, theirs, folder)
    for question in lines([python, theirs, "--list"]):
        try:
            result = interleaved(runs, pcol=[PCOL, *question.split(), folder / "map.pcol"],
                                 perun=[python, theirs, folder / "map.z", question])
        except Missing as reason:  # no pandas
            yield missing("perun.query", question, reason)
            continue
        ours, peer = result["pcol"][0], result["perun"][0]
        yield row("perun.query", f"{question}, whole processes", round(ours, 4), "Perun's way", round(peer, 3), peer / ours, "s")
        if question in library:
            ours, peer = library[question]
            yield row("perun.library", f"{question}, not printed", round(ours, 4), "Perun's way", round(peer, 3), peer / ours, "s", runs=1)


def lines(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def within(python, theirs, folder):
    """Question -> seconds of ours and theirs within a process: open or read, answer, nothing printed."""
    peer = dict(reversed(line.split("\t")) for line in lines([python, theirs, "--library", folder / "map.z"]))
    ours = dict(reversed(line.split("\t")) for line in lines([program("ask"), folder / "map.pcol"]))
    return {question: (float(ours[question]), float(seconds)) for question, seconds in peer.items() if question in ours}
