"""Opening a file and reading one cell (build/bench/open_cell), of warm files: the largest packed file against the smallest. The case
scale has the same for 10^8 samples."""
import statistics
import subprocess

from harness import MB, Missing, packed_file, program, row


def compare(files, options):
    """Medians of opening both in turn, in microseconds."""
    opener = program("open_cell")
    seen = [[], []]
    for _ in range(options.runs):
        for results, path in zip(seen, files):
            done = subprocess.run([opener, path, "200"], capture_output=True, text=True)
            if done.returncode != 0:
                raise Missing(f"open_cell failed: {done.stderr.strip()[:200]}")
            results.append(float(done.stdout.split()[-1]))
    return (statistics.median(results) / 1000 for results in seen)


def measure(options):
    small, large = compare([packed_file(options.sizes[0]), packed_file(options.sizes[-1])], options)
    yield row("open", f"open and read one cell, from {options.sizes[-1] // MB} MB of text", round(large, 2),
              f"from {options.sizes[0] // MB} MB", round(small, 2), large / small, "us", runs=options.runs)
    yield row("open.cell", "the same", round(large, 2), "the goal", 20, large / 20, "us", runs=options.runs)
