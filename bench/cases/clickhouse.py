"""Loading of 2000 profiles (--quick: 100) of 400 KB, of 20 services and 100 hosts: CPU time of `unpack --to clickhouse` into two shards
against 5 ms a file, also when the stacks are known; its peak memory against 256 MB. Each service has five profiles of different stacks,
about 60 new stacks a file in all; 4,400 samples a file. Needs no ClickHouse."""
import functools
import shutil
import subprocess

from harness import DATA, MB, PCOL, interleaved, program, row

SERVICES, HOSTS, RUNS = 20, 100, 5


@functools.cache
def profile(service, run):
    return subprocess.run([program("gen_pprof"), "--bytes", "400000", "--gz", "--seed", str(service), "--run", str(run)],
                          capture_output=True, check=True).stdout


def profiles(count):
    """Paths of packed profiles with their metadata."""
    folder = DATA / "clickhouse"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        path = folder / f"{number:04}.pcol"
        paths.append(path)
        subprocess.run([PCOL, "pack", "-q", "-f", "--no-sync", "-", "-o", path, "--meta", f"service=s{number % SERVICES}",
                        "--meta", f"host=h{number % HOSTS}", "--meta", "build=1", "--source-timestamp",
                        f"2026-11-21T12:{number // HOSTS:02}:00Z"], input=profile(number % SERVICES, number // SERVICES % RUNS), check=True)
    return paths


def measure(options):
    count = 100 if options.quick else 2000
    folder, load, known = DATA / "clickhouse", DATA / "clickhouse-load", DATA / "clickhouse-known"
    try:
        paths = profiles(count)
        (folder / "list").write_text("".join(f"{path}\n" for path in paths))
        unpack = [PCOL, "unpack", "-q", "-f", "--no-sync", "--to", "clickhouse", "--shards", "2", "--files-from", folder / "list"]
        shutil.rmtree(load, ignore_errors=True)
        subprocess.run([*unpack, "-o", load], check=True)
        known.write_bytes((load / "hashes").read_bytes())
        stacks = known.read_text().count("\n")
        result = interleaved(min(options.runs, 3), clock="cpu", all=[*unpack, "-o", load],
                             known=[*unpack, "-o", DATA / "clickhouse-again", "--known", known])
        for name, what in (("all", f"{stacks:,} stacks"), ("known", "stacks known")):
            seconds, _ = result[name]
            yield row(f"clickhouse.{name}", f"tables of {count} profiles for ClickHouse, {what}, CPU a file", round(1000 * seconds / count, 3),
                      "bound", 5, 1000 * seconds / count / 5, "ms")
        peak = result["all"][1]
        yield row("clickhouse.memory", "peak memory of that", round(peak / MB, 1), "bound", 256, peak / MB / 256, "MB")
    finally:
        for path in (folder, load, DATA / "clickhouse-again"):
            shutil.rmtree(path, ignore_errors=True)
        known.unlink(missing_ok=True)
