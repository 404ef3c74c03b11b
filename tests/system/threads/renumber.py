#!/usr/bin/env python3
"""renumber.py IN OUT.gz HOW - change the location ids of an uncompressed pprof profile

HOW: reverse (n to 1), gap (1 higher from the middle on), shift (all 7 higher), last (the last sample refers to a missing
location), zero (the middle sample refers to location 0), cut (a truncated varint in the locations of the middle sample).
"""
import gzip
import pathlib
import sys


def varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def encode(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            yield key, data[at:at + size]
            at += size
        else:
            value, at = varint(data, at)
            yield key, value


def put(key, value):
    return encode(key) + (encode(value) if key & 7 == 0 else encode(len(value)) + bytes(value))


def numbers(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def main():
    source, target, how = sys.argv[1:]
    top = list(fields(pathlib.Path(source).read_bytes()))
    count = sum(key == 4 << 3 | 2 for key, _ in top)
    samples = [i for i, (key, _) in enumerate(top) if key == 2 << 3 | 2]
    new = {"reverse": lambda i: count + 1 - i, "gap": lambda i: i + (i > count // 2), "shift": lambda i: i + 7}.get(how, int)
    out = bytearray()
    for i, (key, value) in enumerate(top):
        if key == 2 << 3 | 2:
            sample = bytearray()
            for k, v in fields(value):
                if k == 1 << 3 | 2:
                    ids = [new(x) for x in numbers(v)]
                    if how == "last" and i == samples[-1]:
                        ids[0] = count + 1
                    if how == "zero" and i == samples[len(samples) // 2]:
                        ids[-1] = 0
                    v = b"".join(map(encode, ids))
                    if how == "cut" and i == samples[len(samples) // 2]:
                        v += b"\x80"
                sample += put(k, v)
            value = sample
        elif key == 4 << 3 | 2:
            value = b"".join(put(k, new(v) if k == 1 << 3 else v) for k, v in fields(value))
        out += put(key, value)
    pathlib.Path(target).write_bytes(gzip.compress(bytes(out), 6, mtime=0))


main()
