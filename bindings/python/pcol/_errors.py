"""Exceptions: one class for each status of the library that a program may want to tell apart."""
from __future__ import annotations

import errno

from . import _native


class Error(Exception):
    """Base of all errors of pcol.

    Attributes: ``status`` ("E_CORRUPT"), ``message``, ``place`` ("table samples, column stack,
    row 5", "1842:17", or ""), ``path``, ``table``, ``column``, ``row``, ``line``, ``offset``.
    Unknown attributes are None or "".

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
    """A deviation in the input that was accepted, or content that was left out."""


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


def _make(status, text, message, place, path, table, column, row, line, offset, os_error):
    parts = [str(path)] if path is not None else []
    if place and place not in message:
        parts.append(place)
    missing = status == "E_IO" and os_error == errno.ENOENT
    kind = MissingFileError if missing else _CLASSES.get(status, Error)
    error = kind(": ".join([*parts, message or text]))
    error.status, error.message, error.place = status, message or text, place
    error.path = None if path is None else str(path)
    error.table, error.column, error.row = table, column, row
    error.line, error.offset = line, offset
    if isinstance(error, OSError):
        error.errno = os_error or None
    return error


_native.set_error_factory(_make)
