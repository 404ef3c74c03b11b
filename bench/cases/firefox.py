"""A processed Firefox profile of 440,000 samples (--quick: 50,000). pack of JSON against JSON.parse of the same file in Node, alone
and as a whole process, in CPU time and wall time (pcol and node use more than one core), and against pack of the same profile as
JSLB, in CPU time; peak memory against Node; size of the packed file, without and with --collapse-idle, against .json.gz."""
import shutil
import subprocess

from harness import DATA, MB, PCOL, ROOT, generated, interleaved, memory_row, missing, pack_command, row, timed, tool


def profile_files(samples):
    """A generated processed profile, and the same as JSLB."""
    profile = generated(f"firefox-{samples}.json", "gen_firefox", "--samples", samples)
    slabs, packed = profile.with_suffix(".jslb"), profile.with_suffix(".pcol")
    timed(pack_command(profile, packed))
    timed([PCOL, "unpack", "-q", "-f", "--no-sync", packed, "--to", "jslb", "-o", slabs])
    return profile, slabs


def measure(options):
    samples = 50000 if options.quick else 440000
    profile, slabs = profile_files(samples)
    packed, packed_slabs, collapsed, zipped = (DATA / f"firefox-{name}" for name in ("1.pcol", "2.pcol", "3.pcol", "1.gz"))
    label = f"{samples:,} samples, {profile.stat().st_size / MB:.1f} MB of Firefox JSON"
    commands = {"json": pack_command(profile, packed), "jslb": pack_command(slabs, packed_slabs)}
    parser, node = ROOT / "bench/parse_json.js", shutil.which("node")
    if node:
        commands["node"] = [node, parser, profile, "0"]
    result = interleaved(2 * options.runs + 1, clock="cpu", **commands)
    seconds, peak = result["json"]
    if node:
        printed = subprocess.run([node, parser, profile, "9"], capture_output=True, text=True, check=True).stdout
        alone = float(printed.split()[0])
        yield row("firefox.pack", f"pack {label}, CPU time", round(seconds, 3), "JSON.parse alone", round(alone, 3), seconds / alone, "s")
        yield row("firefox.pack.node", f"pack {label}, CPU time", round(seconds, 3), "node with JSON.parse", round(result["node"][0], 3),
                  seconds / result["node"][0], "s")
        clocks = interleaved(2 * options.runs + 1, json=commands["json"], node=commands["node"])
        yield row("firefox.pack.wall", f"pack {label}, by the clock", round(clocks["json"][0], 3), "JSON.parse alone",
                  round(float(printed.split()[1]), 3), clocks["json"][0] / float(printed.split()[1]), "s")
        yield row("firefox.pack.node.wall", f"pack {label}, by the clock", round(clocks["json"][0], 3), "node with JSON.parse",
                  round(clocks["node"][0], 3), clocks["json"][0] / clocks["node"][0], "s")
        yield row("firefox.memory", "peak memory of that", round(peak / MB, 1), "node", round(result["node"][1] / MB, 1),
                  peak / result["node"][1], "MB")
    else:
        yield missing("firefox.pack", label, "node is missing")
    yield memory_row("firefox.memory.bound", packed, peak)
    slab_seconds, slab_peak = result["jslb"]
    size = slabs.stat().st_size
    yield row("firefox.jslb", f"pack the same as JSLB, {size / MB:.1f} MB, CPU time: times faster", round(slab_seconds, 3),
              "pack of the JSON", round(seconds, 3), seconds / slab_seconds, "s")
    yield row("firefox.jslb.memory", "peak memory of that", round(slab_peak / MB, 1), "the file", round(size / MB, 1), slab_peak / size, "MB")
    with zipped.open("wb") as out:
        timed([tool("gzip"), "-6", "-c", profile], stdout=out)
    timed(pack_command(profile, collapsed, "--collapse-idle", "-q"))
    for name, file, what in (("size", packed, "packed"), ("collapsed", collapsed, "packed with --collapse-idle")):
        ours, theirs = file.stat().st_size, zipped.stat().st_size
        yield row(f"firefox.{name}", what, round(ours / MB, 3), ".json.gz", round(theirs / MB, 3), ours / theirs, "MB", runs=0)
    for path in (zipped, packed, packed_slabs, collapsed):
        path.unlink()
