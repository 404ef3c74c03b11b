"""Size of archives (pack --archive) of each format from 1 MB (--quick: 1 MB) against zstd -19 of the uncompressed source; time of
packing against zstd, and top of the archive against top of the packed file, both in CPU time of whole processes."""
import subprocess
import sys

from harness import DATA, MB, PCOL, ROOT, Missing, generated, interleaved, missing, pack_command, pprof_file, row, text_file, timed, tool


def sources(options):
    """(name, file without compression)."""
    large = 1 if options.quick else 10
    yield f"{large} MB of Rprof text with memory", text_file(large * MB)
    plain = DATA / "archive.pb"
    with plain.open("wb") as out:
        timed([tool("gzip"), "-dc", pprof_file(large * MB)], stdout=out)
    yield f"{large} MB of pprof with labels", plain
    samples = 20000 * large
    yield f"Firefox JSON of {samples:,} samples", generated(f"firefox-{samples}.json", "gen_firefox", "--samples", samples)
    folder = DATA / f"archive-perun-{large}"
    if not (folder / "map.perf").exists():
        subprocess.run([sys.executable, ROOT / "bench/gen_perun.py", folder, "--allocations", str(2000 * large)], check=True)
    yield f"Perun JSON of {2000 * large:,} allocations", folder / "map.perf"


def measure(options):
    for label, source in sources(options):
        packed, archive, zipped = (DATA / f"archive.{end}" for end in ("pcol", "arc", "zst"))
        try:
            result = interleaved(1, clock="cpu", pcol=pack_command(source, archive, "--archive"),
                                 zstd=[tool("zstd"), "-19", "-q", "-f", source, "-o", zipped])
        except Missing as reason:
            yield missing("archive.size", label, reason)
            continue
        ours, theirs = archive.stat().st_size, zipped.stat().st_size
        yield row("archive.size", f"archive of {label}", round(ours / MB, 4), "zstd -19", round(theirs / MB, 4), ours / theirs, "MB", runs=0)
        yield row("archive.pack", f"packing it, from {source.stat().st_size / MB:.1f} MB", round(result["pcol"][0], 2), "zstd -19",
                  round(result["zstd"][0], 2), result["pcol"][0] / result["zstd"][0], "s")
        timed(pack_command(source, packed))
        top = interleaved(options.runs, clock="cpu", archive=[PCOL, "top", archive], packed=[PCOL, "top", packed])
        yield row("archive.top", "top of it", round(top["archive"][0] * 1000, 1), "top of the packed file",
                  round(top["packed"][0] * 1000, 1), top["archive"][0] / top["packed"][0], "ms")
        for path in (packed, archive, zipped):
            path.unlink()
