"""Larger profiles for tests/formats.py."""
from formats import converted


def grow(data, n, distinct):
    """Its arrays refer to each other by index, so that elements cannot be repeated alone."""
    return converted("firefox", n, distinct)
