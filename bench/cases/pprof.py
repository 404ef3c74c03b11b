"""A .pb.gz with labels: pack against gzip -dc and pprof -proto, its peak memory against the uncompressed bytes, the packed file
against the .pb.gz; unpack to .pb against pprof -proto, to .pb.gz against gzip -6."""

from harness import (DATA, MB, PCOL, Missing, faster, interleaved, memory_row, missing, pack_command, pprof_file,
                     pprof_program, row, timed, tool)


def measure(options):
    profile = pprof_file((2 if options.quick else 10) * MB)
    plain, packed, unpacked = (DATA / name for name in ("plain.pb", "profile.pcol", "unpacked.pb"))
    with plain.open("wb") as out:
        timed([tool("gzip"), "-dc", profile], stdout=out)
    raw = plain.stat().st_size
    label = f"{raw / MB:.0f} MB of pprof, {profile.stat().st_size / MB:.1f} MB compressed"
    commands = {"pack": pack_command(profile, packed), "gunzip": [tool("gzip"), "-dc", profile]}
    try:
        commands["proto"] = [pprof_program(), "-proto", "-symbolize=none", "-output=/dev/null", profile]
    except Missing as reason:
        yield missing("pprof.pack.proto", label, reason)
    result = interleaved(options.runs, **commands)
    seconds, peak = result["pack"]
    yield row("pprof.pack", f"pack {label}", round(seconds, 3), "gzip -dc", round(result["gunzip"][0], 3),
              seconds / result["gunzip"][0], "s")
    if "proto" in result:
        yield faster("pprof.pack.proto", f"pack {label}", result, "pack", "proto", "pprof -proto")
    yield row("pprof.memory", "peak memory of that", round(peak / MB, 1), "uncompressed", round(raw / MB, 1), peak / raw, "MB")
    yield memory_row("pprof.memory.bound", packed, peak)
    size, compressed = packed.stat().st_size, profile.stat().st_size
    yield row("pprof.size", "the packed file", round(size / MB, 3), ".pb.gz", round(compressed / MB, 3), size / compressed,
              "MB", runs=0)
    unpack = [PCOL, "unpack", packed, "-f", "--no-sync", "-o"]
    commands = {"plain": [*unpack, unpacked], "zipped": [*unpack, f"{unpacked}.gz"], "gzip": [tool("gzip"), "-6", "-c", plain]}
    back = interleaved(options.runs, **commands) | {name: result[name] for name in result if name == "proto"}
    if "proto" in back:
        yield faster("pprof.unpack.proto", f"unpack {label} to .pb", back, "plain", "proto", "pprof -proto")
    yield row("pprof.unpack", f"unpack {label} to .pb.gz", round(back["zipped"][0], 3), "gzip -6", round(back["gzip"][0], 3),
              back["zipped"][0] / back["gzip"][0], "s")
