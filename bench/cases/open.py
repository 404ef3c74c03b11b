"""Open a packed file and read one cell (build/bench/open_cell FILE REPEATS, which prints the median in nanoseconds): the
largest file against the smallest."""
import statistics
import subprocess

from harness import MB, Missing, packed_file, program, row


def measure(options):
    opener = program("open_cell")
    files = [packed_file(options.sizes[0]), packed_file(options.sizes[-1])]
    seen = [[], []]
    for _ in range(options.runs):
        for results, path in zip(seen, files):
            done = subprocess.run([opener, path, "200"], capture_output=True, text=True)
            if done.returncode != 0:
                raise Missing(f"open_cell failed: {done.stderr.strip()[:200]}")
            results.append(float(done.stdout.split()[-1]))
    small, large = (statistics.median(results) / 1000 for results in seen)
    yield row("open", f"open and read one cell, from {options.sizes[-1] // MB} MB of text", round(large, 2),
              f"from {options.sizes[0] // MB} MB", round(small, 2), large / small, "us")
