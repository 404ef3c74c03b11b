"""Up to 100 million samples (--quick: 1 million), in powers of ten, on the same 10,000 stacks: through the builder (gen_scale) and as
Rprof text through a pipe. Time per sample against the smaller file, peak memory against 64 MB + 24 B per sample + 64 B per node,
open and one cell, top as a whole process. The text has 170 bytes per sample and is never on disk."""
import os
import subprocess

from harness import DATA, MB, PCOL, Missing, count, interleaved, program, row, timed

STACKS = 10000


def opened(path):
    """Median of opening the file and reading one cell, in microseconds."""
    done = subprocess.run([program("open_cell"), path, "200"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"open_cell failed: {done.stderr.strip()[:200]}")
    return float(done.stdout.split()[-1]) / 1000


def piped(samples, packed):
    """Seconds of CPU and peak memory of pack, which reads from a pipe."""
    maker = subprocess.Popen([program("gen_scale"), "--samples", str(samples), "--stacks", str(STACKS), "--text"],
                             stdout=subprocess.PIPE)
    pack = subprocess.Popen([PCOL, "pack", "--from", "rprof", "-", "-o", packed, "-f", "--no-sync", "-q"], stdin=maker.stdout)
    maker.stdout.close()
    _, status, usage = os.wait4(pack.pid, 0)
    pack.returncode = os.waitstatus_to_exitcode(status)
    maker.wait()
    if pack.returncode != 0 or maker.returncode != 0:
        raise Missing("pack from a pipe failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(options):
    sizes = [10 ** k for k in ((4, 5, 6) if options.quick else (4, 5, 6, 7, 8))]
    DATA.mkdir(parents=True, exist_ok=True)
    files, spent = {}, {}
    for samples in sizes:
        path = files[samples] = DATA / f"scale-{samples}.pcol"
        seconds, peak = timed([program("gen_scale"), "--samples", samples, "--stacks", STACKS, path])
        spent[samples] = seconds / samples * 1e9
        before = sizes[max(0, sizes.index(samples) - 1)]
        bound = 64 * MB + 24 * samples + 64 * STACKS
        yield row("scale.build", f"{samples:,} samples through the builder, a sample", round(spent[samples], 1), f"{before:,}",
                  round(spent[before], 1), spent[samples] / spent[before], "ns", runs=1)
        yield row("scale.memory", "peak memory of that", round(peak / MB, 1), "64 MB + 24 B x samples + 64 B x nodes",
                  round(bound / MB, 1), peak / bound, "MB", runs=1)
    small, large = files[sizes[0]], files[sizes[-1]]
    assert count("samples", large) == sizes[-1]
    yield row("scale.size", f"bytes a sample, {sizes[-1]:,} samples", round(large.stat().st_size / sizes[-1], 2), f"{sizes[-2]:,}",
              round(files[sizes[-2]].stat().st_size / sizes[-2], 2),
              large.stat().st_size / sizes[-1] / (files[sizes[-2]].stat().st_size / sizes[-2]), "B", runs=0)
    seen = [(opened(small), opened(large)) for _ in range(options.runs)]
    few, many = sorted(s for s, _ in seen)[options.runs // 2], sorted(s for _, s in seen)[options.runs // 2]
    yield row("scale.open", f"open and one cell of {sizes[-1]:,} samples", round(many, 1), f"{sizes[0]:,}", round(few, 1), many / few, "us",
              runs=options.runs)
    top = interleaved(2 * options.runs + 5, small=[PCOL, "top", small], large=[PCOL, "top", large])
    yield row("scale.top", f"top of {sizes[-1]:,} samples", round(top["large"][0] * 1000, 2), f"{sizes[0]:,} on the same stacks",
              round(top["small"][0] * 1000, 2), top["large"][0] / top["small"][0], "ms")
    for path in files.values():
        path.unlink()
    packed, before = DATA / "scale-text.pcol", None
    for samples in sizes[1:]:
        seconds, peak = piped(samples, packed)
        each = seconds / samples * 1e9
        before = before or each
        bound = 64 * MB + 24 * samples + 64 * count("stacks", packed)
        yield row("scale.pack", f"pack of {samples:,} lines of Rprof from a pipe, CPU a line", round(each, 1), f"{sizes[1]:,}",
                  round(before, 1), each / before, "ns", runs=1)
        yield row("scale.pack.memory", "peak memory of that", round(peak / MB, 1), "64 MB + 24 B x samples + 64 B x nodes",
                  round(bound / MB, 1), peak / bound, "MB", runs=1)
        packed.unlink()
