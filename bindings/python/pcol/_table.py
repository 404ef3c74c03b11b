"""Tables as mappings of column names to numpy arrays."""
from __future__ import annotations

import html
import tempfile
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _native

if TYPE_CHECKING:
    import pandas

_DTYPES = {"i64": "int64", "u64": "uint64", "f64": "float64", "u32": "uint32", "bool": "bool"}
_TEXTS = ("string", "bytes")


class _Cells(NamedTuple):
    """A column as the extension module returns it."""

    type: str
    values: Any
    mask: Any
    categories: list[str] | None
    offsets: Any
    mapped: bool


_WIDEST = 48


def _shorten(text: str) -> str:
    """A cell as shown: paths keep their end, which has the file and the line."""
    if len(text) <= _WIDEST:
        return text
    return "..." + text[3 - _WIDEST :] if "/" in text else text[: _WIDEST - 3] + "..."


def _array(buffer: Any, dtype: str) -> np.ndarray:
    if len(buffer) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype)


def _mask(cells: _Cells) -> np.ndarray | None:
    return None if cells.mask is None else _array(cells.mask, "bool")


def _lists(cells: _Cells) -> np.ndarray:
    values, offsets = _array(cells.values, "int64"), _array(cells.offsets, "int64").tolist()
    result = np.empty(len(offsets) - 1, object)
    for row in range(len(result)):
        result[row] = values[offsets[row] : offsets[row + 1]]
    mask = _mask(cells)
    if mask is not None:
        result[mask] = None
    return result


def _codes(cells: _Cells) -> np.ndarray:
    values = cells.values
    return values if isinstance(values, np.ndarray) else _array(values, "int32")


def _to_numpy(cells: _Cells) -> np.ndarray:
    if cells.type in _TEXTS:
        names = np.array([*(cells.categories or []), None], object)
        return names[_codes(cells)]
    if cells.type == "list":
        return _lists(cells)
    values = _array(cells.values, _DTYPES[cells.type])
    mask = _mask(cells)
    if mask is None:
        return values
    return np.ma.MaskedArray(values, mask)


def _to_pandas(cells: _Cells) -> Any:
    import pandas

    if cells.type in _TEXTS:
        return pandas.Categorical.from_codes(_codes(cells), categories=cells.categories)
    if cells.type == "list":
        return _lists(cells)
    values = _array(cells.values, _DTYPES[cells.type])
    mask = _mask(cells)
    if mask is None:
        return values
    kind = {"f64": "Floating", "bool": "Boolean"}.get(cells.type, "Integer")
    return getattr(pandas.arrays, kind + "Array")(values, mask)


def _owner(file: Any) -> Any:
    """A File that owns its bytes: arrays of a stream may outlive the memory of ``file``."""
    buffer = file.buffer()
    if buffer is None:
        return file
    with tempfile.NamedTemporaryFile(suffix=".pcol") as copy:
        copy.write(buffer)
        copy.flush()
        return _native.open(copy.name, 0)


class Columns(Mapping[str, np.ndarray]):
    """Base of tables: a mapping of column names to numpy arrays of equal length.

    Numbers are arrays of their type, masked arrays where there are nulls. Strings are object
    arrays of ``str`` and ``None``; bytes that are not UTF-8 are shown as ``\\xNN``. Columns are
    read on first use.
    """

    name: str
    rows: int

    def __init__(self, name: str, rows: int, names: Sequence[str]):
        self.name, self.rows, self._names = name, rows, list(names)

    def _cells(self, name: str) -> _Cells:
        raise NotImplementedError

    def __getitem__(self, name: str) -> np.ndarray:
        return _to_numpy(self._cells(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        """The number of columns; ``rows`` is the number of rows."""
        return len(self._names)

    def categorical(self, name: str) -> tuple[np.ndarray, list[str]]:
        """Codes of a column of strings, -1 for null, and the strings that they stand for.

        >>> codes, names = p.functions.categorical("name")
        >>> names[codes[0]] == p.functions["name"][0]
        True
        """
        cells = self._cells(name)
        if cells.type not in _TEXTS:
            raise TypeError(f"column {name} of {self.name} has no strings")
        return _codes(cells), list(cells.categories or [])

    def to_pandas(self, columns: Sequence[str] | None = None) -> "pandas.DataFrame":
        """The table as a DataFrame: strings as Categorical, numbers with nulls as Int64, ...

        >>> p.functions.to_pandas(["name", "start_line"]).dtypes.astype(str).tolist()
        ['category', 'Int64']
        """
        import pandas

        names = self._names if columns is None else list(columns)
        frame = {name: _to_pandas(self._cells(name)) for name in names}
        return pandas.DataFrame(frame, index=pandas.RangeIndex(self.rows), copy=False)

    def records(self, limit: int | None = None) -> list[Any]:
        """The rows as named tuples, at most ``limit``.

        >>> p.top(1).records()[0].name
        'main.work'
        """
        row = namedtuple("Row", self._names, rename=True)  # type: ignore[misc]
        return [row(*cells) for cells in zip(*(self[name][:limit].tolist() for name in self))]

    def __repr__(self) -> str:
        head = [list(map(str, self._names))]
        head += [["" if c is None else _shorten(str(c)) for c in row] for row in self.records(10)]
        widths = [max(map(len, column)) for column in zip(*head)] if self._names else []
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in head]
        if self.rows > 10:
            lines.append(f"... {self.rows - 10} more rows")
        return "\n".join([self._title(), *lines])

    def _title(self) -> str:
        return f"{self.name}: {self.rows} rows"

    def _repr_html_(self) -> str:
        table = self.to_pandas()._repr_html_()  # type: ignore[operator]
        return f"<p>{html.escape(self._title())}</p>{table}"


class Table(Columns):
    """A table of a profile.

    A column that is plain in the file is an array over the mapped file: nothing is copied, and the
    profile cannot be closed while the array lives. Other columns are decoded once.

    >>> p.samples.rows
    4
    >>> list(p.sample_values)
    ['sample_id', 'type', 'unit', 'value']
    >>> p["sample_values"]["value"].tolist()
    [3, 5, 1, 1]
    """

    def __init__(self, file: Any, model: int, name: str):
        rows, schema = file.schema(model, name)
        super().__init__(name, rows, [column[0].lstrip(".") for column in schema])
        self._file, self._model, self._columns = file, model, schema
        self._decoded: dict[int, _Cells] = {}

    def _cells(self, name: str) -> _Cells:
        if not isinstance(name, str):
            raise TypeError(f"names of columns are strings, not {type(name).__name__}")
        try:
            index = self._names.index(name.lstrip("."))
        except ValueError:
            raise KeyError(f"table {self.name} has no column {name}") from None
        cells = self._decoded.get(index)
        if cells is None:
            cells = _Cells(*self._file.column(self._model, self.name, index))
            self._file.intact()
            if not cells.mapped:  # an array in the map must not outlive its user
                self._decoded[index] = cells
        return cells

    def __getitem__(self, name: str) -> np.ndarray:
        result = super().__getitem__(name)
        if result.flags.writeable and result.dtype != object:
            result = result.view()  # the decoded column is shared
            result.flags.writeable = False
        return result

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as a stream of the Arrow C interface: pyarrow.table(p.samples), DuckDB, Polars.

        Times are nanoseconds there, and strings are dictionary-encoded. The stream keeps the file
        open, also after close(). The requested schema is not used, as the protocol permits.

        >>> "arrow_array_stream" in repr(p.samples.__arrow_c_stream__())
        True
        """
        return _owner(self._file).arrow(self._model, self.name)

    @property
    def schema(self) -> "pandas.DataFrame":
        """Columns with type, referenced table, key, unit, description and encoding.

        >>> p.samples.schema.loc["stack_id", "references"]
        'stacks'
        """
        import pandas

        names = ["column", "type", "references", "key", "nullable", "unit", "about", "encoding",
                 "bytes"]
        rows = [(name, *row[1:]) for name, row in zip(self._names, self._columns)]
        return pandas.DataFrame(rows, columns=names).set_index("column")


class Lazy(Columns):
    """A table whose columns are computed by functions, each once."""

    def __init__(self, name: str, rows: int, makers: Mapping[str, Callable[[], _Cells]]):
        super().__init__(name, rows, list(makers))
        self._makers, self._made = makers, {}  # type: ignore[var-annotated]

    def _cells(self, name: str) -> _Cells:
        if name not in self._made:
            if name not in self._makers:
                raise KeyError(f"{self.name} has no column {name}")
            self._made[name] = self._makers[name]()
        return self._made[name]


class Result(Columns):
    """The answer to a query: a table and what its numbers are.

    ``location``, ``function``, ``mapping``, ``thread`` and ``source`` are rows of the tables of
    that name, from 0, where a row of the result represents one of them.

    Attributes: ``type`` and ``unit`` of the values; ``total``: what percentages are of;
    ``selected``: sum of what passes the selection (of a diff ``total`` is that of the base,
    ``selected`` that of the other profile); ``scale``: seconds per value, 0 if unknown (diff: what
    new values were multiplied by). Columns without any value are not listed if there are rows.
    """

    def __init__(self, kind: str, answer: tuple, limit: int | None = None):
        self.type, self.unit, self.total, self.selected, self.scale, rows, columns = answer
        self._all = {name: _Cells(*column) for name, column in columns.items()}
        self._limit = limit
        shown = [name for name, column in self._all.items() if not rows or not self._is_empty(column)]
        super().__init__(kind, rows if limit is None else min(rows, limit), shown)

    def _title(self) -> str:
        change = f" to {self.selected}" if self.name == "diff" else ""
        return f"{super()._title()} of {self.type}/{self.unit}, total {self.total}{change}"

    @staticmethod
    def _is_empty(cells: _Cells) -> bool:
        if cells.type in _TEXTS:
            return not cells.categories
        return cells.mask is not None and bool(_mask(cells).all())

    def _cells(self, name: str) -> _Cells:
        if name not in self._all:
            raise KeyError(f"{self.name} has no column {name}")
        cells = self._all[name]
        if self._limit is None:
            return cells
        mask = None if cells.mask is None else memoryview(cells.mask)[: self.rows]
        return cells._replace(values=memoryview(cells.values)[: self.rows], mask=mask)
