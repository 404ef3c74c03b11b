"""Independent readers of the binary formats, for comparison: rows in the order of the file.

tachyon(data): [time in us, interpreter, thread, status, [[file, function, [line, end line, column, end column], opcode], ...]], as
CPython's own reader gives them, innermost frame first.
jfr(data): [type, unit, value, time in ns since the start, duration in ns, thread, tid, truncated, [[name, line, bytecode index, type], ...]].
Both are short rather than fast, and read correct files only. zstd: only stored blocks.
"""
import struct


class Bytes:
    def __init__(self, data, at=0, order="<"):
        self.data, self.at, self.order = data, at, order

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def fixed(self, form):
        return struct.unpack(self.order + form, self.take(struct.calcsize(self.order + form)))

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def unzstd(data):
    out, at, last = b"", 6, 0
    while not last:
        head = int.from_bytes(data[at:at + 3], "little")
        last, size = head & 1, head >> 3
        assert head >> 1 & 3 == 0
        out, at = out + data[at + 3:at + 3 + size], at + 3 + size
    return out


def tachyon(data):
    order = "<" if data[:4] == b"HCAT" else ">"
    _, version, _, start, _, count, _, strings_at, frames_at, compression, _ = struct.unpack(order + "II4sQQQIQQII", data[:64])
    string_count, frame_count, size = struct.unpack(order + "IIQ", data[-32:-16])
    assert version == 1 and size == len(data)
    b = Bytes(data, strings_at)
    strings = [b.take(b.varint()).decode() for _ in range(string_count)]
    b, frames = Bytes(data, frames_at), []
    for _ in range(frame_count):
        file, name = b.varint(), b.varint()
        line, end_line, column, end_column = (b.zigzag() for _ in range(4))
        opcode = b.take(1)[0]
        frames.append([strings[file], strings[name], [line, line + end_line if line >= 0 else -1, column, column + end_column if column >= 0 else -1],
                       None if opcode == 255 else opcode])
    part = data[64:strings_at]
    b, threads, rows = Bytes(unzstd(part) if compression else part, 0, order), {}, []
    while b.at < len(b.data):
        thread, interpreter, kind = b.fixed("QIB")
        state = threads.setdefault((thread, interpreter), [start, []])
        samples = b.varint() if kind == 0 else 1
        for _ in range(samples):
            state[0] += b.varint()
            status = b.take(1)[0]
            old = state[1]
            if kind:
                keep = 0 if kind == 1 else b.varint()
                new = [b.varint() for _ in range(b.varint())]
                state[1] = new + (old[len(old) - keep:] if kind == 2 else old[keep:] if kind == 3 else [])
            rows.append([state[0], interpreter, thread, status, [frames[i] for i in state[1]]])
    assert len(rows) == count
    return rows


# ---- JFR

WIDTHS = {"char": 2, "short": 2, "int": 4, "long": 8}
MEASURES = {"jdk.ObjectAllocationSample": ("weight", "bytes"), "jdk.ObjectAllocationInNewTLAB": ("tlabSize", "bytes"),
            "jdk.ObjectAllocationOutsideTLAB": ("allocationSize", "bytes"), "profiler.Malloc": ("size", "bytes"),
            "profiler.WallClockSample": ("samples", "count")}
COUNTED = ("jdk.JavaExceptionThrow", "jdk.JavaErrorThrow", "jdk.OldObjectSample")


class Chunk:
    def __init__(self, data):
        (self.size, _, metadata, self.start, self.duration, self.ticks, self.frequency, _, flags) = struct.unpack(">QQQqqqq3sB", data[8:68])
        self.data, self.compressed = data[:self.size], flags & 1
        self.read_metadata(metadata)
        self.pools, self.events, at = {}, [], 68
        while at < self.size:
            self.b = Bytes(self.data, at, ">")
            size, kind = self.integer(4), self.integer(8)
            if kind == 1:
                self.read_checkpoint()
            elif kind:
                self.events.append((kind, self.b.at))
            at += size

    def integer(self, width):
        if self.compressed:
            value = 0
            for i in range(9):
                byte = self.b.take(1)[0]
                value |= (byte if i == 8 else byte & 127) << 7 * i
                if byte < 128:
                    break
            value &= (1 << 8 * width) - 1
        else:
            value = int.from_bytes(self.b.take(width), "big")
        return value - (1 << 8 * width) if value >> 8 * width - 1 else value

    def text(self):
        kind = self.b.take(1)[0]
        if kind < 2:
            return None if kind == 0 else ""
        if kind == 2:
            return ("key", self.integer(8))
        if kind == 4:
            units = b"".join((self.integer(2) & 0xFFFF).to_bytes(2, "big") for _ in range(self.integer(4)))
            return units.decode("utf-16-be")
        return self.b.take(self.integer(4)).decode("utf-8" if kind == 3 else "latin-1")

    def read_metadata(self, at):
        self.b, self.classes, self.fields = Bytes(self.data, at, ">"), {}, {}
        for width in (4, 8, 8, 8, 8):
            self.integer(width)
        strings = [self.text() for _ in range(self.integer(4))]

        def element(inside):
            name = strings[self.integer(4)]
            attributes = {strings[self.integer(4)]: strings[self.integer(4)] for _ in range(self.integer(4))}
            if name == "class":
                inside = int(attributes["id"])
                self.classes[inside], self.fields[inside] = attributes["name"], []
            elif name == "field":
                self.fields[inside].append((attributes["name"], int(attributes["class"]), "constantPool" in attributes, "dimension" in attributes))
            for _ in range(self.integer(4)):
                element(inside)
        element(None)

    def read_checkpoint(self):
        for _ in range(3):
            self.integer(8)
        self.b.take(1)
        for _ in range(self.integer(4)):
            kind = self.integer(8)
            pool = self.pools.setdefault(self.classes[kind], {})
            for _ in range(self.integer(4)):
                key = self.integer(8)
                pool.setdefault(key, self.value(kind))

    def value(self, kind):
        name = self.classes[kind]
        if name in ("boolean", "byte"):
            return self.b.take(1)[0]
        if name in WIDTHS:
            return self.integer(WIDTHS[name])
        if name in ("float", "double"):
            return self.b.take(4 if name == "float" else 8)
        if name == "java.lang.String":
            return self.text()
        out = {}
        for field, of, constant, array in self.fields[kind]:
            values = [(self.classes[of], self.integer(8)) if constant else self.value(of) for _ in range(self.integer(4) if array else 1)]
            out[field] = values if array else values[0]
        return out

    def get(self, reference):
        return self.pools.get(reference[0], {}).get(reference[1])

    def string(self, value):
        return self.pools["java.lang.String"].get(value[1]) if isinstance(value, tuple) else value

    def symbol(self, reference):
        value = self.get(reference)
        return (self.string(value["string"]) if value else None) or ""

    def frame(self, frame):
        method, kind = self.get(frame["method"]), self.get(frame["type"])
        name = None
        if method:
            of = self.get(method["type"])
            name = ".".join(filter(None, (self.symbol(of["name"]) if of else "", self.symbol(method["name"]))))
        line, index = frame["lineNumber"], frame["bytecodeIndex"]
        return [name, line if line > 0 else None, index if index >= 0 else None, self.string(kind["description"]) if kind else None]

    def nanoseconds(self, ticks):
        return ticks * 10**9 // self.frequency


def jfr(data):
    rows, names, first, at = [], {}, None, 0
    while at < len(data):
        chunk = Chunk(data[at:])
        at += chunk.size
        first = chunk.start if first is None else first
        for kind, place in chunk.events:
            name, chunk.b = chunk.classes[kind], Bytes(chunk.data, place, ">")
            stack_field = next((f for f, of, constant, _ in chunk.fields[kind] if chunk.classes[of] == "jdk.types.StackTrace" and constant), None)
            if not stack_field:
                continue
            event = chunk.value(kind)
            stack = chunk.get(event[stack_field])
            if not stack:
                continue
            duration = chunk.nanoseconds(event["duration"]) if "duration" in event else None
            field, unit = MEASURES.get(name, ("duration", "nanoseconds") if duration is not None and name not in COUNTED else (None, "count"))
            value = 1 if field is None else duration if field == "duration" else event[field]
            short = name.rsplit(".", 1)[-1]
            if names.setdefault(short, name) != name:
                short = name
            thread = event.get("sampledThread") or event.get("eventThread")
            thread = chunk.get(thread) if thread else None
            rows.append([short, unit, value, chunk.nanoseconds(event["startTime"] - chunk.ticks) + chunk.start - first, duration,
                         (chunk.string(thread["javaName"]) or chunk.string(thread["osName"])) if thread else None,
                         str(thread["osThreadId"]) if thread and thread["osThreadId"] else None, bool(stack["truncated"]),
                         [chunk.frame(f) for f in stack["frames"]]])
    return rows
