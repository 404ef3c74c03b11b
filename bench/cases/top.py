"""Whole processes. top of a packed profile of 100,000 labelled samples and of its .pb.gz against pprof -top with and without
-taghide=. (the program is $PPROF, else that of Go). top of Rprof text against summaryRprof, for the kinds of files that R writes,
with equal queries. Ratios are speedups. top with ten times the samples on the same stacks against top without."""
import json

from harness import (DATA, MB, PCOL, Missing, count, faster, generated, interleaved, missing, pack_command,
                     pprof_file, pprof_program, row, text_file, timed, tool)


# Rprof text: name, description, options of the generator, options of pcol, arguments of R.
RPROF = [
    ("rprof", "with memory columns", ["--memory"], [], ""),
    ("rprof.plain", "plain", [], [], ""),
    ("rprof.flat", "plain, 5 frames deep", ["--depth-mean", 5], [], ""),
    ("rprof.deep", "plain, 150 frames deep", ["--depth-mean", 150], [], ""),
    ("rprof.lines", "with lines", ["--line"], ["--by", "line"], ', lines = "both"'),
    ("rprof.memory", "with memory columns, memory", ["--memory"], ["--sample-type", "memory"], ', memory = "both"'),
    ("rprof.all", "with lines, <GC> and memory columns", ["--line", "--gc", "--memory"], ["--by", "line"],
     ', lines = "both", memory = "both"'),
]


def against_r(options, size, name, what, generate, question, arguments):
    """summaryRprof's own work is most of its time: R alone starts in a tenth of a second."""
    what = f"top of {size} MB of Rprof text, {what}"
    try:
        text = generated(f"{name}-{size}M.Rprof", "gen_rprof", "--bytes", size * MB, "--seed", 1, *generate)
        summary = f"invisible(summaryRprof({json.dumps(str(text))}{arguments}))"
        result = interleaved(options.runs, pcol=[PCOL, "top", *question, text], r=[tool("Rscript"), "-e", summary])
        return faster(f"top.{name}", what, result, "pcol", "r", "summaryRprof" + arguments.replace(",", "", 1))
    except Missing as reason:
        return missing(f"top.{name}", what, reason)


def measure(options):
    profile = pprof_file((2 if options.quick else 9) * MB)
    packed = DATA / "labels.pcol"
    timed(pack_command(profile, packed))
    label = f"{count('samples', packed):,} labelled samples, {count('stacks', packed):,} stacks"
    try:
        pprof = pprof_program()
        result = interleaved(options.runs, packed=[PCOL, "top", packed], raw=[PCOL, "top", profile],
                             plain=[pprof, "-top", "-symbolize=none", profile],
                             hidden=[pprof, "-top", "-symbolize=none", "-taghide=.", profile])
        yield faster("top.packed", f"top of {label}, packed", result, "packed", "plain", "pprof -top")
        yield faster("top.packed.taghide", f"top of {label}, packed", result, "packed", "hidden", "pprof -top -taghide=.")
        yield faster("top.raw", f"top of {label}, .pb.gz", result, "raw", "plain", "pprof -top")
    except Missing as reason:
        yield missing("top.packed", f"top of {label}", reason)
    size = 2 if options.quick else 10
    for kind in RPROF[:1] if options.quick else RPROF:
        yield against_r(options, size, *kind)
    text = text_file(size * MB)
    # The same stacks ten times: a file appended to itself, with its sums in both cases.
    once, again = (DATA / name for name in ("once.Rprof", "again.Rprof"))
    once.write_bytes(text.read_bytes() * 10)
    again.write_bytes(once.read_bytes() * 10)
    files = []
    for path in (once, again):
        files.append(path.with_suffix(".pcol"))
        timed(pack_command(path, files[-1]))
        path.unlink()
    result = interleaved(2 * options.runs + 5, one=[PCOL, "top", files[0]], ten=[PCOL, "top", files[1]])
    samples = count("samples", files[1])
    yield row("top.scaling", f"top of {samples:,} samples", round(result["ten"][0] * 1000, 2),
              f"a tenth of them on the same {count('stacks', files[1]):,} stacks", round(result["one"][0] * 1000, 2),
              result["ten"][0] / result["one"][0], "ms")
    for path in (*files, packed):
        path.unlink()
