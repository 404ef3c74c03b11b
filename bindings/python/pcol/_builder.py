"""Builder: a profile from arrays."""
from __future__ import annotations

import operator
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._numbers import doubles as _doubles
from ._numbers import int64s, nanoseconds, rows
from ._profile import Profile, _pcol_path, _write_flags, metadata

_GAUGE, _DOUBLE = 1, 2


def _id(argument: str, value: int | str) -> str:
    """The text of an id of the system."""
    if isinstance(value, str):
        return value
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"{argument} must be an integer or a string, not "
                        f"{type(value).__name__}") from None


def _names(argument: str, names: str | Sequence[str], types: Mapping[str, Any]) -> frozenset[str]:
    """One name or several, of sample types."""
    given = frozenset((names,) if isinstance(names, str) else names)
    unknown = given - types.keys()
    if unknown:
        raise KeyError(f"{argument}: no sample type {min(unknown, key=str)}; "
                       f"there are {', '.join(types)}")
    return given


class Builder:
    """Makes a profile of one source: strings and stacks one by one, samples by column.

    Functions, locations and stacks that are equal are one row: the same number is returned.

    >>> b = pcol.Builder("mytool", sample_types=[("cpu", "nanoseconds")])
    >>> main = b.location(b.function("main", "main.py"), line=3)
    >>> work = b.location(b.function("work", "main.py"), line=9)
    >>> stacks = [b.stack([main]), b.stack([main, work])]          # outermost first
    >>> b.samples(stack=[stacks[0], stacks[1]], values={"cpu": [10, 30]}, time=[0.0, 1.5])
    >>> built = b.profile()
    >>> built.top().to_pandas()[["name", "self", "total"]].values.tolist()
    [['work', 30, 30], ['main', 10, 40]]
    """

    def __init__(self, type: str = "python", *,
                 sample_types: Sequence[tuple[str, str]] = (("samples", "count"),),
                 doubles: Sequence[str] = (), gauges: Sequence[str] = (),
                 default: str | None = None, uri: str | None = None, timestamp: str | None = None,
                 interval_ns: int = -1, duration_ns: int = -1, meta: Mapping[str, str] = {}):
        """sample_types: (type, unit) of each value; ``doubles``: types whose values are doubles;
        ``gauges``: types that are levels, such as a heap size, which are never summed."""
        self._native = _native.Builder(tempfile.gettempdir())
        self._source = self._native.source(type, uri, timestamp, default, interval_ns, duration_ns)
        for key, value in metadata(meta):
            self._native.meta(self._source, key, value)
        self._types: dict[str, tuple[int, bool]] = {}  # row, whether values are doubles
        units = [(name, unit) for name, unit in sample_types]
        doubles = _names("doubles", doubles, dict(units))
        gauges = _names("gauges", gauges, dict(units))
        for name, unit in units:
            flags = (_GAUGE if name in gauges else 0) | (_DOUBLE if name in doubles else 0)
            row = self._native.sample_type(name, unit, flags)
            self._types[name] = row, name in doubles
        self._threads = 0

    def function(self, name: str, file: str | None = None, start_line: int | None = None) -> int:
        """A function; returns its row."""
        return self._native.function(name, file, start_line)

    def location(self, function: int | None = None, *, line: int | None = None,
                 address: int | None = None) -> int:
        """A place in a function, or an address without one; returns its row."""
        return self._native.location(function, line, address)

    def stack(self, locations: Sequence[int], parent: int = 0) -> int:
        """A call stack, outermost location first, on top of ``parent``; returns its row."""
        return self._native.stack(parent, locations)

    def thread(self, name: str, tid: int | str | None = None, pid: int | str | None = None) -> int:
        """A thread; always a new row."""
        texts = {"name": None if name is None else str(name),
                 "tid": None if tid is None else _id("tid", tid),
                 "pid": None if pid is None else _id("pid", pid)}
        row, self._threads = self._threads, self._threads + 1
        self._native.cell("threads", "source", row, self._source, "sources")
        for column, text in texts.items():
            if text is not None:
                self._native.cell("threads", column, row, text)
        return row

    def samples(self, *, stack: Any, values: Mapping[str, Any], time: Any = None,
                duration: Any = None, thread: Any = None) -> None:
        """Append samples, given as arrays of equal length.

        stack: rows of stack(), 0: the empty stack, -1: no stack. values: an array for each sample
        type. time, duration: ms, exact if given as integers. thread: rows of thread(), -1: none.
        A call that raises an error appends nothing.
        """
        unknown = [name for name in values if name not in self._types]
        if unknown:
            raise KeyError(f"no sample type {unknown[0]}; there are {', '.join(self._types)}")
        columns = tuple(
            (self._types[name][0],
             (_doubles if self._types[name][1] else int64s)("values", column, name))
            for name, column in values.items())
        stacks = rows("stack", stack)
        self._native.samples(self._source, len(stacks), stacks,
                             None if time is None else nanoseconds("time", time),
                             None if duration is None else nanoseconds("duration", duration),
                             None if thread is None else rows("thread", thread), columns)

    def meta(self, key: str, value: str) -> None:
        """Keep a key and a value with the source."""
        self._native.meta(self._source, key, value)

    def profile(self) -> Profile:
        """Finish: the profile in memory. The builder cannot be used afterwards."""
        return Profile(self._native.write(0, None, False), "built")

    def write(self, path: Any, *, plain: bool = False, archive: bool = False,
              overwrite: bool = False) -> None:
        """Finish: write a .pcol file. The builder cannot be used afterwards."""
        self._native.write(_write_flags(plain, archive), _pcol_path(path), overwrite)
