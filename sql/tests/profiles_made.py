"""Profiles made byte by byte, with hostile names."""


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def pprof(strings, labels, numbers=()):
    """A pprof message of one sample: sample type, unit and function; labels (key, value) as bytes, and with numbers."""
    table = [b"", *strings]
    for text in [text for pair in labels for text in pair] + [key for key, _ in numbers]:
        if text not in table:
            table.append(text)
    parts = [bytes([1 << 3]) + varint(table.index(key)) + bytes([2 << 3]) + varint(table.index(value)) for key, value in labels]
    parts += [bytes([1 << 3]) + varint(table.index(key)) + bytes([3 << 3]) + varint(number) for key, number in numbers]
    sample = field(1, varint(1)) + field(2, varint(1)) + b"".join(field(3, part) for part in parts)
    kind = bytes([1 << 3, 1, 2 << 3, 2])
    location = bytes([1 << 3, 1]) + field(4, bytes([1 << 3, 1]))
    function = bytes([1 << 3, 1, 2 << 3, 3])
    return field(1, kind) + field(2, sample) + field(4, location) + field(5, function) + b"".join(field(6, s) for s in table)


HOSTILE = [b"plain", b"quote'\"`]", b"semi;--", "näme ✓".encode(), b"a\0b", b"bad\xff\xfe", b"\xed\xa0\x80", b"", b"line\nfeed",
           b"x" * 5000, "\u202eright".encode(), b"\xf4\x90\x80\x80", b"\xc0\x80"]


# A pprof profile with a sample type (cpu/ns), but no samples: the physical table of its samples has no columns.
WITHOUT_SAMPLES = b"\x0a\x04\x08\x01\x10\x02" b"\x32\x00" b"\x32\x03cpu" b"\x32\x02ns"
