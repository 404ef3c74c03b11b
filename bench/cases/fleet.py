"""A fleet: 5,000 packed pprofs (--quick: 100) of 1,000 hosts that run 20 services in 2 builds; a host's profile has the stacks of its
service and build. CPU time of merge and merge --sums for each file and peak memory, of a tree of merges against a flat one, and of
the content hash of a stack, against their goals. The tree encodes each sample twice (docs/benchmarks-notes.md)."""
import json
import statistics
import subprocess

from harness import DATA, MB, PCOL, interleaved, program, row, timed

SERVICES, BUILDS, PARTS = 20, 2, 10


def inputs(folder, count):
    """Names of packed profiles, host by host."""
    folder.mkdir(parents=True, exist_ok=True)
    made, texts = [], []
    for number in range(SERVICES * BUILDS):
        text = folder / f"{number}.pb"
        text.write_bytes(subprocess.run([program("gen_pprof"), "--bytes", "450k", "--seed", str(number % SERVICES), "--run", str(number)],
                                        capture_output=True, check=True).stdout)
        texts.append(text)
    for number in range(count):
        text = number % len(texts)
        path = folder / f"{number}.pcol"
        timed([PCOL, "pack", "-q", "-f", "--no-sync", texts[text], "-o", path, "--meta", f"service=s{text % SERVICES}",
               "--meta", f"build={text // SERVICES}", "--meta", f"host=h{number % 1000}"])
        made.append(path)
    return made


def listed(folder, name, paths):
    (folder / name).write_text("".join(f"{path}\n" for path in paths))
    return ["--files-from", folder / name]


def measure(options):
    count = 100 if options.quick else 5000
    folder = DATA / "fleet"
    paths = inputs(folder, count)
    merge = [PCOL, "merge", "-q", "-f", "--no-sync"]
    flat, sums = folder / "flat.pcol", folder / "sums.pcol"
    everything = listed(folder, "all", paths)
    commands = {"flat": [*merge, *everything, "-o", flat], "sums": [*merge, "--sums=service,build", *everything, "-o", sums]}
    found = interleaved(min(options.runs, 3), clock="cpu", **commands)
    for name, what, goal, most in (("flat", "merge", 3.4, 512), ("sums", "merge --sums=service,build", 2.5, 300)):
        seconds, peak = found[name]
        yield row(f"fleet.{name}", f"{what} of {count:,} profiles, CPU time a file", round(1000 * seconds / count, 2), "the goal", goal,
                  1000 * seconds / count / goal, "ms")
        yield row(f"fleet.{name}.memory", "peak memory of that", round(peak / MB, 1), "bound", most, peak / MB / most, "MB")
    yield row("fleet.sums.size", "its output", round(sums.stat().st_size / MB, 2), "the merged file", round(flat.stat().st_size / MB, 2),
              flat.stat().st_size / sums.stat().st_size, "MB", runs=0)
    trees = []
    for _ in range(min(options.runs, 3)):
        parts, spent = [], 0
        for number in range(PARTS):
            own = paths[number * count // PARTS:(number + 1) * count // PARTS]
            parts.append(folder / f"part{number}.pcol")
            spent += timed([*merge, *listed(folder, "part", own), "-o", parts[-1]], clock="cpu")[0]
        trees.append(spent + timed([*merge, *parts, "-o", folder / "tree.pcol"], clock="cpu")[0])
    spent = statistics.median(trees)
    yield row("fleet.tree", f"a tree of merges of {PARTS} parts, CPU time", round(spent, 2), "merged at once", round(found["flat"][0], 2),
              spent / found["flat"][0], "s", runs=len(trees))
    hashes = json.loads(subprocess.run([program("hashes"), flat], capture_output=True, check=True, text=True).stdout)
    yield row("fleet.hashes", f"content hash of a stack of {hashes['stacks']:,}, CPU time", round(hashes["ns"], 1), "the goal", 80,
              hashes["ns"] / 80, "ns", runs=9)
    for path in folder.iterdir():
        path.unlink()
