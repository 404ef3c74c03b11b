"""The sampler. No assertion depends on speed: counts are compared with the clock's own."""
import asyncio
import os
import threading
import time

import pytest

import pcol


def spin(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        n += sum(range(200))
    return n


def deep(depth, seconds):
    return deep(depth - 1, seconds) if depth else spin(seconds)


def test_counts_and_types(tmp_path):
    path = tmp_path / "x.pcol"
    with pcol.profile(path, interval=0.005, clock="cpu") as sampler:
        spin(0.4)
    p = sampler.result
    assert path.exists() and p.path == str(path)
    assert [fault for fault in p.check("strict") if not fault.note] == []
    # On a busy machine the last tick may be long before the end.
    assert abs(sampler.ticks + sampler.missed - float(max(p.samples["time"])) / 5) <= 1
    assert max(p.samples["time"]) <= float(p.sources["duration_ns"][0]) / 1e6
    assert p.top(sample_type="samples").total == sampler.samples
    assert p.top(sample_type="missed_ticks").total == sampler.missed
    top = {row.name: row for row in p.top().records()}
    assert p.top().type == "cpu" and top[f"{__name__}.spin"].total > 0.9 * p.top().total
    assert "samples at" in sampler.statement and 0 <= sampler.overhead < 1


def test_lines():
    with pcol.profile(interval=0.002) as sampler:
        spin(0.1)
    first = spin.__code__.co_firstlineno
    lines = [row.line for row in sampler.result.top(by="line", focus="spin").records()
             if row.name == f"{__name__}.spin"]
    assert lines and all(first <= line <= first + 5 for line in lines)


def test_threads_and_depth():
    threads = [threading.Thread(target=deep, args=(200, 0.03), name=f"worker {i}")
               for i in range(10)]
    with pcol.profile(interval=0.005) as sampler:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    p = sampler.result
    names = {row.name for row in p.top(by="thread").records()}
    assert len(names & {f"worker {i}" for i in range(10)}) >= 5
    assert max(p.frames()["depth"]) > 200
    assert "pcol sampler" not in names


def test_asyncio():
    async def inner():
        spin(0.1)

    async def outer():
        await asyncio.gather(inner(), inner())

    with pcol.profile(interval=0.002) as sampler:
        asyncio.run(outer())
    names = {row.name for row in sampler.result.top().records()}
    assert any(name.endswith("test_asyncio.<locals>.inner") for name in names)


def test_a_call_that_holds_the_gil():
    with pcol.profile(interval=0.002, clock="cpu") as sampler:
        spin(0.02)
        sum(range(10_000_000))  # one call in C: no tick in it
        spin(0.02)
    p = sampler.result
    assert sampler.missed > 0
    assert sampler.missed == p.top(sample_type="missed_ticks").total
    here = f"{__name__}.test_a_call_that_holds_the_gil"
    missed = {row.name: row.total for row in p.top(sample_type="missed_ticks").records()}
    assert missed[here] > 0


def test_shares_of_a_deterministic_program():
    def one(n):
        return sum(i * i for i in range(n))

    def three(n):
        return sum(i * i for i in range(3 * n))

    def cost(function):
        begin = time.thread_time()
        for _ in range(40):
            function(20_000)
        return time.thread_time() - begin

    # Not measured inside of the block: on a busy machine the kernel takes the CPU away at system
    # calls, and the sampler, which waits for the GIL then, would see the places after them.
    before = cost(one), cost(three)
    with pcol.profile(interval=0.001, clock="cpu") as sampler:
        for _ in range(400):
            one(20_000)
            three(20_000)
    after = cost(one), cost(three)
    p = sampler.result
    want = (before[1] + after[1]) / (sum(before) + sum(after))
    top = {row.name.rsplit(".", 1)[-1]: row.total for row in p.top().records()}
    cpu = [row.value for row in p["sample_values"].records() if row.type == "cpu"]
    # Each sample is a draw that weighs its CPU time: 800 like ones have an error of 1.5 points.
    error = (want * (1 - want) * sum(value**2 for value in cpu)) ** 0.5 / sum(cpu)
    assert top["three"] / (top["one"] + top["three"]) == pytest.approx(want, abs=5 * error)


def test_misuse(tmp_path):
    for arguments in ({"interval": 0}, {"clock": "sun"}):
        with pytest.raises(ValueError):
            pcol.profile(**arguments)
    path = tmp_path / "x.pcol"
    path.touch()
    with pytest.raises(FileExistsError):
        pcol.profile(path)
    sampler = pcol.profile()
    with pytest.raises(RuntimeError):
        sampler.stop()
    with sampler:
        with pytest.raises(RuntimeError):
            sampler.start()


def test_written_after_an_exception(tmp_path):
    with pytest.raises(KeyError):
        with pcol.profile(tmp_path / "x.pcol"):
            raise KeyError("x")
    assert pcol.open(tmp_path / "x.pcol").sources.rows == 1


def test_fork(tmp_path):
    path = tmp_path / "x.pcol"
    with pcol.profile(path) as sampler:
        child = os.fork()
        if child == 0:
            os._exit(0 if sampler.stop() is None else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not path.exists()
    assert path.exists()


class Shell:
    """The part of IPython's shell that the magic uses."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function

    def run_cell(self, cell):
        exec(cell, self.user_ns)


def test_cell_magic(capsys):
    shell = Shell()
    pcol.load_ipython_extension(shell)
    result = shell.magics["cell", "pcol"]("-i 0.002 -c cpu", "x = sum(i for i in range(300000))")
    assert shell.user_ns["x"] == 44999850000
    assert shell.user_ns["pcol_profile"] is result
    assert "samples at" in capsys.readouterr().out
