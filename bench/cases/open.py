"""Opening a file and reading one cell (build/bench/open_cell): the largest packed file against the smallest, and a sparse file of
10 GB against one of 1 MB, with one column each (bench/gen_sparse.py)."""
import statistics
import subprocess
import sys

from harness import DATA, MB, ROOT, Missing, packed_file, program, row


def sparse(size):
    """A sparse file of this size with one plain column."""
    path = DATA / f"sparse-{size // MB}M.pcol"
    subprocess.run([sys.executable, ROOT / "bench/gen_sparse.py", str(size // 4), path], check=True)
    return path


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
    files = []
    try:
        files += [sparse(MB), sparse(10000 * MB)]
        small, large = compare(files, options)
    finally:
        for path in files:
            path.unlink()
    yield row("open.large", "open and read one cell, file of 10 GB", round(large, 2), "of 1 MB", round(small, 2), large / small, "us",
              runs=options.runs)
    yield row("open.cell", "open and read one cell, file of 10 GB", round(large, 2), "the goal", 20, large / 20, "us", runs=options.runs)
