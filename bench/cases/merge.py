"""merge of 1000 runs (--quick: 16) of one program, 1 MB each, as Rprof text and as .pb.gz: time against half of them, peak memory
against 512 MB."""

from harness import DATA, MB, PCOL, count, interleaved, row, runs_of, timed


def measure(options):
    count_all = 16 if options.quick else 1000
    for kind, name, suffix, flags in (("Rprof text", "gen_rprof", ".Rprof", ["--memory", "--line"]),
                                      ("pprof", "gen_pprof", ".pb.gz", ["--gz"])):
        paths = runs_of(name, suffix, count_all, *flags)
        try:
            merged = DATA / "merged.pcol"
            merge = [PCOL, "merge", "-f", "--no-sync", "-o", merged]
            result = interleaved(min(options.runs, 3), all=[*merge, *paths], half=[*merge, *paths[:count_all // 2]])
            timed([*merge, *paths])
            seconds, peak = result["all"]
            label = f"merge {count_all} x 1 MB of {kind}, {count('stacks', merged):,} stacks"
            yield row("merge.time", label, round(seconds, 2), "half of them", round(result["half"][0], 2),
                      seconds / result["half"][0], "s")
            yield row("merge.memory", "peak memory of that", round(peak / MB, 1), "bound", 512, peak / MB / 512, "MB")
            merged.unlink()
        finally:
            for path in paths:
                path.unlink(missing_ok=True)
