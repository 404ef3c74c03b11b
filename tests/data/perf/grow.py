"""Larger profiles for tests/formats.py."""
import re


def grow(data, n, distinct):
    """Names of functions only: an event of its own for each sample is a column of its own."""
    name = re.compile(rb"(\w+\+0x)")
    return b"".join(name.sub(rb"f%d_\1" % i, data) if distinct else data for i in range(n))
