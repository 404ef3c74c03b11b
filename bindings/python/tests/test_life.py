"""Lifetime: close under living arrays, truncated files, threads, fork, exit, Ctrl-C."""
import gc
import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest
from conftest import DATA

import pcol


def run(code, *arguments):
    """Run a program; its exit code, output and errors."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_close_under_living_arrays(plain):
    p = pcol.open(plain)
    stack = p.table("samples", "physical")["stack"]
    view = stack[2:5]
    del stack
    with pytest.raises(BufferError, match="1 arrays"):
        p.close()
    total = int(view.sum())
    assert not p.closed and total >= 0
    del view
    gc.collect()
    p.close()
    assert p.closed


def test_decoded_columns_outlive_the_profile(cpu):
    values = cpu.sample_values["value"]
    before = values.tolist()
    cpu.close()
    assert values.tolist() == before


def test_array_keeps_the_file(plain):
    p = pcol.open(plain)
    stack, name = p.table("samples", "physical")["stack"], weakref.ref(p)
    before = stack.tolist()
    del p
    gc.collect()
    assert name() is None and stack.tolist() == before


def test_with_closes(plain):
    with pcol.open(plain) as p:
        assert p.samples.rows > 0
    assert p.closed
    with pytest.raises(KeyError):
        with pcol.open(plain) as p:
            raise KeyError("x")


def test_truncated_while_open(plain):
    p = pcol.open(plain)
    stack = p.table("samples", "physical")["stack"]
    os.truncate(plain, 4096)
    with pytest.raises(pcol.InputOutputError):
        p.top()
    with pytest.raises(pcol.InputOutputError):
        p.samples.to_pandas()
    stack.sum()
    with pytest.raises(pcol.InputOutputError):
        p.intact()
    with pytest.raises(pcol.InputOutputError):
        with p:
            pass


def changed_in_place(path):
    """A plain profile that was read and exported, and then a value of it changed."""
    p = pcol.open(b"main;f 5000001\nmain;g 5000002\n", format="folded")
    p.save(path, plain=True)
    os.utime(path, (1e9, 1e9))
    p = pcol.open(path)
    assert b"5000001" in p.unpack(format="folded")
    data = path.read_bytes()
    with open(path, "r+b") as file:
        file.seek(data.index(struct.pack("<qq", 5000001, 5000002)))
        file.write(struct.pack("<q", 7))
    return p


def test_changed_while_open(tmp_path):
    p = changed_in_place(tmp_path / "changed.pcol")
    target = tmp_path / "x.folded"
    target.write_bytes(b"old")
    with pytest.raises(pcol.InputOutputError):
        p.unpack(format="folded")
    with pytest.raises(pcol.InputOutputError):
        p.unpack(target, overwrite=True)
    assert target.read_bytes() == b"old"
    with pytest.raises(pcol.InputOutputError):
        p.check()


def test_threads(tmp_path):
    path = tmp_path / "x.pcol"
    source = pcol.open(DATA / "pprof" / "cpu.pb.gz")
    source.save(path)
    want = source.top().records(), source.frames()["location_id"].tolist()
    p, wrong = pcol.open(path), []

    def work():
        for _ in range(20):
            got = p.top().records(), p.frames()["location_id"].tolist()
            p.samples.to_pandas()
            if got != want:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    p.close()


def test_fork(plain):
    p = pcol.open(plain)
    want = p.top().records()
    child = os.fork()
    if child == 0:
        os._exit(0 if p.top().records() == want else 1)
    assert os.waitpid(child, 0)[1] == 0
    p.close()


def test_interpreter_exit(plain):
    code, out, err = run("""
        import pcol, sys
        p = pcol.open(sys.argv[1])
        stack = p.table("samples", "physical")["stack"]
        codes = p.functions.categorical("name")
        sampler = pcol.profile()
        sampler.start()
        class Last:
            def __del__(self):
                print(int(stack[0]) >= 0, p.closed)
        last = Last()
    """, plain)
    assert (code, out, err) == (0, "True False\n", "")


INTERRUPT = """
    import os, signal, sys, threading, pcol
    b = b"".join(b"main;f%d;g%d %d\\n" % (i, i * 7 % 1000003, i) for i in range(1000000))
    def stop():
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer(0.05, stop).start()
    try:
        pcol.open(b, format="folded", trusted=True).save(sys.argv[1])
        print("finished")
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_interrupt(tmp_path):
    code, out, err = run(INTERRUPT, tmp_path / "x.pcol")
    assert (code, out, err) == (0, "interrupted\n", "")
    assert list(tmp_path.iterdir()) == []


def test_other_threads_run_during_calls():
    data = b"".join(b"main;f%d;g%d %d\n" % (i, i * 7 % 10007, i) for i in range(200_000))
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    pcol.open(data, format="folded", trusted=True)
    during = counts[0] - before
    done.set()
    thread.join()
    assert during > 3


def test_exceptions_do_not_leak(folded):
    for _ in range(3):
        with pytest.raises(pcol.Error):
            folded.top(focus="(")
    before = sys.getrefcount(None)
    for _ in range(1000):
        with pytest.raises(pcol.Error):
            folded.top(focus="(")
        folded.top()
        folded.samples.to_pandas()
        np.asarray(folded.sample_values["value"])
    assert sys.getrefcount(None) - before < 500
