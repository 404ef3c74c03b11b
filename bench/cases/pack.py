"""pack --no-sync of Rprof text with memory columns: against wc -l of the same file; with one thread against 400 MB/s; of 10 MB
(--quick: 2 MB) against summaryRprof; peak memory against the bound 64 MB + 24 B per sample + 64 B per node of the stack tree."""
import json

from harness import MB, Missing, faster, interleaved, memory_row, missing, pack_command, row, text_file, tool


def against_r(options):
    size = 2 if options.quick else 10
    what = f"pack {size} MB of Rprof text"
    try:
        text = text_file(size * MB)
        summary = f"invisible(summaryRprof({json.dumps(str(text))}))"
        result = interleaved(options.runs, pcol=pack_command(text, text.with_suffix(".pcol")), r=[tool("Rscript"), "-e", summary])
        return faster("pack.summary", what, result, "pcol", "r", "summaryRprof")
    except Missing as reason:
        return missing("pack.summary", what, reason)


def measure(options):
    size = options.sizes[-1]
    text = text_file(size)
    packed = text.with_suffix(".pcol")
    result = interleaved(options.runs, pcol=pack_command(text, packed), one=pack_command(text, packed, "--threads", "1"),
                         wc=[tool("wc"), "-l", text])
    seconds, peak = result["pcol"]
    wc_seconds, _ = result["wc"]
    bytes_of_text = text.stat().st_size
    label = f"pack {size // MB} MB of Rprof text"
    yield row("pack.time", label, round(seconds, 3), "wc -l", round(wc_seconds, 3), seconds / wc_seconds, "s")
    yield row("pack.speed", label, round(bytes_of_text / MB / seconds, 1), "wc -l",
              round(bytes_of_text / MB / wc_seconds, 1), wc_seconds / seconds, "MB/s")
    yield memory_row("pack.memory", packed, peak)
    speed = bytes_of_text / MB / result["one"][0]
    yield row("pack.one", f"{label} with one thread", round(speed, 1), "the goal", 400, speed / 400, "MB/s")
    yield against_r(options)
