"""The packed file, as written by default and as an archive, against gzip -6 and zstd -3 of Rprof text with memory columns; and the default
for 1 MB of text of other kinds: without memory columns, with lines, with <GC>, flat and deep stacks."""

from harness import DATA, MB, Missing, generated, missing, pack_command, row, text_file, timed, tool

SHAPES = [("plain", []), ("lines", ["--line"]), ("GC", ["--gc"]), ("lines, GC and memory", ["--line", "--gc", "--memory"]),
          ("plain, 5 frames deep", ["--depth-mean", 5]), ("plain, 150 frames deep", ["--depth-mean", 150])]


def zipped_size(text, program="gzip", level="-6"):
    zipped = DATA / "size.gz"
    with zipped.open("wb") as out:
        timed([tool(program), level, "-c", text], stdout=out)
    size = zipped.stat().st_size
    zipped.unlink()
    return size


def packed_size(text, *flags):
    packed = DATA / "size.pcol"
    timed(pack_command(text, packed, *flags))
    size = packed.stat().st_size
    packed.unlink()
    return size


def measure(options):
    for size in options.sizes:
        text = text_file(size)
        zipped = zipped_size(text)
        zstd = zipped_size(text, "zstd", "-3")
        for name, flags in (("size", []), ("size.archive", ["--archive"])):
            label = f"{size // MB} MB of Rprof text" + "".join(f", {flag}" for flag in flags)
            try:
                ours = packed_size(text, *flags)
            except Missing as reason:
                yield missing(name, label, reason)
                continue
            yield row(name, label, round(ours / MB, 3), "gzip -6", round(zipped / MB, 3), ours / zipped, "MB", runs=0)
            yield row(f"{name}.zstd", label, round(ours / MB, 3), "zstd -3", round(zstd / MB, 3), ours / zstd, "MB", runs=0)
    for number, (shape, flags) in enumerate(SHAPES):
        text = generated(f"size-{number}.Rprof", "gen_rprof", "--bytes", MB, "--seed", 1, *flags)
        ours, zipped = packed_size(text), zipped_size(text)
        yield row("size", f"1 MB of Rprof text, {shape}", round(ours / 1000, 2), "gzip -6", round(zipped / 1000, 2), ours / zipped, "KB", runs=0)
