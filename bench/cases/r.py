"""The R package (`make r`) on 20 MB of Rprof text: an object of version 1.0 against `pcol pack`, summary() against summaryRprof(),
as_profvis() against profvis(prof_input = ). Both sides read the text in each run; the row of open_profile() is the part of ours that
does. bench/r.R measures CPU time in one R session, without its start; pack is a process.

read_rprof() of the package profile 1.0.4 took 45 s for such a file (R 4.2.2, Debian 12, two cores); it is measured if installed.
"""
import os
import subprocess

from harness import MB, ROOT, Missing, generated, interleaved, pack_command, row, tool


def measure(options):
    library = ROOT / "build/r/library"
    if not (library / "pcol").exists():
        raise Missing("the R package is missing; run make r")
    rscript = tool("Rscript")
    text = generated("memory-lines-20M.Rprof", "gen_rprof", "--bytes", 20 * MB, "--seed", 1, "--memory", "--gc", "--line")
    packed = text.with_suffix(".pcol")
    done = subprocess.run([rscript, "--vanilla", ROOT / "bench/r.R", text, str(options.runs)], capture_output=True, text=True,
                          env={**os.environ, "R_LIBS": str(library)})
    if done.returncode != 0:
        raise Missing(f"bench/r.R failed: {done.stderr.strip()[-200:]}")
    times = {name: (float(seconds), int(runs)) for name, seconds, runs in (line.split() for line in done.stdout.splitlines())}
    pack = interleaved(options.runs, clock="cpu", pack=pack_command(text, packed))["pack"][0]

    def against(name, what, ours, peer_name, peer):
        seconds, runs = times[ours]
        return row(name, what, round(seconds * 1000, 1), peer_name, round(peer * 1000, 1), peer / seconds, "ms", runs=runs)

    yield against("r.v1", "R: object of version 1.0 from 20 MB of Rprof text", "v1", "pcol pack", pack)
    yield against("r.open", "R: open_profile(), which the other rows include", "open", "pcol pack", pack)
    yield against("r.summary", "R: summary() of it", "summary", "summaryRprof()", times["summaryRprof"][0])
    yield against("r.summary.full", "R: summary() with lines and memory", "summary_full", "summaryRprof()", times["summaryRprof_full"][0])
    yield against("r.frames", "R: a data frame of all frames", "frames", "pcol pack", pack)
    for name, ours, peer in (("r.profvis", "as_profvis", "profvis"), ("r.v1.peer", "v1", "read_rprof")):
        if peer in times:
            yield against(name, f"R: {ours}", ours, f"{peer}()", times[peer][0])
