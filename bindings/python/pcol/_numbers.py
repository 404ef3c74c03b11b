"""Arrays of numbers as the extension module takes them; a number out of range is an ArgumentError.

Single numbers are checked by src/numbers.c.
"""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ._errors import invalid

_ROW_HIGH = 2**32 - 2  # 2^32 - 1 is PCOL_NONE
_I64_LOW, _I64_HIGH = -(2**63), 2**63 - 1
_MS_HIGH = _I64_HIGH // 10**6


def _reject(argument: str, wrong: Any, fault: str, within: str = "", array: Any = None) -> None:
    """An ArgumentError if an element is wrong, with its row unless it is a single number."""
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        if array is not None:
            value = np.ravel(array)[at]
            is_long = isinstance(value, int) and value.bit_length() > 128
            fault += f", not {'a longer number' if is_long else value}"
        raise invalid(argument, None if np.ndim(wrong) == 0 else at, fault, within)


def _plain(argument: str, column: Any, within: str) -> np.ndarray:
    """The column as an array without masked elements. Integers that numpy would convert to floating
    point numbers, such as a negative one and one beyond 63 bits, are objects."""
    array = np.asarray(column)
    if array.size == 0:
        return np.zeros(array.shape, "int64")
    if isinstance(column, np.ma.MaskedArray):
        _reject(argument, np.ma.getmaskarray(column), "must not be masked", within)
    if array.dtype.kind == "O" or (array.dtype.kind == "f" and not hasattr(column, "dtype")):
        try:
            exact = [operator.index(value) for value in np.asarray(column, object).flat]
        except TypeError:
            return array
        array = np.array(exact, object).reshape(array.shape)
    return array


def _is_integral(array: np.ndarray) -> bool:
    return array.dtype.kind in "iu" or all(isinstance(value, int) for value in array.flat)


def _wrong_type(argument: str, array: np.ndarray, what: str, within: str) -> TypeError:
    place = f"{argument}: {within}" if within else argument
    return TypeError(f"{place}: must be {what}, not {array.dtype}")


def _integers(argument: str, column: Any, low: int, high: int, within: str = "") -> np.ndarray:
    """The column as an array of integers from low, which is not above 0, to high."""
    array = _plain(argument, column, within)
    if not _is_integral(array):
        raise _wrong_type(argument, array, "integers", within)
    if array.dtype.kind == "u":
        wrong = array > np.uint64(high)
    elif array.dtype.kind == "i":
        wrong = (array < np.int64(low)) | (array > np.int64(high))
    else:
        wrong = (array < low) | (array > high)
    _reject(argument, wrong, f"must be {low} to {high}", within, array)
    return array.astype("int64") if array.dtype.kind == "O" else array


def rows(argument: str, column: Any) -> np.ndarray:
    """Row numbers, -1 for none, as a new array of uint32 with PCOL_NONE for none."""
    return _integers(argument, column, -1, _ROW_HIGH).astype("uint32")


def int64s(argument: str, column: Any, within: str = "") -> np.ndarray:
    """Signed integers."""
    return np.require(_integers(argument, column, _I64_LOW, _I64_HIGH, within), "int64", "CA")


def _floats(argument: str, column: Any, kinds: str, within: str = "") -> np.ndarray:
    array = _plain(argument, column, within)
    others = (str, bytes, np.datetime64, np.timedelta64)  # float() converts objects of these types
    if array.dtype.kind not in kinds or (
            array.dtype.kind == "O" and any(isinstance(value, others) for value in array.flat)):
        raise _wrong_type(argument, array, "numbers", within)
    return np.require(array, "float64", "CA")


def doubles(argument: str, column: Any, within: str = "") -> np.ndarray:
    """Floating point numbers, which may be infinite or NaN."""
    return _floats(argument, column, "biufO", within)


def nanoseconds(argument: str, column: Any) -> np.ndarray:
    """Milliseconds as int64 nanoseconds: exact for integers, rounded for floating point numbers."""
    array = _plain(argument, column, "")
    if _is_integral(array):
        return _integers(argument, array, -_MS_HIGH, _MS_HIGH).astype("int64") * 10**6
    array = _floats(argument, array, "fO")
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.rint(array * 1e6)
        fits = (result >= -(2.0**63)) & (result < 2.0**63)
    _reject(argument, ~fits, f"must be {-_MS_HIGH} to {_MS_HIGH}", array=array)
    return result.astype("int64")
