"""Exceptions: one class for each status of the library that a program may want to tell apart."""
from __future__ import annotations

import errno

from . import _native


class Error(Exception):
    """Base of all errors of pcol.

    Attributes: ``status`` ("E_CORRUPT"), ``message``, ``place`` ("table samples, column stack,
    row 5", "1842:17", or ""), ``path``, ``table``, ``column``, ``row``, ``line``, ``offset``.
    Unknown attributes are None or "". ``argument``: of an ArgumentError the argument at fault, of
    other errors one that permits the call ("lenient", "trusted").

    >>> try:
    ...     pcol.open(b"no profile at all", name="x.bin")
    ... except pcol.FormatError as error:
    ...     print(error.status)
    E_FORMAT
    """

    status = ""
    message = ""
    place = ""
    path: str | None = None
    table = ""
    column = ""
    row: int | None = None
    line: int | None = None
    offset: int | None = None
    argument: str | None = None


class ArgumentError(Error, ValueError):
    """An argument is invalid: a bad pattern, an unknown sample type."""


class StateError(Error, RuntimeError):
    """A call that is not allowed now, such as a second write of a builder."""


class NotFoundError(Error, LookupError):
    """No such table, column, format or source."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""


class InputOutputError(Error, OSError):
    """Reading or writing failed, or a mapped file changed after it was opened."""


class MissingFileError(InputOutputError, FileNotFoundError):
    """A file or directory does not exist."""


class ExistsError(Error, FileExistsError):
    """The output exists; pass overwrite=True."""


class LimitError(Error):
    """A limit was exceeded: import budget, sums beyond 64 bits, patterns that take too long."""


class CancelledError(Error):
    """The call was cancelled."""


class DataError(Error, ValueError):
    """A pcol file is not valid."""


class MagicError(DataError):
    """Not a pcol file."""


class VersionError(DataError):
    """The file needs a newer reader."""


class TruncatedError(DataError):
    """The file is truncated."""


class CorruptError(DataError):
    """The file is damaged."""


class ChecksumError(CorruptError):
    """A checksum does not match."""


class UnsupportedError(Error, NotImplementedError):
    """Not supported by this version."""


class InputError(Error, ValueError):
    """A profile in another format cannot be read."""


class FormatError(InputError):
    """The format of the input was not recognised."""


class MalformedError(InputError):
    """The input is malformed; ``line`` or ``offset`` have the place."""


class LossError(Error):
    """The target format cannot represent the profile."""


class PcolWarning(UserWarning):
    """A deviation in the input that was accepted, or content that was left out.

    Attribute ``argument``: one that the warning is about, or None.
    """

    argument: str | None = None


class LossWarning(PcolWarning):
    """Content that the target format cannot represent."""


_CLASSES = {
    "E_ARGUMENT": ArgumentError,
    "E_STATE": StateError,
    "E_NOT_FOUND": NotFoundError,
    "E_NO_MEMORY": OutOfMemoryError,
    "E_IO": InputOutputError,
    "E_EXISTS": ExistsError,
    "E_LIMIT": LimitError,
    "E_CANCELLED": CancelledError,
    "E_MAGIC": MagicError,
    "E_VERSION": VersionError,
    "E_TRUNCATED": TruncatedError,
    "E_CORRUPT": CorruptError,
    "E_CHECKSUM": ChecksumError,
    "E_UNSUPPORTED": UnsupportedError,
    "E_FORMAT": FormatError,
    "E_SYNTAX": MalformedError,
    "E_LOSS": LossError,
}


# The library names members of its structs and flags; arguments have these names but for the few here.
_ARGUMENTS = {name: name for name in (
    "sample_type", "focus", "ignore", "hide", "show", "thread", "source", "labels", "source_metas",
    "keep_dropped", "format", "lenient")}
_ARGUMENTS |= {"time_from_ns": "time", "PCOL_IMPORT_TRUSTED": "trusted"}
# Numbers that this package checks: src/numbers.c and _numbers.py.
_ARGUMENTS |= {name: name for name in (
    "address", "duration", "duration_ns", "function", "interval_ns", "line",
    "locations", "max_depth", "parent", "source_id", "stack", "start_line", "symbols", "time",
    "values", "width")}
_HINTS = {"lenient": "lenient=True permits it", "trusted": "trusted=True permits it",
          "keep_dropped": "keep_dropped=True keeps all frames"}


def argument_of(option: str) -> str | None:
    """The argument that sets a member of the library's structs; None if there is none."""
    return _ARGUMENTS.get(option)


def hint_of(argument: str | None) -> str:
    """Advice, appended to a message."""
    return "" if argument is None else f" ({_HINTS.get(argument, 'argument ' + argument)})"


def invalid(argument: str, row: int | None, fault: str, within: str = "") -> Error:
    """An ArgumentError for an element of an array; within: the part of the argument that has it."""
    places = ([within] if within else []) + ([] if row is None else [f"row {row}"])
    message = f"{', '.join(places)}: {fault}" if places else fault
    return _make("E_ARGUMENT", "", message, "", None, "", "", row, None, None, 0, argument)


def _make(status, text, message, place, path, table, column, row, line, offset, os_error, option):
    argument = argument_of(option)
    message = message or text
    if argument is not None:
        message = (f"{argument}: {message}" if status == "E_ARGUMENT"
                   else message + hint_of(argument))
    parts = [str(path)] if path is not None else []
    if place and place not in message:
        parts.append(place)
    missing = status == "E_IO" and os_error == errno.ENOENT
    kind = MissingFileError if missing else _CLASSES.get(status, Error)
    error = kind(": ".join([*parts, message]))
    error.status, error.message, error.place = status, message, place
    error.path = None if path is None else str(path)
    error.table, error.column, error.row = table, column, row
    error.line, error.offset, error.argument = line, offset, argument
    if isinstance(error, OSError):
        error.errno = os_error or None
    return error


_native.set_error_factory(_make)
