"""Larger profiles for tests/formats.py."""
import re


def grow(data, n, distinct):
    """Only the first name of a line: names may contain quotes and line ends."""
    head, rest = re.match(rb"([^\n]*\n)(.*)", data, re.S).groups()
    name = re.compile(rb'^"(\w+)" ', re.M)
    return head + b"".join(name.sub(rb'"\g<1>_%d" ' % i, rest) if distinct else rest for i in range(n))
