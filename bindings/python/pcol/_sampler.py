"""A sampling profiler for Python code: a thread that reads sys._current_frames()."""
from __future__ import annotations

import bisect
import os
import sys
import threading
import time
from array import array
from typing import Any

from ._builder import Builder
from ._profile import Profile
from ._profile import open as open_profile


class _Stacks:
    """Call tree of the stacks that were seen: nodes by (parent, code, instruction)."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, int, int], int] = {}
        # Of node i + 1. Code objects are kept, so that their ids stay theirs.
        self.entries: list[tuple[int, Any, int, str]] = []

    def node(self, frame: Any) -> int:
        chain = []
        while frame is not None:
            chain.append(frame)
            frame = frame.f_back
        node, get = 0, self.nodes.get
        for frame in reversed(chain):
            code, instruction = frame.f_code, frame.f_lasti
            key = node, id(code), instruction
            child = get(key)
            if child is None:
                module = str(frame.f_globals.get("__name__", "?"))
                self.entries.append((node, code, instruction, module))
                child = self.nodes[key] = len(self.entries)
            node = child
        return node

    def add_to(self, builder: Builder) -> list[int]:
        """The builder's rows of the nodes; index 0 is the empty stack."""
        tables: dict[int, tuple[list[int], list[int | None]]] = {}
        rows = [0]
        for parent, code, instruction, module in self.entries:
            if id(code) not in tables:
                lines = list(code.co_lines())
                tables[id(code)] = [entry[0] for entry in lines], [entry[2] for entry in lines]
            starts, numbers = tables[id(code)]
            at = bisect.bisect_right(starts, instruction) - 1
            line = numbers[at] if at >= 0 else None
            function = builder.function(f"{module}.{code.co_qualname}", code.co_filename,
                                        code.co_firstlineno)
            rows.append(builder.stack([builder.location(function, line=line)], rows[parent]))
        return rows


def _cpu_ns(native_id: int) -> int | None:
    """CPU time of a thread. The clock is that of pthread_getcpuclockid(), which must not be called
    for a thread that may have ended; by its id in the kernel the clock just fails then."""
    try:
        return time.clock_gettime_ns((~native_id << 3) | 6)
    except OSError:
        return None


class profile:  # pylint: disable=invalid-name
    """Record a profile of the Python code in a ``with`` block, of all threads.

    A thread samples every ``interval`` seconds. Sample types: ``samples`` (count), ``wall`` and
    ``cpu`` (ns since the last sample of the thread), ``missed_ticks`` (ticks that passed without a
    sample, for instance while a call in C held the GIL, on the stack that was seen next);
    ``clock`` ("wall" or "cpu") selects the default of queries. Written to ``path`` at the end, if
    given. After the block ``result`` is the profile, and ``statement`` says how many samples were
    taken at which cost.

    >>> with pcol.profile(interval=0.001, clock="cpu") as sampler:
    ...     total = sum(i * i for i in range(300_000))
    >>> sampler.result.sources["source_type"].tolist()
    ['python']
    >>> sorted(set(sampler.result.sample_types["type"]))
    ['cpu', 'missed_ticks', 'samples', 'wall']
    """

    def __init__(self, path: Any = None, *, interval: float = 0.01, clock: str = "wall",
                 overwrite: bool = False):
        if clock not in ("wall", "cpu"):
            raise ValueError(f"clock {clock!r} is unknown; it must be wall or cpu")
        if not 0.0001 <= interval <= 3600:
            raise ValueError("the interval must be 0.0001 to 3600 seconds")
        if path is not None and not overwrite and os.path.exists(path):
            raise FileExistsError(f"{os.fspath(path)}: the file exists; pass overwrite=True")
        self.path, self.interval, self.clock = path, interval, clock
        self.result: Profile | None = None
        self.samples = self.ticks = self.missed = self.overhead_cpu_ns = self.program_cpu_ns = 0
        self._thread: threading.Thread | None = None

    # ---- recording

    def start(self) -> None:
        """Begin. Meant for programs without a block to put into ``with``."""
        if self._thread is not None:
            raise RuntimeError("the profiler has been started before")
        self._stacks = _Stacks()
        # Per sample: stack, thread, time, wall, cpu, missed.
        self._rows = tuple(array("q") for _ in range(6))
        self._threads: dict[int, tuple[int, str]] = {}  # kernel's id: row, name
        self._last: dict[int, tuple[int, int]] = {}  # row: time, CPU time
        # A lock that stop() releases: to wait for it takes a fraction of the time of an Event.
        self._stop, self._pid, self._timestamp = threading.Lock(), os.getpid(), time.time()
        self._stop.acquire()
        self._error: BaseException | None = None
        self._begin, self._cpu_begin = time.monotonic_ns(), time.process_time_ns()
        self._switch = sys.getswitchinterval()
        if self.interval < 2 * self._switch:  # else the sampler waits longer for the GIL than that
            sys.setswitchinterval(self.interval / 2)
        for thread in threading.enumerate():
            if thread.native_id is not None:
                row = self._row(thread.native_id, thread.name)
                self._last[row] = self._begin, _cpu_ns(thread.native_id) or 0
        self._thread = threading.Thread(target=self._run, name="pcol sampler", daemon=True)
        self._thread.start()

    def stop(self) -> Profile | None:
        """End, and write the profile; in a child after fork() nothing is written."""
        if self._thread is None:
            raise RuntimeError("the profiler has not been started")
        if self._pid != os.getpid():
            return None
        if self.result is None:
            if self._stop.locked():  # not after an error of the sampler
                self._stop.release()
            self._thread.join()
            sys.setswitchinterval(self._switch)
            self._end = time.monotonic_ns()
            self.program_cpu_ns = time.process_time_ns() - self._cpu_begin
            if self._error is not None:
                raise self._error
            self._write()
        return self.result

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.stop()

    def _row(self, native_id: int, name: str) -> int:
        known = self._threads.get(native_id)
        if known is None:
            known = self._threads[native_id] = len(self._threads), name
        return known[0]

    def _run(self) -> None:
        step = round(self.interval * 1e9)
        due = self._begin + step
        try:
            while not self._stop.acquire(timeout=max(0, due - time.monotonic_ns()) / 1e9):
                now = time.monotonic_ns()
                late = max(0, (now - due) // step)
                self._tick(now, late)
                due += (late + 1) * step
        except BaseException as error:  # reported by stop()
            self._error = error
        self.overhead_cpu_ns = time.thread_time_ns()

    def _tick(self, now: int, missed: int) -> None:
        me = threading.get_ident()
        self.ticks += 1
        self.missed += missed
        threads = threading._active  # type: ignore[attr-defined]
        append = [column.append for column in self._rows]
        for ident, frame in sys._current_frames().items():
            if ident == me:
                continue
            thread = threads.get(ident)
            native_id = getattr(thread, "native_id", None)
            row = self._row(native_id or -ident, thread.name if thread is not None else "unknown")
            cpu = _cpu_ns(native_id) if native_id is not None else None
            last = self._last.get(row, (now - round(self.interval * 1e9), 0))
            self._last[row] = now, last[1] if cpu is None else cpu
            append[0](self._stacks.node(frame))
            append[1](row)
            append[2](now - self._begin)
            append[3](now - last[0])
            append[4](0 if cpu is None else max(0, cpu - last[1]))
            append[5](missed)
            self.samples += 1

    # ---- the end

    def _write(self) -> None:
        import numpy as np

        stack, thread, when, wall, cpu, missed = (np.frombuffer(c, "int64") if len(c) else
                                                  np.empty(0, "int64") for c in self._rows)
        builder = Builder(
            "python",
            sample_types=[("samples", "count"), ("wall", "nanoseconds"), ("cpu", "nanoseconds"),
                          ("missed_ticks", "count")],
            default=self.clock, uri=sys.argv[0] if sys.argv and sys.argv[0] else None,
            timestamp=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._timestamp)),
            interval_ns=round(self.interval * 1e9), duration_ns=self._end - self._begin,
            meta={"python": sys.version.split()[0], "clock": self.clock,
                  "ticks": str(self.ticks), "missed_ticks": str(self.missed),
                  "sampler_cpu_ns": str(self.overhead_cpu_ns),
                  "program_cpu_ns": str(self.program_cpu_ns)})
        for native_id, (_, name) in self._threads.items():
            builder.thread(name, native_id if native_id > 0 else None, self._pid)
        rows = np.array(self._stacks.add_to(builder), "int64")
        builder.samples(stack=rows[stack], time=when / 1e6, thread=thread,
                        values={"samples": np.ones(len(stack), "int64"), "wall": wall, "cpu": cpu,
                                "missed_ticks": missed})
        if self.path is None:
            self.result = builder.profile()
        else:
            builder.write(self.path, overwrite=True)
            self.result = open_profile(self.path)

    @property
    def overhead(self) -> float:
        """Share of the process's CPU time that the sampler used."""
        return self.overhead_cpu_ns / self.program_cpu_ns if self.program_cpu_ns else 0.0

    @property
    def statement(self) -> str:
        """Samples, missed ticks and cost in a sentence."""
        return (f"pcol: {self.samples} samples at {self.ticks} ticks, {self.missed} ticks missed; "
                f"the sampler used {100 * self.overhead:.1f} % of the CPU time")
