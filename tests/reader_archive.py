"""reader_archive.py - sections of archives (spec.md 9.2), for reader.py (Python 3, standard library)

A Section behaves like its decompressed bytes; each block is decompressed on first access.
"""
import struct
import zlib

RANK_BLOCK, BLOCK, MOST = 524288, 131072, 655360
ZLIB, LZ4 = 1, 2
NONE, BYTES, VARINT, DELTA, DELTA_BYTES, PARENT, RANK = range(7)


class Bad(Exception):
    pass


def need(truth, text):
    if not truth:
        raise Bad(text)


def inflate(data, most=1 << 31):
    stream = zlib.decompressobj(-15)
    try:
        out = stream.decompress(data, most)
    except zlib.error:
        raise Bad("deflate") from None
    need(stream.eof and not stream.unused_data, "deflate stream does not end where it should")
    return out


def unlz4(data, most=MOST):
    out, at = bytearray(), 0

    def length(start):
        nonlocal at
        while start >= 15:
            need(at < len(data), "LZ4 block is cut")
            start, at = start + data[at], at + 1
            if data[at - 1] < 255:
                break
        return start

    while at < len(data):
        token, at = data[at], at + 1
        literals = length(token >> 4)
        need(literals <= len(data) - at and len(out) + literals <= most, "LZ4 block is cut")
        out += data[at:at + literals]
        at += literals
        if at == len(data):
            return bytes(out)
        need(at + 2 <= len(data), "LZ4 block is cut")
        offset, at = data[at] | data[at + 1] << 8, at + 2
        copy = length(token & 15) + 4
        need(0 < offset <= len(out) and len(out) + copy <= most, "LZ4 match outside of the output")
        start = len(out) - offset
        for i in range(copy):
            out.append(out[start + i])
    raise Bad("LZ4 block does not end with literals")


def varints(stream):
    """Yields the numbers of a stream."""
    value = shift = 0
    for byte in stream:
        need(shift < 70, "varint of more than 10 bytes")
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            need(value < 1 << 64, "varint beyond 64 bits")
            yield value
            value = shift = 0
    need(shift == 0, "stream is cut")


def unfold(number):
    return number >> 1 ^ -(number & 1)


def gather(stream, width):
    count = len(stream) // width
    return [int.from_bytes(stream[i::count], "little") for i in range(count)] if count else []


def can_read(column, table, role, codec):
    """Whether codec and transform are known and valid for the section; transforms are only for VALUES of PLAIN columns."""
    t = codec >> 4
    plain = role == 1 and column.encoding == 0 and column.type in (1, 2, 3, 4, 5)
    return codec & 15 in (ZLIB, LZ4) and t <= RANK and (t == NONE or plain and (t < PARENT or column.type == 4))


class Section:
    def __init__(self, data, codec, raw_size, width, table):
        self.data, self.codec, self.transform, self.raw_size, self.width, self.table = data, codec & 15, codec >> 4, raw_size, width, table
        self.block = RANK_BLOCK if self.transform == RANK else BLOCK
        self.count, self.blocks = -(-raw_size // self.block), {}

    def __len__(self):
        return self.raw_size

    def __getitem__(self, place):
        at, end, _ = place.indices(self.raw_size)
        out = b""
        while at < end:
            number, within = divmod(at, self.block)
            piece = self.decompress(number)[within:within + end - at]
            out, at = out + piece, at + len(piece)
        return out

    def decompress(self, number):
        if number not in self.blocks:
            begin, end = 0, len(self.data)
            if self.count > 1:
                entries = end - 16 * self.count
                need(entries >= 0, "section too small for its entries")
                ends = [0] + [struct.unpack_from("<Q", self.data, entries + 16 * i)[0] for i in range(self.count)]
                begin, end = ends[number:number + 2]
                need(begin < end <= entries and ends[-1] == entries, "block out of place")
            first = number * self.block // self.width
            size = min(self.block, self.raw_size - number * self.block)
            flags, stream = self.data[begin], bytes(self.data[begin + 1:end])
            need(flags < 4 and len(stream) <= MOST and not (flags & 2 and self.transform >= PARENT), "flags of a block")
            if not flags & 1:
                stream = inflate(stream, MOST) if self.codec == ZLIB else unlz4(stream)
            self.blocks[number] = self.undo(NONE if flags & 2 else self.transform, stream, size, first)
            need(len(self.blocks[number]) == size, "size of a block")
        return self.blocks[number]

    def undo(self, transform, stream, size, first):
        count, width, mask = size // self.width, self.width, (1 << 8 * self.width) - 1
        if transform == NONE:
            return stream
        if transform in (BYTES, DELTA_BYTES):
            need(len(stream) == size, "size of a stream")
            numbers = gather(stream, width)
        else:
            numbers = list(varints(stream))
        if transform in (VARINT, DELTA):
            need(all(n <= mask for n in numbers), "number beyond its type")
        if transform in (PARENT, RANK):
            numbers = self.parents(iter(numbers), first, count) if transform == PARENT else self.ranks(iter(numbers), first, count)
        elif transform in (DELTA, DELTA_BYTES):
            value = 0
            for i, number in enumerate(numbers):
                value = numbers[i] = value + unfold(number) & mask
        elif transform == VARINT and width == 8:
            numbers = [unfold(n) & mask for n in numbers]
        return b"".join(n.to_bytes(width, "little") for n in numbers)

    def parents(self, numbers, first, count):
        found, outer = [0] if first == 0 and count else [], first - 1
        for row in range(first + len(found), first + count):
            steps, at = take(numbers), row - 1
            while steps and at >= first:
                need(at > 0, "step from row 0")
                steps, at = steps - 1, found[at - first]
            if steps:
                further = take(numbers)
                need(steps == 1 and 0 < further <= outer, "parent before the first row")
                at = outer = outer - further
            found.append(at)
        need(next(numbers, None) is None, "stream is longer than its block")
        return found

    def ranks(self, numbers, first, count):
        parent = next((c for c in self.table.columns if c.name == "parent"), None) if self.table else None
        need(parent and parent.type == 4 and getattr(parent.sections.get(1), "transform", 0) != RANK, "no column of parents")
        found, known = [0] if first == 0 and count else [], {}
        for row in range(first + len(found), first + count):
            up, k = parent.cell(row), take(numbers)
            need(up < row, "parent is not before its row")
            followers = known.setdefault(found[up - first] if up >= first else None, [])
            if k >= len(followers):
                need(k - len(followers) < 1 << 32, "number beyond its type")
                followers.append(k - len(followers))
                k = -1
            found.append(followers[k])
        need(next(numbers, None) is None, "stream is longer than its block")
        return found


def take(numbers):
    number = next(numbers, None)
    need(number is not None, "stream is cut")
    return number
