"""Profiles that profilers wrote: the committed samples of tests/data from 20 KB, and ../shared/corpus if it is there. Size of the
packed file against the uncompressed source under gzip -6 and zstd -3, size of the archive against zstd -19, of formats that pcol restores (of
others it keeps only a part); CPU time of pack against zstd -3 of the source, and of top of the packed file against top of the source. Files below 25 KB cost more: an index is about a kilobyte."""
import gzip
import json
import subprocess

from harness import DATA, MB, PCOL, ROOT, Missing, interleaved, missing, pack_command, row, timed, tool

FOLDERS = [ROOT / "tests/data", ROOT.parent / "shared/corpus"]
LEAST = 20000
EACH = 3  # largest files of a directory


def plain(path):
    """The bytes of a profile without gzip."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def profiles():
    """The largest files of each directory that pcol reads, with equal contents once."""
    seen = set()
    for folder in sorted(f for top in FOLDERS if top.exists() for f in top.glob("*") if f.is_dir() and f.name not in ("bugs", "pcol")):
        files = sorted((f for f in folder.rglob("*") if f.is_file()), key=lambda f: (-f.stat().st_size, f.name))
        taken = 0
        for path in files:
            if taken == EACH or path.stat().st_size < LEAST / 10:
                break
            data = plain(path)
            if len(data) < LEAST or data in seen:
                continue
            try:
                timed([PCOL, "info", "-q", path])
            except Missing:  # a reference answer or a script
                continue
            seen.add(data)
            taken += 1
            yield path, data


def size_of(command, out):
    with out.open("wb") as sink:
        timed(command, stdout=sink)
    return out.stat().st_size


def is_restored(packed, other):
    """Whether the source comes back from the packed file."""
    done = subprocess.run([PCOL, "info", "--format", "json", packed], capture_output=True, text=True, check=True)
    kind = json.loads(done.stdout)["sources"][0]["source_type"]
    return subprocess.run([PCOL, "unpack", "-q", "-f", "--to", kind, packed, "-o", other], capture_output=True).returncode == 0


def measure(options):
    DATA.mkdir(parents=True, exist_ok=True)
    source, packed, archive, other = (DATA / f"real.{end}" for end in ("source", "pcol", "arc", "other"))
    for path, data in profiles():
        source.write_bytes(data)
        label = f"{path.parent.name}/{path.name}, {len(data) / MB:.3g} MB"
        try:
            timed(pack_command(path, packed, "-q"))
            timed(pack_command(path, archive, "-q", "--archive"))
            ours, cold = packed.stat().st_size, archive.stat().st_size
            for name, mine, what, command in (
                    ("size", ours, "gzip -6", ["gzip", "-6", "-c"]), ("zstd", ours, "zstd -3", ["zstd", "-3", "-q", "-c"]),
                    ("archive", cold, "zstd -19", ["zstd", "-19", "-q", "-c"])) if is_restored(packed, other) else ():
                theirs = size_of([tool(command[0]), *command[1:], source], other)
                kind = "archive" if name == "archive" else "packed"
                yield row(f"real.{name}", f"{label}, {kind}", round(mine / 1000, 2), what, round(theirs / 1000, 2), mine / theirs, "KB", runs=0)
            result = interleaved(options.runs, clock="cpu", pack=pack_command(path, packed, "-q"), top=[PCOL, "top", packed],
                                 direct=[PCOL, "top", "-q", path], zstd=[tool("zstd"), "-3", "-q", "-f", source, "-o", other])
        except Missing as reason:
            yield missing("real", label, reason)
            continue
        ms = {name: seconds * 1000 for name, (seconds, _) in result.items()}
        yield row("real.pack", f"pack {label}, CPU time", round(ms["pack"], 2), "zstd -3 of it", round(ms["zstd"], 2),
                  ms["pack"] / ms["zstd"], "ms")
        yield row("real.top", "top of it, packed, CPU time", round(ms["top"], 2), "top of the profile itself", round(ms["direct"], 2),
                  ms["top"] / ms["direct"], "ms")
    for path in (source, packed, archive, other):
        path.unlink(missing_ok=True)
