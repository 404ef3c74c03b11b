"""pack --no-sync of Rprof text with memory columns against wc -l of the same file; its peak memory against the bound
64 MB + 24 B a sample + 64 B a node of the stack tree."""

from harness import MB, count, interleaved, pack_command, row, text_file, tool


def measure(options):
    size = options.sizes[-1]
    text = text_file(size)
    packed = text.with_suffix(".pcol")
    result = interleaved(options.runs, pcol=pack_command(text, packed), wc=[tool("wc"), "-l", text])
    seconds, peak = result["pcol"]
    wc_seconds, _ = result["wc"]
    bytes_of_text = text.stat().st_size
    label = f"pack {size // MB} MB of Rprof text"
    yield row("pack.time", label, round(seconds, 3), "wc -l", round(wc_seconds, 3), seconds / wc_seconds, "s")
    yield row("pack.speed", label, round(bytes_of_text / MB / seconds, 1), "wc -l",
              round(bytes_of_text / MB / wc_seconds, 1), wc_seconds / seconds, "MB/s")
    samples, nodes = count("samples", packed), count("stacks", packed)
    bound = 64 * MB + 24 * samples + 64 * nodes
    yield row("pack.memory", f"peak memory of that, {samples} samples, {nodes} nodes", round(peak / MB, 1),
              "64 MB + 24 B x samples + 64 B x nodes", round(bound / MB, 1), peak / bound, "MB")
