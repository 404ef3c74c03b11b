"""pack of each format that pcol reads, in MB of input per second of CPU time, against the goal of
100 MB/s, of binary formats 50. Inputs: the small profiles of tests/data with their samples
repeated, uncompressed, to 10 MB (--quick: 1 MB), with equal and with distinct names; files of at
least 256 KB of ../shared/corpus/formats. JSON also against JSON.parse of the same file in Node:
times as long. Formats that others read here also against these, in CPU time of the same run, for
the goal of 10 times as fast: speedscope's reader alone (npm), pprof, the JDK's `jfr`, R. A reader
that takes longer than LIMIT is stopped and counts as that."""
import functools
import gzip
import os
import shutil
import subprocess
import sys

from harness import (DATA, MB, PCOL, ROOT, Missing, interleaved, missing, pack_command,
                     pprof_program, row, speedscope, timed, tool)

TEXT, BINARY = 100, 50  # MB/s
LIMIT = 30  # s
KINDS = (".cpuprofile", ".heapprofile", ".jfr", ".json", ".tach")
CORPUS = ROOT.parent / "shared/corpus/formats"


def suite_formats():
    """tests/formats.py, which knows the formats and makes larger profiles of them."""
    os.environ["PCOL"], os.environ["SRC"] = str(PCOL), str(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    import formats
    return formats


def grown(formats, name, size, distinct):
    """A file of about `size` bytes; kept for the next run."""
    path = DATA / f"importer-{name}-{size // MB}{'-distinct' if distinct else ''}"
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)

        def grow(n):
            data = formats.grow(name, n, distinct)
            return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        base = len(grow(1))
        each = max(1, (len(grow(21)) - base) // 20)
        path.write_bytes(grow(max(1, (size - base) // each)))
    return path


def inputs(formats, size):
    for name in sorted(set(formats.readable()) - {"pcol"}):
        for distinct in False, True:
            what = "distinct names" if distinct else "equal names"
            path = grown(formats, name, size, distinct)
            if path.stat().st_size >= size // 4:  # pprof has equal samples once
                yield name, what, path
    for path in sorted(CORPUS.glob("*/*")) if CORPUS.is_dir() else ():
        if path.stat().st_size >= MB // 4 and path.suffix in KINDS:
            yield path.parent.name, path.name, path


def json_parse(path):
    """Seconds of CPU time; None without Node, or if the file is not one JSON value."""
    node = shutil.which("node")
    done = node and subprocess.run([node, ROOT / "bench/parse_json.js", path, "5"],
                                   capture_output=True, text=True)
    return float(done.stdout.split()[0]) if done and not done.returncode else None


# The name of a file of a format for speedscope's reader.
SPEEDSCOPE_NAMES = {"speedscope": "a.speedscope.json", "cpuprofile": "a.cpuprofile",
                    "heapprofile": "a.heapprofile", "chrome-trace": "a.json",
                    "trace-event": "a.json", "folded": "a.collapsedstack.txt",
                    "perf": "a.linux-perf.txt", "pprof": "a.pb"}


def speedscope_seconds(name, path):
    done = subprocess.run([tool("node"), ROOT / "bench/import_speedscope.js", speedscope(), path,
                           SPEEDSCOPE_NAMES[name], "3"],
                          capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise Missing("it does not read this file")
    return float(done.stdout)


def command_seconds(*command):
    return timed(command, clock="cpu")[0]


def r_seconds(path, call):
    return command_seconds(tool("Rscript"), "-e", f"invisible({call}('{path}'))")


def readers(name, path):
    """Readers of the format in its own ecosystem: what they are called, and what measures one."""
    if name in SPEEDSCOPE_NAMES:
        yield "speedscope's reader alone", functools.partial(speedscope_seconds, name, path)
    if name in ("pprof", "gperftools"):
        yield "pprof -top", lambda: command_seconds(pprof_program(), "-top", path)
    if name == "jfr":  # which goes by the suffix
        link = path if path.suffix == ".jfr" else path.with_name(path.name + ".jfr")
        if not link.exists():
            os.link(path, link)
        yield "jfr print", lambda: command_seconds(tool("jfr"), "print", link)
    if name == "rprof":
        yield "summaryRprof", lambda: r_seconds(path, "summaryRprof")


def peers(name, path, label, seconds):
    """A row for each reader; its ratio is times as fast, of which the goal is 10."""
    for reader, run in readers(name, path):
        try:
            theirs = run()
        except subprocess.TimeoutExpired:
            theirs, reader = LIMIT, f"{reader}, stopped after {LIMIT} s"
        except Missing as reason:
            yield missing(f"importers.{name}.peer", f"{label}: {reader}", reason)
            continue
        yield row(f"importers.{name}.peer", f"pack {label}, CPU time", round(seconds, 4), reader,
                  round(theirs, 3), theirs / seconds, "s")


def measure(options):
    formats = suite_formats()
    for name, what, path in inputs(formats, (1 if options.quick else 10) * MB):
        size, is_text = path.stat().st_size, formats.is_text(path.read_bytes()[:4096])
        label = f"{size / MB:.1f} MB of {name}, {what}"
        packed = DATA / "importer.pcol"
        command = pack_command(path, packed, "-q", "--from", name)
        if subprocess.run(command, capture_output=True).returncode:
            yield missing(f"importers.{name}", label, "pcol rejects it")
            continue
        seconds = interleaved(options.runs, clock="cpu", pcol=command)["pcol"][0]
        goal, speed = TEXT if is_text else BINARY, size / MB / seconds
        yield row(f"importers.{name}", f"pack {label}", round(speed, 1), "the goal", goal,
                  speed / goal, "MB/s")
        parse = json_parse(path) if path.read_bytes()[:1] in b"{[" else None
        if parse:
            yield row(f"importers.{name}.node", f"pack {label}, CPU time", round(seconds, 4),
                      "JSON.parse alone", round(parse, 4), seconds / parse, "s")
        yield from peers(name, path, label, seconds)
        packed.unlink()
