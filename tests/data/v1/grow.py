"""Larger profiles for tests/formats.py."""
from formats import converted


def grow(data, n, distinct):
    """Its arrays refer to each other by id, so that elements cannot be repeated alone."""
    return converted("v1", n, distinct)
