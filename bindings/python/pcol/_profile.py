"""Open profiles: Profile and the functions that make one."""
from __future__ import annotations

import builtins
import inspect
import math
import operator
import os
import re
import stat
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import IO, Any, NamedTuple, Union

import numpy as np

from . import _native
from ._errors import LossWarning, PcolWarning, argument_of, hint_of
from ._jupyter import Flame
from ._numbers import nanoseconds
from ._symbols import Address, Symbols, addresses, arrange
from ._table import Columns, Lazy, Result, Table, _array, _Cells

_MAGIC = b"\x89PCOL\r\n\x1a"
_MODELS = {"v2": 0, "v1": 1, "physical": 2, "further": 3}
_BY = {"function": 0, "file": 1, "line": 2, "srcline": 3, "location": 4, "mapping": 5,
       "thread": 6, "process": 7, "source": 8, "label": 9, "stack": 10, "meta": 11}
_ORDER = {"self": 0, "total": 1, "name": 2}
_SHARE = {"proportional": 0, "additive": 1, "exact": 2}
_DEPTH = {"quick": 0, "default": 1, "strict": 2}
_COMPRESS = {"auto": 0, "none": 1, "gzip": 2}
_LOSS = 2

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], "Profile"]


class Fault(NamedTuple):
    """A fault that Profile.check() found; ``note``: worth knowing, but not a fault."""

    note: bool
    table: str
    column: str
    row: int | None
    message: str


class Format(NamedTuple):
    """A profile format."""

    name: str
    summary: str
    suffixes: str
    keeps: str
    reads: bool
    writes: bool


def formats() -> list[Format]:
    """The formats that pcol reads or writes.

    >>> [f.name for f in pcol.formats() if f.name in ("pprof", "rprof")]
    ['rprof', 'pprof']
    """
    return [Format(*entry) for entry in _native.formats()]


def metadata(given: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Pairs of a key and a value."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"meta must be a dict, not {type(given).__name__}")
    return list(given.items())


def _choice(choices: Mapping[str, int], value: str, what: str) -> int:
    if value not in choices:
        raise ValueError(f"{what} {value!r} is unknown; it must be one of {', '.join(choices)}")
    return choices[value]


def _warn(notices: list[tuple[int, str, str, str, str]], level: int = 4) -> None:
    """level: of the caller of the public function, as of warnings.warn()."""
    for code, form, _subject, text, option in notices:
        argument = argument_of(option)
        message = (f"{form}: {text}" if form else text) + hint_of(argument)
        warning = (LossWarning if code == _LOSS else PcolWarning)(message)
        warning.argument = argument
        warnings.warn(warning, stacklevel=level)


def _pattern(key: str, pattern: re.Pattern) -> str:
    if not isinstance(pattern.pattern, str):
        raise TypeError(f"the pattern of {key!r} must be a string pattern")
    added = pattern.flags & ~re.compile(pattern.pattern).flags  # to those that its text has
    if added & ~(re.IGNORECASE | re.DOTALL):
        raise ValueError(f"the pattern of {key!r} can have the flags IGNORECASE and DOTALL only")
    return "".join(text for flag, text in ((re.IGNORECASE, "(?i)"), (re.DOTALL, "(?s)"))
                   if added & flag) + pattern.pattern


def _value(key: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if not isinstance(value, (str, Real)):
        raise TypeError(f"the value of {key!r} must be a string, a number, a bool, a compiled pattern or "
                        f"a range (low, high), not {type(value).__name__}")
    return str(value)


def _bound(key: str, value: Any, infinity: float) -> str:
    """A bound of a range; "": it has none, also for the infinity at its end."""
    if value is None or (isinstance(value, Real) and value == infinity):
        return ""
    if isinstance(value, Real) and (value != value or abs(value) == math.inf):
        raise ValueError(f"the range of {key!r} cannot have the bound {value}")
    return _value(key, value)


def _condition(key: str, value: Any) -> str:
    if isinstance(value, re.Pattern):
        return f"{key}~{_pattern(key, value)}"
    if isinstance(value, tuple) and len(value) == 2:
        low, high = _bound(key, value[0], -math.inf), _bound(key, value[1], math.inf)
        if not low and not high:
            raise ValueError(f"the range of {key!r} needs a bound")
        return f"{key}={low}:{high}"
    return f"{key}={_value(key, value)}"


def _conditions(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(_condition(key, value) for key, value in given.items())
    return (given,) if isinstance(given, str) else tuple(given)


def _source(source: str | int | None) -> str | None:
    """A pattern, or the digits of an id."""
    if source is None or isinstance(source, str):
        return source
    if isinstance(source, (bool, np.bool_)):
        raise TypeError("source must be an id or a pattern, not bool")
    try:
        return str(operator.index(source))
    except TypeError:
        raise TypeError(f"source must be an id or a pattern, not {type(source).__name__}") from None


def _selection(
    sample_type: str | None = None,
    focus: str | None = None,
    ignore: str | None = None,
    hide: str | None = None,
    show: str | None = None,
    thread: str | None = None,
    source: str | int | None = None,
    labels: Any = None,
    time: tuple[float | None, float | None] | None = None,
    time_share: str = "proportional",
    keep_dropped: bool = False,
    source_metas: Any = None,
) -> tuple:
    first, last = -(2**63), 2**63 - 1
    if time is not None:
        if not isinstance(time, (tuple, list)) or len(time) != 2:
            raise TypeError("time must be (from, to) in ms")
        first = first if time[0] is None else int(nanoseconds("time", time[0]))
        last = last if time[1] is None else int(nanoseconds("time", time[1]))
    return (sample_type, focus, ignore, hide, show, thread,
            _source(source), _conditions(labels),
            _conditions(source_metas), time is not None, first, last,
            _choice(_SHARE, time_share, "time_share"), keep_dropped)


_TEXTS = ("sample_type", "focus", "ignore", "hide", "show", "thread")


def _selected(given: dict[str, Any]) -> tuple:
    """The selection of keyword arguments; TypeError for those that are none, or no text."""
    names = tuple(inspect.signature(_selection).parameters)
    for name, value in given.items():
        if name not in names:
            raise TypeError(f"unknown argument {name!r}; selections: {', '.join(names)}")
        if name in _TEXTS and value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    return _selection(**given)


def _write_flags(plain: bool, archive: bool) -> int:
    if plain and archive:
        raise ValueError("plain and archive exclude each other")
    return 1 if plain else 4 if archive else 0


def _file_of(source: Any) -> Any:
    return (source if isinstance(source, Profile) else open(source))._file


def _path(path: Any) -> str | None:
    return None if path is None else os.fsdecode(path)


def _input(source: Any, name: str | None) -> tuple[Any, str]:
    """A path as str or a buffer, and its name."""
    if isinstance(source, Profile):
        buffer = source._file.buffer()
        return (source.path if buffer is None else buffer), source.path or "profile"
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source), os.fsdecode(source)
    if hasattr(source, "read"):
        data = source.read()
        if isinstance(data, str):
            raise TypeError("the file object must be opened in binary mode ('rb')")
        named = getattr(source, "name", None)
        return data, name or (named if isinstance(named, str) else "input")
    view = memoryview(source)
    return (source if view.readonly else bytes(view)), name or "input"


def _starts_with_magic(source: Any) -> bool:
    if not isinstance(source, str):
        return bytes(memoryview(source)[: len(_MAGIC)]) == _MAGIC
    if not stat.S_ISREG(os.stat(source).st_mode):
        return False
    with builtins.open(source, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def open(  # pylint: disable=redefined-builtin
    source: Source,
    *,
    format: str | None = None,
    name: str | None = None,
    guard: bool = True,
    copy: bool = False,
    verify: bool = True,
    lenient: bool = False,
    trusted: bool = False,
) -> "Profile":
    """Open a profile of any format: a path, bytes, or a file object in binary mode.

    A pcol file is mapped; any other format (``pcol.formats()``) is imported into memory.

    format: name of the format; recognised by content if None. name: file name of bytes, which may
    help to recognise the format. guard: if another process truncates the mapped file, raise an
    error instead of crashing with SIGBUS. copy: read the file into memory instead of mapping it.
    verify: compare checksums of what is read. lenient: accept known deviations from a format.
    trusted: no limit on memory that an import takes in proportion to its input.

    >>> p = pcol.open(b"main;work 3\\nmain;load 2\\n", format="folded")
    >>> p.top().to_pandas()["name"].tolist()
    ['work', 'load', 'main']
    """
    data, label = _input(source, name)
    if format in (None, "pcol") and _starts_with_magic(data):
        flags = (1 if copy else 0) | (2 if guard else 0) | (0 if verify else 4)
        return Profile(_native.open(data, flags), data if isinstance(data, str) else None)
    return _build([(data, label)], format, lenient, trusted, False, 2, None, False, label)


def _build(sources, format, lenient, trusted, rebase, flags, path, overwrite, label):
    notices: list = []
    if path is None and isinstance(label, str) and isinstance(sources[0][0], str):
        os.stat(sources[0][0])  # FileNotFoundError rather than an error of the library
    file = _native.build(tuple(sources), format, lenient, trusted, rebase, tempfile.gettempdir(),
                         flags, path, overwrite, notices)
    _warn(notices)
    return None if file is None else Profile(file, label)


def merge(
    *sources: Source, path: Any = None, sums: bool | str | Iterable[str] = False,
    rebase: bool = False, lenient: bool = False, trusted: bool = False, plain: bool = False,
    archive: bool = False, overwrite: bool = False,
) -> "Profile | None":
    """One profile with the sources of several, of any formats; written to ``path`` if given.

    sums: True, or keys of labels and of metadata of sources: one sample for each call stack and
    values of these keys, with the sums of the values; times, threads and all else are left out,
    with a LossWarning. rebase: move mappings to where their files would be mapped from address 0,
    so that the code of processes that loaded it at different addresses is the same. lenient,
    trusted: as of open().

    >>> both = pcol.merge(p, p)
    >>> both.sources.rows, both.samples.rows
    (2, 8)
    """
    if not sources:
        raise ValueError("merge() needs at least one profile")
    flags, target = _write_flags(plain, archive), _pcol_path(path)
    if sums is False:
        inputs = [_input(source, None) for source in sources]
        return _build(inputs, None, lenient, trusted, rebase, flags, target, overwrite, "merged")
    keys = () if sums is True else (sums,) if isinstance(sums, str) else tuple(sums)
    notices: list = []
    files = (source._file if isinstance(source, Profile) else
             open(source, lenient=lenient, trusted=trusted)._file for source in sources)
    file = _native.sums(files, keys, trusted, rebase, tempfile.gettempdir(), flags, target,
                        overwrite, notices)
    _warn(notices, 3)
    return None if file is None else Profile(file, "merged")


class Profile(Mapping[str, Table]):
    """An open profile: a mapping of table names to tables, and queries.

    Queries take a selection: ``sample_type`` ("TYPE" or "TYPE/UNIT"), the patterns ``focus``,
    ``ignore``, ``hide``, ``show`` (frames) and ``thread``, ``source`` (id or pattern), ``labels``
    (a dict of values, compiled patterns or closed ranges of numbers (low, high), None for an open
    end, or a list of "KEY=VALUE", "KEY~PATTERN", "KEY!=VALUE", "KEY!~PATTERN" and
    "KEY=1kb:64kb"), ``source_metas`` (metadata of sources: a dict of values or patterns, or a list
    of "KEY=VALUE" and "KEY~PATTERN"), ``time`` ((from, to) in ms, None for open ends),
    ``time_share``, ``keep_dropped``.

    Any number of threads may use a profile. close() raises BufferError while arrays over the
    mapped file live.

    >>> sorted(p)[:4]
    ['functions', 'locations', 'meta', 'sample_locations']
    >>> p.functions["name"].tolist()
    ['main.main', 'main.work', 'libc.read', 'main.load']
    """

    def __init__(self, file: Any, path: str | None):
        self._file, self.path = file, path
        self._tables: dict[tuple[int, str], Table] = {}
        names = dict.fromkeys(file.tables(0))
        names.update(dict.fromkeys(file.tables(3)))
        self._names = list(names)
        self._v2 = set(file.tables(0))

    # ---- tables

    def table(self, name: str, model: str = "v2") -> Table:
        """A table of a model: "v2" (default), "v1", "physical", "further".

        >>> int(p.table("samples", "physical")["stack"][0])
        3
        """
        key = _choice(_MODELS, model, "model"), name
        if key not in self._tables:
            if name not in self._file.tables(key[0]):
                raise KeyError(f"the profile has no table {name}; it has "
                               f"{', '.join(self._file.tables(key[0]))}")
            self._tables[key] = Table(self._file, *key)
        return self._tables[key]

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(f"the profile has no table {name}; it has {', '.join(self._names)}")
        return self.table(name, "v2" if name in self._v2 else "further")

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"the profile has no table or method {name}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def frames(self) -> Columns:
        """One row per frame of each sample, innermost first; columns are computed when used.

        Columns: sample_id, depth (1: innermost), location_id, function, file, line.

        >>> p.frames().to_pandas(["sample_id", "function"]).head(3).values.tolist()
        [[1, 'libc.read'], [1, 'main.work'], [1, 'main.main']]
        """
        def of_functions(column: str) -> tuple[np.ndarray, list[str]]:
            """Codes by location, -1 where it has no function or no string; and the strings."""
            of_function, names = self.functions.categorical(column)
            function = np.ma.filled(self.locations["function_id"], 0)
            return np.append(of_function, np.int32(-1))[function - 1], names

        def files() -> tuple[np.ndarray, list[str]]:
            """The same of files. Locations outside any function have a file of their own."""
            codes, names = of_functions("filename")
            if "filename" not in self.locations:
                return codes, names
            own, own_names = self.locations.categorical("filename")
            index = {name: i for i, name in enumerate(names)}
            code_of_own = [index.setdefault(name, len(index)) for name in own_names] + [-1]
            outside = np.ma.getmaskarray(self.locations["function_id"])
            return np.where(outside, np.array(code_of_own)[own], codes), list(index)

        handle, starts = self._file.frames()
        self._file.intact()
        rows = int(_array(starts, "int64")[-1])

        def gather(lookup: np.ndarray | None, dtype: Any) -> np.ndarray:
            """The value of the lookup table for the location of each frame; None: its row."""
            values = np.empty(rows, dtype)
            self._file.gather(handle, starts, lookup, values)
            self._file.intact()
            return values

        def strings(codes: np.ndarray, names: list[str]) -> _Cells:
            small = "int8" if len(names) < 128 else "int16" if len(names) < 32768 else "int32"
            values = gather(codes.astype(small), small)
            return _Cells("string", values, None, names, None, False)

        def number(by_sample: bool) -> _Cells:
            values = np.empty(rows, "int64")
            _native.number(starts, values, by_sample)
            return _Cells("i64", values, None, None, None, False)

        def location() -> _Cells:
            values = gather(None, "uint32").astype("int64") + 1
            return _Cells("i64", values, None, None, None, False)

        def line() -> _Cells:
            lines = self.locations["line"]
            values = gather(np.ma.getdata(lines), "int64")
            mask = gather(np.ma.getmaskarray(lines), "bool")
            return _Cells("i64", values, mask if mask.any() else None, None, None, False)

        return Lazy("frames", rows, {
            "sample_id": lambda: number(True), "depth": lambda: number(False),
            "location_id": location, "function": lambda: strings(*of_functions("name")),
            "file": lambda: strings(*files()), "line": line})

    # ---- queries

    def _ask(self, kind, bases, name, by, order, option, depth, limit, selection) -> Result:
        if kind != "peek" and (name is not None) != (by in ("label", "meta")):
            raise ValueError("label is the key of by='label' and by='meta', which require it")
        limit = None if limit is None else operator.index(limit)
        if limit is not None and limit < 0:
            raise ValueError("n must not be negative")
        notices: list = []
        answer = self._file.answer(
            kind, _selected(selection), tuple(_file_of(base) for base in bases), name,
            _choice(_BY, by, "by"), _choice(_ORDER, order, "order"), option, depth, notices)
        self._file.intact()
        _warn(notices)
        return Result(kind, answer, limit)

    def top(self, n: int | None = None, *, by: str = "function", order: str = "self",
            label: str | None = None, **selection: Any) -> Result:
        """Self and total of each function, or by file, line, srcline, location, mapping, thread,
        process, source, label or meta (of sources), whose key is ``label``.

        >>> p.top(2).to_pandas()[["name", "self", "total"]].values.tolist()
        [['main.work', 5, 8], ['libc.read', 3, 3]]
        >>> p.top(focus="load").records()[0].name
        'main.load'
        """
        return self._ask("top", (), label, by, order, False, 0, n, selection)

    def tree(self, *, by: str = "function", order: str = "total", bottom_up: bool = False,
             max_depth: int = 0, **selection: Any) -> Result:
        """The call tree in depth-first order; row 0 is the root, ``parent`` is a row.

        >>> p.tree().to_pandas()[["depth", "name", "total"]].values.tolist()[1:3]
        [[1, 'main.main', 10], [2, 'main.work', 8]]
        """
        return self._ask("tree", (), None, by, order, bottom_up, max_depth, None, selection)

    def peek(self, name: str, **selection: Any) -> Result:
        """Callers and callees of a function: its whole name, or a pattern.

        >>> p.peek("main.work")["relation"].tolist()
        ['caller', 'function', 'callee']
        """
        return self._ask("peek", (), name, "function", "self", False, 0, None, selection)

    def diff(self, base: "Source | Sequence[Source]", *, by: str = "function", order: str = "self",
             normalize: bool = False, label: str | None = None, n: int | None = None,
             **selection: Any) -> Result:
        """The changes from ``base`` to this profile, by name; also by call stack: ``by="stack"``.

        A base is a profile, or whatever open() takes. With several their median is the base, and ``self_min``, ``self_max``, ``total_min``,
        ``total_max`` and ``total_mad`` tell how they differ.

        >>> p.diff(p)["self_delta"].tolist()
        [0, 0, 0, 0]
        >>> p.diff([p, p, p], n=1)["self_max"].tolist()
        [3.0]
        """
        bases = tuple(base) if isinstance(base, (list, tuple)) else (base,)
        if not bases:
            raise ValueError("diff() needs a base")
        return self._ask("diff", bases, label, by, order, normalize, 0, n, selection)

    def flame(self, *, base: "Source | None" = None, title: str | None = None,
              inverted: bool = False, reverse: bool = False, width: int = 0,
              min_width: float = 0.0, **selection: Any) -> Flame:
        """A flame graph as SVG, shown in notebooks; against ``base`` coloured by change.

        >>> p.flame(title="demo").svg.startswith("<svg")
        True
        """
        notices: list = []
        svg = self._file.flame(_selected(selection), () if base is None else (_file_of(base),), title,
                               inverted, reverse, width, min_width, notices)
        self._file.intact()
        _warn(notices, 3)
        return Flame(svg.decode())

    # ---- output

    def label_keys(self) -> list[str]:
        """Keys of labels, for ``by="label"`` and ``labels``, sorted by their bytes.

        >>> p.label_keys()
        []
        """
        return self._file.label_keys()

    def _copy(self, make, arguments, label, path, plain, archive, overwrite) -> "Profile | None":
        notices: list = []
        file = make(*arguments, (_write_flags(plain, archive), _pcol_path(path), overwrite,
                                 tempfile.gettempdir(), notices))
        _warn(notices)
        return None if file is None else Profile(file, label)

    def filter(self, *, path: Any = None, drop_labels: bool | Iterable[str] = False,
               anonymize: bool = False, plain: bool = False, archive: bool = False,
               overwrite: bool = False, **selection: Any) -> "Profile | None":
        """The selected part as a profile; written to ``path`` if given.

        drop_labels: True, or keys of the labels that samples lose. anonymize: names become
        pseudonyms.

        >>> p.filter(focus="load").samples.rows
        1
        """
        keys = () if isinstance(drop_labels, bool) else (drop_labels,) if isinstance(
            drop_labels, str) else tuple(drop_labels)
        return self._copy(self._file.filter, (_selected(selection), drop_labels is True, keys,
                                              anonymize),
                          "filtered", path, plain, archive, overwrite)

    def add_frames(self, *, root: str | Iterable[str] = (), leaf: str | Iterable[str] = (),
                   keep_dropped: bool = False, path: Any = None, plain: bool = False,
                   archive: bool = False, overwrite: bool = False) -> "Profile | None":
        """A copy with frames made of other data, above the outermost frame or below the innermost.

        root, leaf: "label:KEY", "thread", "process", "source" or "mapping"; several are outermost
        first.

        >>> p.add_frames(root="source").tree(max_depth=1)["name"].tolist()[1:]
        ['input']
        """
        roots, leaves = ((names,) if isinstance(names, str) else tuple(names)
                         for names in (root, leaf))
        if not roots and not leaves:
            raise ValueError("add_frames() needs a root or a leaf")
        return self._copy(self._file.add_frames, (roots, leaves, keep_dropped), "with frames", path,
                          plain, archive, overwrite)

    def addresses(self) -> list[Address]:
        """The addresses without function and line, for symbolize().

        >>> p.addresses()
        []
        """
        return addresses(self)

    def symbolize(self, symbols: Iterable[Symbols], *, meta: Mapping[str, str] | None = None,
                  path: Any = None, plain: bool = False, archive: bool = False,
                  overwrite: bool = False) -> "Profile | None":
        """A copy with functions and lines for addresses that have none.

        symbols: for each of addresses() a name, a tuple (function, filename, line), a list of them
        (calls inlined there, innermost first), or None. meta: metadata for the sources. The command
        ``pcol symbolize`` finds symbols with addr2line.

        >>> p.symbolize([]).functions["name"].tolist()[0]
        'main.main'
        """
        groups, flags = arrange(self, symbols)
        pairs = tuple(text for pair in metadata(meta) for text in pair)
        return self._copy(self._file.symbolize, (groups, flags, pairs), "symbolized", path, plain,
                          archive, overwrite)

    def merge(self, *others: Source, **options: Any) -> "Profile | None":
        """This profile and others as one; options as of pcol.merge()."""
        return merge(self, *others, **options)

    def save(self, path: Any, *, plain: bool = False, archive: bool = False,
             overwrite: bool = False) -> None:
        """Write the profile as a .pcol file."""
        merge(self, path=path, plain=plain, archive=archive, overwrite=overwrite)

    def unpack(self, path: Any = None, *, format: str | None = None,
               sample_type: str | None = None, source_id: int = 0, compress: str = "auto",
               overwrite: bool = False, fail_on_loss: bool = False) -> bytes | None:
        """The profile in another format: bytes, or written to ``path``, whose suffix may name it.

        Content that the format cannot represent is a LossWarning; with ``fail_on_loss`` it is a
        LossError and nothing is written.

        >>> p.unpack(format="folded").decode().splitlines()[0]
        'main.main;main.work;libc.read 3'
        """
        target = _path(path)
        if format is None:
            format = _format_of(target)
        if compress == "auto" and target is not None and target.lower().endswith(".gz"):
            compress = "gzip"
        notices: list = []
        data = self._file.export(format, target, sample_type, source_id,
                                 _choice(_COMPRESS, compress, "compress"), overwrite, fail_on_loss,
                                 notices)
        _warn(notices, 3)
        return data

    def check(self, depth: str = "default") -> list[Fault]:
        """Faults of the file: "quick", "default" (checksums, order) or "strict" (every rule).

        >>> p.check("strict")
        []
        """
        return [Fault(*entry) for entry in self._file.check(_choice(_DEPTH, depth, "depth"))]

    # ---- life

    def intact(self) -> None:
        """Raise InputOutputError if the mapped file changed since it was opened.

        Every method asks this itself. It is needed after work on arrays over the mapped file:
        once the file is truncated they read as zeros. ``with`` asks it at the end.
        """
        self._file.intact()

    def close(self) -> None:
        """Close the profile; BufferError while arrays over the file or calls are in use."""
        self._file.close()
        self._tables.clear()

    @property
    def closed(self) -> bool:
        """True after close()."""
        return self._file.closed()

    def __enter__(self) -> "Profile":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None and not self.closed:
            self.intact()
            self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<pcol.Profile, closed>"
        tables = ", ".join(f"{name} {self[name].rows}" for name in self)
        return f"<pcol.Profile {self.path or 'in memory'}: {tables}>"

    def _repr_html_(self) -> str:
        return self.flame(title=os.path.basename(self.path or "profile"))._repr_html_()


def _format_named(path: str) -> Format | None:
    """The format with the longest suffix that the path has before .gz."""
    name = path.lower().removesuffix(".gz")
    named = [(len(suffix), f) for f in formats() for suffix in f.suffixes.split()
             if name.endswith(suffix.lower())]
    return max(named, key=lambda found: found[0])[1] if named else None


def _format_of(path: str | None) -> str:
    named = None if path is None else _format_named(path)
    if named is not None and named.name == "pcol":
        raise ValueError("save() writes pcol files")
    if named is not None and named.writes:
        return named.name
    raise ValueError("give a format: " + ", ".join(f.name for f in formats() if f.writes))


def _pcol_path(path: Any) -> str | None:
    """The path of a pcol file, which must not have the name of another format."""
    target = _path(path)
    named = None if target is None else _format_named(target)
    if named is not None and named.name != "pcol":
        raise ValueError(f"{target} is the name of a {named.name} profile, not of a pcol file"
                         + ("; unpack() writes one" if named.writes else ""))
    if target is not None and target.lower().endswith(".gz"):
        raise ValueError("pcol files are not compressed with gzip; archive=True makes a small file")
    return target
