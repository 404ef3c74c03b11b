"""Read, query, write and record performance profiles.

>>> top = p.top(2)               # p = pcol.open("run.pb.gz"), of any format
>>> top.to_pandas()[["name", "self", "total"]].values.tolist()
[['main.work', 5, 8], ['libc.read', 3, 3]]

``pcol.open()`` opens a profile, ``pcol.profile()`` records one of Python code, ``pcol.Builder``
makes one from arrays, ``pcol.merge()`` joins several.
"""
from ._builder import Builder
from ._errors import (
    ArgumentError, CancelledError, ChecksumError, CorruptError, DataError, Error, ExistsError,
    FormatError, InputError, InputOutputError, LimitError, LossError, LossWarning, MagicError,
    MalformedError, MissingFileError, NotFoundError, OutOfMemoryError, PcolWarning, StateError,
    TruncatedError, UnsupportedError, VersionError,
)
from ._jupyter import Flame, load_ipython_extension
from ._native import version as __version__
from ._profile import Fault, Format, Profile, formats, merge, open
from ._sampler import profile
from ._symbols import Address, Symbol
from ._table import Columns, Result, Table

__all__ = [
    "Address", "ArgumentError", "Builder", "CancelledError", "ChecksumError", "Columns", "CorruptError",
    "DataError", "Error", "ExistsError", "Fault", "Flame", "Format", "FormatError", "InputError",
    "InputOutputError", "LimitError", "LossError", "LossWarning", "MagicError", "MalformedError",
    "MissingFileError",
    "NotFoundError", "OutOfMemoryError", "PcolWarning", "Profile", "Result", "StateError", "Symbol", "Table",
    "TruncatedError", "UnsupportedError", "VersionError", "__version__", "formats",
    "load_ipython_extension", "merge", "open", "profile",
]
