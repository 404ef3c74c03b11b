"""Random pprofs: content without ids, written with any ids, orders and addresses; for suites hashes, sums and rebase"""
import collections

Line = collections.namedtuple("Line", "name system file start line column")
Frame = collections.namedtuple("Frame", "lines binary offset")  # offset: in the file of the binary, or None
Binary = collections.namedtuple("Binary", "path build")


def random_profile(dice):
    texts = [b"", b"main", b"run", b"f", b"g", b"0x1f40", b"0x12345678901234567", b"_ZN1fEv", b"a\\b", "é".encode(), b"x" * 300]
    files = [b"", b"a.c", b"dir/b.c", b"/long/" + b"y" * 250 + b".c"]
    binaries = [Binary(b"/bin/tool", b"b1"), Binary(b"/bin/tool", b"b2"), Binary(b"/lib/libc.so.6", b""), Binary(b"", b""), Binary(b"[vdso]", b"v"), None]

    def line():
        name = dice.choice(texts)
        return Line(name, dice.choice([b"", name, b"_Z" + name]), dice.choice(files), dice.choice([0, 7]), dice.randrange(3), dice.randrange(2))
    frames = [Frame(tuple(line() for _ in range(dice.choice([0, 1, 1, 1, 2, 3]))), dice.choice(binaries), dice.choice([16, 4096, 70000]))
              for _ in range(dice.randrange(1, 25))]
    samples = [(tuple(dice.choice(frames) for _ in range(dice.randrange(6))), dice.randrange(1, 100)) for _ in range(40)]
    return samples


def message(*fields):
    """Protobuf: (number, integer or bytes)."""
    def varint(n):
        n &= (1 << 64) - 1
        return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
    return b"".join(varint(number << 3 | 2) + varint(len(v)) + v if isinstance(v, bytes) else varint(number << 3) + varint(v) for number, v in fields)


def pprof(samples, dice, labels=None, segments=(0, 4096)):
    """The profile with random ids, orders of its tables, and starts of its binaries. labels: (key, text or number) of each sample.
    segments: offsets in the file at which mappings start."""
    frames = sorted({frame for stack, _ in samples for frame in stack}, key=repr)
    functions = sorted({line[:4] for frame in frames for line in frame.lines})
    binaries = sorted({frame.binary for frame in frames if frame.binary})
    for items in (frames, functions, binaries):
        dice.shuffle(items)
    strings = [b""]

    def text(value):
        if value not in strings:
            strings.append(value)
        return strings.index(value)
    ids = {item: dice.randrange(1 << 40) * 512 + n + 1 for items in (frames, functions, binaries) for n, item in enumerate(items)}
    start = {binary: dice.randrange(1, 1 << 34) << 12 for binary in binaries}
    first = {binary: dice.choice(segments) for binary in binaries}
    start.update({None: 0})
    first.update({None: 0})
    fields = [(1, message((1, text(b"samples")), (2, text(b"count"))))]
    fields += [(3, message((1, ids[b]), (2, start[b]), (3, start[b] + (1 << 20)), (4, first[b]), (5, text(b.path)), (6, text(b.build)))) for b in binaries]
    fields += [(5, message((1, ids[f]), (2, text(f[0])), (3, text(f[1])), (4, text(f[2])), (5, f[3]))) for f in functions]
    for frame in frames:
        lines = [(4, message((1, ids[line[:4]]), (2, line.line), (3, line.column))) for line in frame.lines]
        mapping = [(2, ids[frame.binary])] if frame.binary else []
        fields.append((4, message((1, ids[frame]), *mapping, (3, start[frame.binary] + frame.offset - first[frame.binary] + (1 << 13)), *lines)))
    order = list(zip(samples, labels or [()] * len(samples)))
    dice.shuffle(order)
    for (stack, value), own in order:
        pairs = [(3, message((1, text(key)), (2, text(label)) if isinstance(label, bytes) else (3, label))) for key, label in own]
        fields.append((2, message(*((1, ids[frame]) for frame in stack), (2, value), *pairs)))
    return message(*fields, *((6, value) for value in strings))
