"""Larger profiles for tests/formats.py."""
import re


def grow(data, n, distinct):
    """The stacks n times, at addresses of their own if distinct."""
    head, rest = re.match(rb"([^\n]*\n)(.*)", data, re.S).groups()
    address = re.compile(rb"\b0x([0-9a-f]+)")
    moved = lambda i: address.sub(lambda m: b"0x%x" % (int(m[1], 16) + 64 * i), rest)
    return head + b"".join(moved(i) if distinct else rest for i in range(n))
