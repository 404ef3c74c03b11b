"""Addresses without names, and the symbols that a program found for them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

if TYPE_CHECKING:
    from ._profile import Profile

_FUNCTIONS, _FILENAMES, _LINES = 1, 2, 12  # what is known of a mapping; lines include inlined calls
_WHOLE = 2**64 - 1


class Address(NamedTuple):
    """An address without function and line.

    ``mapping``: path of its binary; ``address``: in the process; ``offset``: in the binary, None
    outside of its mapping; ``group``: row of the physical table location_groups.
    """

    mapping: str | None
    build_id: str | None
    address: int
    offset: int | None
    group: int


class Symbol(NamedTuple):
    """A function at an address, or one inlined there."""

    function: str
    filename: str | None = None
    line: int = 0


#: Symbols of an address, innermost call first: a name, a Symbol or tuple, a list of them, or None.
Symbols = Union[None, str, tuple, Sequence[Union[str, tuple]]]


def _column(profile: "Profile", table: str, name: str, rows: int) -> list:
    """Cells of a physical column; None where null, and everywhere if there is no such column."""
    cells = profile.table(table, "physical")
    if name not in cells:
        return [None] * rows
    values = cells[name]
    return np.ma.asarray(values).tolist() if values.dtype != object else values.tolist()


def _rows(profile: "Profile", table: str) -> int:
    tables = profile._file.tables(2)  # pylint: disable=protected-access
    return profile.table(table, "physical").rows if table in tables else 0


def _offset(address: int, start: int | None, limit: int | None, file_offset: int | None) -> int | None:
    start, limit, file_offset = start or 0, limit or 0, file_offset or 0
    if start == 0 and file_offset == 0 and limit in (0, _WHOLE):
        return address  # a mapping that tools invent for the whole address space
    return address - start + file_offset if start <= address < limit else None


def addresses(profile: "Profile") -> list[Address]:
    """The addresses of location groups that have neither functions nor lines."""
    count, lines = _rows(profile, "location_groups"), _rows(profile, "locations")
    if count == 0:
        return []
    first = _column(profile, "location_groups", "first_location", count)
    starts = [row if start is None else start for row, start in enumerate(first)] + [lines]
    named = [False] * lines
    for name in ("function", "line", "filename"):
        for row, value in enumerate(_column(profile, "locations", name, lines)):
            named[row] = named[row] or value is not None
    maps = _rows(profile, "mappings")
    columns = [_column(profile, "mappings", name, maps) if maps else []
               for name in ("filename", "build_id", "start", "limit", "file_offset")]
    found = []
    for group, (address, mapping) in enumerate(zip(
            _column(profile, "location_groups", "address", count),
            _column(profile, "location_groups", "mapping", count))):
        if address is None or any(named[starts[group] : starts[group + 1]]):
            continue
        path = build_id = offset = None
        if mapping is not None:
            path, build_id, *place = (column[mapping] for column in columns)
            offset = _offset(address, *place)
        found.append(Address(path, build_id, address, offset, group))
    return found


def _normal(symbols: Symbols) -> list[tuple[str, str | None, int]]:
    if symbols is None:
        return []
    if isinstance(symbols, str) or (isinstance(symbols, tuple) and symbols and
                                    isinstance(symbols[0], str)):
        symbols = [symbols]
    lines = [Symbol(s) if isinstance(s, str) else Symbol(*s) for s in symbols]
    return [(s.function, s.filename, s.line or 0) for s in lines]


def arrange(profile: "Profile", symbols: Iterable[Symbols]) -> tuple[list[list[Any]], bytes]:
    """Symbols by location group, and what is known of each mapping."""
    found, given = addresses(profile), list(symbols)
    if len(found) != len(given):
        raise ValueError(f"symbols must have one entry for each of the {len(found)} addresses, "
                         f"not {len(given)}")
    groups: list[list[Any]] = [[] for _ in range(_rows(profile, "location_groups"))]
    maps = _column(profile, "location_groups", "mapping", len(groups)) if groups else []
    flags = bytearray(_rows(profile, "mappings"))
    for address, entry in zip(found, given):
        groups[address.group] = lines = _normal(entry)
        if maps[address.group] is not None:
            for _, filename, line in lines:
                flags[maps[address.group]] |= (_FUNCTIONS | (_FILENAMES if filename else 0)
                                               | (_LINES if line else 0))
    return groups, bytes(flags)
