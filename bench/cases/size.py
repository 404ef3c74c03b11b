"""The packed file, as written by default and as an archive, against gzip -6 of Rprof text."""

from harness import DATA, MB, Missing, missing, pack_command, row, text_file, timed, tool


def measure(options):
    gzip = tool("gzip")
    for size in options.sizes:
        text = text_file(size)
        zipped = DATA / "size.gz"
        with zipped.open("wb") as out:
            timed([gzip, "-6", "-c", text], stdout=out)
        zipped_bytes = zipped.stat().st_size
        zipped.unlink()
        for name, flags in (("size", []), ("size.archive", ["--archive"])):
            packed = DATA / "size.pcol"
            label = f"{size // MB} MB of Rprof text" + "".join(f", {flag}" for flag in flags)
            try:
                timed(pack_command(text, packed, *flags))
            except Missing as reason:
                yield missing(name, label, reason)
                continue
            ours = packed.stat().st_size
            packed.unlink()
            yield row(name, label, round(ours / MB, 3), "gzip -6", round(zipped_bytes / MB, 3), ours / zipped_bytes, "MB")
