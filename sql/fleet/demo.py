#!/usr/bin/env python3
"""sql/fleet/demo.py [--keep DIRECTORY] - docs/fleet.md on one machine; the last line is "N passed, N failed"

200 profiles of two services are packed, merged by GNU parallel and by Dask, and loaded into two shards of ClickHouse: real servers,
on free ports of the loopback interface, in a temporary directory. A worker of Dask and a server are killed (SIGKILL) in the middle
of their work, and the step is run again. All answers must be those of `pcol merge` and `pcol top`.

Commands and queries are the blocks of docs/fleet.md that are marked "make fleet-demo runs it as NAME". PCOL is the program
(default: build/pcol). Packages: scripts/deps fleet.
"""
import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(__file__).resolve().parents[2]
PCOL = pathlib.Path(os.environ.get("PCOL") or SRC / "build/pcol").resolve()
PAGE = SRC / "docs/fleet.md"
SHARDS = 2
PYTHON = "/usr/bin/python3"  # has Debian's packages
TYPE = "samples/count"
UNAVAILABLE = "Code: 279"
PROGRAMS = ["clickhouse-server", "clickhouse-client", "dask-scheduler", "dask-worker", "parallel"]

CONFIG = """<yandex>
  <logger><level>warning</level><log>{work}/log</log><errorlog>{work}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <tcp_port>{port}</tcp_port>
  <path>{work}/data/</path>
  <tmp_path>{work}/tmp/</tmp_path>
  <mark_cache_size>67108864</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>UTC</timezone>
  <remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>
"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
USERS = """<yandex>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
  </default></users>
</yandex>
"""
# The commands of the page name hosts; here these are ports of the loopback interface.
CLIENT = """#!/bin/sh
host=$2
shift 2
case $host in {cases} *) echo "no host $host" >&2; exit 2;; esac
exec {client} --host 127.0.0.1 --port "$port" "$@"
"""

counts = [0, 0]


def check(what, good, detail=""):
    counts[not good] += 1
    print(f"{'ok' if good else 'FAIL'}: {what}{'' if good else ': ' + str(detail)[:2000]}", flush=True)
    return good


def blocks():
    """Code of the marked blocks of the page, by name."""
    found = re.findall(r"^<!-- test: skip, make fleet-demo runs it as (\w+) -->\n```\w+\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    return dict(found)


def free_ports(count):
    """Ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def until(what, condition, seconds=30):
    """Waits for a condition; returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise RuntimeError(f"no {what} within {seconds} s")


class Demo:
    """Directory, environment and processes of a run."""

    def __init__(self, work):
        self.work, self.processes = work, []
        (work / "bin").mkdir()
        (work / "bin/pcol").symlink_to(PCOL)
        self.env = dict(os.environ, PATH=f"{work / 'bin'}:{os.environ['PATH']}", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
        self.blocks = blocks()

    def start(self, command, **options):
        """A process of our own, ended at the end."""
        log = (self.work / f"{pathlib.Path(command[0]).name}.log").open("ab")
        process = subprocess.Popen(list(map(str, command)), cwd=options.pop("cwd", self.work), env=options.pop("env", self.env),
                                   stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)
        self.processes.append(process)
        log.close()
        return process

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def run(self, command, **options):
        return subprocess.run(list(map(str, command)), cwd=self.work, env=self.env, capture_output=True, **options)

    def sh(self, name):
        """Runs a block of the page as a script, after its function."""
        done = self.run(["sh", "-eu", "-c", self.blocks["insert"] + self.blocks[name]])
        return done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")

    def pcol(self, *arguments):
        done = self.run([PCOL, *arguments], check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pcol {arguments[0]}: {done.stderr.decode()}")
        return done.stdout.decode()


# ---- collect

HOSTILE = ["it's `\"quoted\"`", "back\\slash\\n", "naïve_größe", "tab\tinside", "a::b<int, char*>(x) [clone .cold]", "$(rm -rf .)"]


def stacks_of(service, random_numbers):
    names = [f"{service}::f{i}" for i in range(60)] + HOSTILE + ["main", "read", "write", "malloc"]
    return [";".join(["main"] + random_numbers.choices(names, k=random_numbers.randint(1, 12))) for _ in range(150)]


def collect(demo):
    """200 profiles: two services, five hosts each, two builds, twenty minutes."""
    numbers = random.Random(22)
    stacks = {service: stacks_of(service, numbers) for service in ("shop", "mail")}
    (demo.work / "done").mkdir()
    text = demo.work / "profile.folded"
    for service, host, minute in itertools.product(("shop", "mail"), range(5), range(20)):
        seen = numbers.sample(stacks[service], 100)
        text.write_text("".join(f"{s} {numbers.randint(1, 1000)}\n" for s in seen))
        demo.pcol("pack", "--no-sync", text, "-o", f"done/{service}-{host}-12{minute:02}.pcol", "--source-uri", f"{service}-{host}-{minute}",
                  "--meta", f"service={service}", "--meta", f"host={service}{host}", "--meta", f"build={17 + minute // 10}",
                  "--source-timestamp", f"2026-11-21T12:{minute:02}:00Z")
    paths = sorted(p.relative_to(demo.work) for p in (demo.work / "done").iterdir())
    (demo.work / "files").write_text("".join(f"{p}\n" for p in paths))
    demo.pcol("merge", "--files-from", "files", "-o", "flat.pcol")
    return check("200 profiles packed and merged", len(paths) == 200)


def top(demo, path, *options):
    """{name: (self, total)} of `pcol top`."""
    rows = json.loads(demo.pcol("top", "-q", "-n", "0", "--format", "json", *options, path))
    return {row["name"]: (row["self"], row["total"]) for row in rows}


# ---- schedulers

def schedule(demo):
    """GNU parallel, and Dask with a worker that is killed while both have a task."""
    good, text = demo.sh("parallel")
    check("GNU parallel: merge as a tree", good, text)
    check("GNU parallel: the answer of one merge", good and top(demo, "tree.pcol") == top(demo, "flat.pcol"))

    port = free_ports(1)[0]
    demo.env["DASK_SCHEDULER_ADDRESS"] = f"tcp://127.0.0.1:{port}"
    demo.start(["dask-scheduler", "--host", "127.0.0.1", "--port", port, "--dashboard-address", "127.0.0.1:0", "--scheduler-file",
                demo.work / "scheduler"])
    until("scheduler of Dask", lambda: (demo.work / "scheduler").exists())
    slow = demo.work / "slow"
    slow.mkdir()
    (slow / "pcol").write_text(f'#!/bin/sh\nsleep 0.3\nexec {PCOL} "$@"\n')  # a task that can be killed
    (slow / "pcol").chmod(0o755)
    env = dict(demo.env, PATH=f"{slow}:{demo.env['PATH']}")
    workers = [demo.start(["dask-worker", demo.env["DASK_SCHEDULER_ADDRESS"], "--host", "127.0.0.1", "--no-nanny", "--no-dashboard",
                           "--nthreads", "1", "--name", f"w{i}", "--local-directory", demo.work / f"dask{i}"], env=env)
               for i in range(2)]
    (demo.work / "job.py").write_text(demo.blocks["dask"])
    job = demo.start([PYTHON, "job.py"])
    until("part of Dask", lambda: job.poll() is not None or list(demo.work.glob("dask-part-*")))
    time.sleep(0.1)
    running = job.poll() is None and workers[0].poll() is None
    workers[0].kill()
    check("Dask: a worker is killed in the middle", running and not (demo.work / "dask.pcol").exists())
    code = job.wait(timeout=60)
    check("Dask: the job ends well", code == 0, (demo.work / "python3.log").read_text(errors="replace"))
    check("Dask: the answer of one merge", code == 0 and top(demo, "dask.pcol") == top(demo, "flat.pcol"))
    for process in (workers[1], demo.processes[0]):
        process.kill()


# ---- ClickHouse

class Shard:
    """A server with a directory of its own."""

    def __init__(self, demo, number, ports):
        self.demo, self.port = demo, ports[number]
        self.work = demo.work / f"shard-{number}"
        for part in ("data", "tmp"):
            (self.work / part).mkdir(parents=True)
        shards = "".join(SHARD.format(port) for port in ports)
        (self.work / "config.xml").write_text(CONFIG.format(work=self.work, port=self.port, shards=shards))
        (self.work / "users.xml").write_text(USERS)
        self.start()

    def client(self, *arguments):
        return ["clickhouse-client", "--host", f"shard-{self.work.name[-1]}", *arguments]

    def start(self):
        self.process = self.demo.start(["clickhouse-server", "--config-file=config.xml"], cwd=self.work)
        until(f"answer of {self.work.name}", lambda: self.demo.run(self.client("--query", "SELECT 1")).returncode == 0)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, sql):
        """Rows of an answer, or the error."""
        done = self.demo.run(self.client("--query", sql.strip().rstrip(";") + " FORMAT JSONCompact"))
        if done.returncode != 0:
            return done.stderr.decode(errors="replace")
        return [tuple(row) for row in json.loads(done.stdout)["data"]]


def answer(shard, sql):
    rows = shard.ask(sql)
    return {name: (int(own), int(total)) for name, own, total in rows} if isinstance(rows, list) else rows


def insert_half(demo, shard, number):
    """Kills the server in the middle of an insert; returns (rows that it has taken, whether the client failed)."""
    data = (demo.work / f"load/samples-{number}.rowbinary").read_bytes()
    # Small blocks: by default less than a million rows is one block, which is there as a whole or not at all.
    client = subprocess.Popen(shard.client("--max_insert_block_size=500", "--min_insert_block_size_rows=1", "--min_insert_block_size_bytes=1",
                                           "--query", "INSERT INTO samples FORMAT RowBinary"),
                              cwd=demo.work, env=demo.env, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    demo.processes.append(client)
    client.stdin.write(data[:len(data) // 2])
    client.stdin.flush()
    taken = until("rows of an insert", lambda: int(shard.ask("SELECT count() FROM samples")[0][0]))
    shard.kill()
    with contextlib.suppress(BrokenPipeError):
        client.stdin.write(data[len(data) // 2:])
        client.stdin.close()
    return taken, client.wait(timeout=30) != 0


def load(demo, shards):
    """Loads, with a server that is killed in the middle of an insert of samples."""
    sql = demo.blocks
    (demo.work / "known").write_text("")
    good, text = demo.sh("unpack")
    check("ClickHouse: tables written", good, text)
    good, text = demo.sh("names")
    check("ClickHouse: schema, stacks and functions inserted", good, text)
    good, text = demo.sh("distributed")
    check("ClickHouse: distributed tables made", good, text)
    done = demo.run(shards[0].client("--query", "INSERT INTO samples FORMAT RowBinary"),
                    input=(demo.work / "load/samples-0.rowbinary").read_bytes())
    check("ClickHouse: shard 0 inserted", done.returncode == 0, done.stderr)

    taken, failed = insert_half(demo, shards[1], 1)
    check("ClickHouse: shard 1 killed in the middle of an insert, which fails", taken > 0 and failed, (taken, failed))
    rows = shards[0].ask(sql["top"])
    check("ClickHouse: a query fails while a shard is down, code 279", UNAVAILABLE in rows, rows)
    half = answer(shards[0], sql["top"].rstrip().rstrip(";") + " SETTINGS skip_unavailable_shards = 1")
    expected = top(demo, "flat.pcol")
    check("ClickHouse: with skip_unavailable_shards it answers too little", isinstance(half, dict) and 0 < sum(s for s, _ in half.values())
          < sum(s for s, _ in expected.values()), half)

    shards[1].start()
    partial = shards[0].ask("SELECT sum(value) FROM all_samples")
    good, text = demo.sh("samples")
    check("ClickHouse: inserted again after a restart", good, text)
    twice = shards[0].ask("SELECT sum(value) FROM all_samples")
    total = sum(own for own, _ in expected.values())
    check("ClickHouse: without FINAL the rows of both attempts count", int(twice[0][0]) > total > int(partial[0][0]), (partial, twice, total))
    check("ClickHouse: the hashes are known now", (demo.work / "known").stat().st_size > 0 and not (demo.work / "load").exists())


def ask(demo, shards):
    sql = demo.blocks
    expected = top(demo, "flat.pcol")
    for number, shard in enumerate(shards):
        rows = answer(shard, sql["top"])
        check(f"ClickHouse: top of all, asked at shard {number}", rows == expected, difference(rows, expected))
    rows = shards[0].ask(sql["selftime"])
    mail = top(demo, "flat.pcol", "--source-meta", "service=mail", "--source-meta", "build=18")
    wanted = sorted(((name, own) for name, (own, _) in mail.items() if own), key=lambda r: (-r[1], r[0].encode()))[:10]
    got = [(name, int(own)) for name, own in rows] if isinstance(rows, list) else rows
    check("ClickHouse: self of one service and build", got == wanted, (got, wanted))
    rows = shards[0].ask(sql["hosts"])
    by_host = {}
    for host in range(5):
        by_host[f"shop{host}"] = top(demo, "flat.pcol", "--source-meta", f"host=shop{host}").get("read", (0, 0))[1]
    got = {host: int(value) for host, value in rows} if isinstance(rows, list) else rows
    check("ClickHouse: a function by host", got == {h: v for h, v in by_host.items() if v}, (got, by_host))
    check("ClickHouse: every stack has its names", shards[0].ask(sql["complete"]) in ([("0",)], [(0,)]), shards[0].ask(sql["complete"]))
    rows = shards[0].ask(sql["ids"])
    got = {name: int(own) for name, own in rows} if isinstance(rows, list) else rows
    check("ClickHouse: self by ids of functions", got == {n: own for n, (own, _) in expected.items() if own}, got)


def difference(got, wanted):
    if not isinstance(got, dict):
        return got
    return {k: (got.get(k), wanted.get(k)) for k in {*got, *wanted} if got.get(k) != wanted.get(k)}


def load_more(demo, shards):
    """A second interval: stacks that are known are not written again, and the same interval twice counts once."""
    text = demo.work / "profile.folded"
    text.write_text("main;mail::f1 7\nmain;new_in_this_interval 5\n" + (demo.work / "profile.folded").read_text().split("\n")[0] + "\n")
    demo.pcol("pack", "--no-sync", text, "-o", "done/late.pcol", "--meta", "service=mail", "--meta", "host=late", "--meta", "build=18",
              "--source-timestamp", "2026-11-21T12:30:00Z")
    (demo.work / "files").write_text("done/late.pcol\n")
    known = set((demo.work / "known").read_text().split())
    for attempt in range(2):
        results = [demo.sh(name) for name in ("unpack", "names", "samples")]
        check(f"ClickHouse: another interval, attempt {attempt + 1}", all(good for good, _ in results), results)
    lines = (demo.work / "known").read_text().split()
    check("known: the second attempt writes no stack again", len(lines) == len(set(lines)) and len(set(lines) - known) in (1, 2))
    demo.pcol("merge", "flat.pcol", "done/late.pcol", "-o", "later.pcol")
    rows, expected = answer(shards[0], demo.blocks["top"]), top(demo, "later.pcol")
    check("ClickHouse: top of all after two attempts", rows == expected, difference(rows, expected))


def clickhouse(demo):
    ports = free_ports(SHARDS)
    cases = " ".join(f"shard-{i}) port={port};;" for i, port in enumerate(ports))
    client = demo.work / "bin/clickhouse-client"
    client.write_text(CLIENT.format(cases=cases, client=shutil.which("clickhouse-client")))
    client.chmod(0o755)
    shards = [Shard(demo, i, ports) for i in range(SHARDS)]
    load(demo, shards)
    ask(demo, shards)
    load_more(demo, shards)


def main():
    missing = [p for p in PROGRAMS if shutil.which(p) is None]
    if missing:
        print(f"programs are missing: {', '.join(missing)} (scripts/deps fleet)\n0 passed, 1 failed")
        return 1
    keep = pathlib.Path(sys.argv[2]).resolve() if sys.argv[1:2] == ["--keep"] else None
    if keep:
        keep.mkdir(parents=True)
    with contextlib.nullcontext(keep) if keep else tempfile.TemporaryDirectory(prefix="pcol-fleet-") as folder:
        demo = Demo(pathlib.Path(folder).resolve())
        try:
            for step in (collect, schedule, clickhouse):
                step(demo)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError, ValueError) as reason:
            check(f"{step.__name__}", False, repr(reason))
        finally:
            demo.stop()
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
