#!/usr/bin/env python3
"""Writes small.jfr, a recording of two chunks, and answers.jsonl, what tests/roundtrip/binary_formats/readers.py reads of it.

The chunks have the same content. Integers are compressed in the first one and not in the second one; constants precede their use in
the first one and follow it in the second one; text has all encodings.
"""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
BIG = 0x7123456789ABCDEF  # an id of 64 bits
WIDTHS = {"boolean": 1, "byte": 1, "char": 2, "short": 2, "int": 4, "long": 8}

# name -> id and fields: (name, class, constant, array)
CLASSES = {
    "boolean": (4, []), "char": (5, []), "float": (6, []), "double": (7, []), "byte": (8, []), "short": (9, []), "int": (10, []),
    "long": (11, []), "java.lang.String": (20, []),
    "java.lang.Thread": (21, [("osName", "java.lang.String", 0, 0), ("osThreadId", "long", 0, 0), ("javaName", "java.lang.String", 0, 0),
                              ("javaThreadId", "long", 0, 0)]),
    "java.lang.Class": (22, [("name", "jdk.types.Symbol", 1, 0), ("modifiers", "int", 0, 0)]),
    "jdk.types.Symbol": (23, [("string", "java.lang.String", 0, 0)]),
    "jdk.types.Method": (24, [("type", "java.lang.Class", 1, 0), ("name", "jdk.types.Symbol", 1, 0), ("descriptor", "jdk.types.Symbol", 1, 0),
                              ("hidden", "boolean", 0, 0)]),
    "jdk.types.FrameType": (25, [("description", "java.lang.String", 0, 0)]),
    "jdk.types.StackFrame": (26, [("method", "jdk.types.Method", 1, 0), ("lineNumber", "int", 0, 0), ("bytecodeIndex", "int", 0, 0),
                                  ("type", "jdk.types.FrameType", 1, 0)]),
    "jdk.types.StackTrace": (BIG, [("truncated", "boolean", 0, 0), ("frames", "jdk.types.StackFrame", 0, 1)]),
    "test.Pair": (28, [("a", "float", 0, 0), ("b", "double", 0, 0), ("c", "char", 0, 0)]),
    "jdk.jfr.Label": (29, [("value", "java.lang.String", 0, 0)]),
}
TIME, THREAD, STACK = ("startTime", "long", 0, 0), ("eventThread", "java.lang.Thread", 1, 0), ("stackTrace", "jdk.types.StackTrace", 1, 0)
DURATION = ("duration", "long", 0, 0)
EVENTS = {
    "jdk.ObjectAllocationSample": (101, [TIME, THREAD, STACK, ("objectClass", "java.lang.Class", 1, 0), ("weight", "long", 0, 0)]),
    "jdk.ExecutionSample": (102, [TIME, ("sampledThread", "java.lang.Thread", 1, 0), STACK, ("state", "int", 0, 0)]),
    "jdk.JavaMonitorEnter": (103, [TIME, DURATION, THREAD, STACK, ("address", "long", 0, 0)]),
    "jdk.CPULoad": (104, [TIME, ("jvmUser", "float", 0, 0)]),
    "test.app.ExecutionSample": (105, [TIME, DURATION, THREAD, STACK, ("words", "java.lang.String", 0, 1), ("pairs", "test.Pair", 0, 1),
                                       ("note", "java.lang.String", 0, 0)]),
    "NoPackage": (106, [TIME, STACK, ("small", "short", 0, 0)]),
}


class Out:
    def __init__(self, compressed):
        self.compressed, self.data = compressed, bytearray()

    def integer(self, value, width):
        if not self.compressed:
            self.data += (value & (1 << 8 * width) - 1).to_bytes(width, "big")
            return
        value &= (1 << (64 if width == 8 else 8 * width)) - 1
        for _ in range(8):
            if value < 128:
                self.data.append(value)
                return
            self.data.append(value & 127 | 128)
            value >>= 7
        self.data.append(value)

    def text(self, value, encoding=3):
        if value is None or value == "":
            self.data.append(0 if value is None else 1)
        elif isinstance(value, int):  # a key
            self.data.append(2)
            self.integer(value, 8)
        elif isinstance(value, tuple):
            self.text(*value)
        elif encoding == 4:
            units = value.encode("utf-16-be", "surrogatepass")
            self.data.append(4)
            self.integer(len(units) // 2, 4)
            for i in range(0, len(units), 2):
                self.integer(int.from_bytes(units[i:i + 2], "big"), 2)
        else:
            raw = value.encode("latin-1" if encoding == 5 else "utf-8")
            self.data.append(encoding)
            self.integer(len(raw), 4)
            self.data += raw

    def value(self, name, value):
        if name in ("boolean", "byte"):
            self.data.append(value)
        elif name in WIDTHS:
            self.integer(value, WIDTHS[name])
        elif name in ("float", "double"):
            self.data += struct.pack(">f" if name == "float" else ">d", value)
        elif name == "java.lang.String":
            self.text(value)
        else:
            self.fields(CLASSES[name][1], value)

    def fields(self, fields, values):
        for (_, name, constant, array), value in zip(fields, values, strict=True):
            if array:
                self.integer(len(value), 4)
            for element in value if array else [value]:
                if constant:
                    self.integer(element, 8)
                else:
                    self.value(name, element)


class Chunk:
    def __init__(self, compressed=True, start_ns=0, ticks=0, frequency=10**9, flags=0):
        self.compressed, self.start_ns, self.ticks, self.frequency, self.flags = compressed, start_ns, ticks, frequency, flags
        self.body, self.metadata_at, self.checkpoint_at = bytearray(), 0, 0

    def event(self, number, data):
        """An event with the shortest size that includes itself."""
        out = Out(self.compressed)
        out.integer(number, 8)
        size = len(out.data) + len(data) + 1
        while True:
            head = Out(self.compressed)
            head.integer(size, 4)
            if size == len(head.data) + len(out.data) + len(data):
                break
            size = len(head.data) + len(out.data) + len(data)
        at = 68 + len(self.body)
        self.body += head.data + out.data + data
        return at

    def add(self, name, *values):
        out = Out(self.compressed)
        out.fields(EVENTS[name][1], values)
        self.event(EVENTS[name][0], bytes(out.data))

    def constants(self, pools):
        """pools: class -> {key: value}"""
        out = Out(self.compressed)
        for value in (0, 0, -(68 + len(self.body) - self.checkpoint_at) if self.checkpoint_at else 0):
            out.integer(value, 8)
        out.data.append(0)
        out.integer(len(pools), 4)
        for name, pool in pools.items():
            out.integer(CLASSES[name][0], 8)
            out.integer(len(pool), 4)
            for key, value in pool.items():
                out.integer(key, 8)
                out.value(name, value)
        self.checkpoint_at = self.event(1, bytes(out.data))

    def metadata(self, classes, more=(), elements=()):
        """more: further (name, number, fields), also of names that `classes` has; elements: further (name, attributes, children)."""
        strings, out = {}, Out(self.compressed)

        def element(name, attributes, children):
            return (name, attributes, children)

        def put(node):
            name, attributes, children = node
            out.integer(strings.setdefault(name, len(strings)), 4)
            out.integer(len(attributes), 4)
            for key, value in attributes.items():
                out.integer(strings.setdefault(key, len(strings)), 4)
                out.integer(strings.setdefault(value, len(strings)), 4)
            out.integer(len(children), 4)
            for child in children:
                put(child)

        nodes = []
        for name, number, fields in [*((name, *of) for name, of in classes.items()), *more]:
            children = [element("annotation", {"class": "29", "value": "x"}, [])]
            for field, of, constant, array in fields:
                attributes = {"name": field, "class": str(classes[of][0])}
                attributes.update({"constantPool": "true"} if constant else {}, **({"dimension": "1"} if array else {}))
                children.append(element("field", attributes, []))
            super_type = {"superType": "jdk.jfr.Event" if name in EVENTS else "java.lang.annotation.Annotation"} if (
                name in EVENTS or name == "jdk.jfr.Label") else {}
            nodes.append(element("class", {"name": name, "id": str(number), **super_type}, children))
        put(element("root", {}, [element("metadata", {}, nodes), *elements, element("region", {"locale": "en", "gmtOffset": "0"}, [])]))
        head = Out(self.compressed)
        for value in (0, 0, 1):
            head.integer(value, 8)
        head.integer(len(strings), 4)
        for i, text in enumerate(strings):
            head.text(text, 5 if i % 3 == 1 else 4 if i % 3 == 2 else 3)
        self.metadata_at = self.event(0, bytes(head.data + out.data))

    def bytes(self):
        return b"FLR\0" + struct.pack(">HHQQQqqqqBBBB", 2, 1, 68 + len(self.body), self.checkpoint_at, self.metadata_at, self.start_ns,
                                      5 * 10**9, self.ticks, self.frequency, 0, 0, 0, self.compressed | self.flags) + bytes(self.body)


def pools(suffix=""):
    symbols = {1: "Main", 2: "run", 3: ("w\u00f6rk", 5), 4: "java/lang/Thread", 5: ("\U0001f600", 4), 6: "", 7: BIG, 8: "()V"}
    if suffix:
        symbols = {k: v + suffix if isinstance(v, str) and v else v for k, v in symbols.items()}
    frames = [(BIG, 12, 3, 1), (2, -1, 0, 2), (3, 7, 5, 1), (4, 0, -1, 3), (77, 5, 6, 9)]
    return {
        "jdk.types.Symbol": {k: (v,) for k, v in symbols.items()},
        "java.lang.Class": {1: (1, 0), 2: (4, 1), 3: (6, 0)},
        "jdk.types.Method": {BIG: (1, 2, 8, 0), 2: (2, 3, 8, 1), 3: (1, 5, 8, 0), 4: (3, 7, 8, 0)},
        "jdk.types.FrameType": {1: ("Interpreted",), 2: (("JIT compiled", 5),), 3: ("Native",)},
        "java.lang.String": {BIG: "shared" + suffix},
        "java.lang.Thread": {1: ("os-1", 4711, "main", 1), 2: ("GC", 4712, None, 0), -3: (None, 0, "virtual", BIG)},
        "jdk.types.StackTrace": {1: (0, frames[:1]), BIG: (1, frames[1:4] + frames[:2]), 3: (0, []), 4: (0, [frames[4], frames[0]])},
    }


def events(chunk, at):
    chunk.add("jdk.ObjectAllocationSample", at + 10, 1, 1, 2, 4096)
    chunk.add("jdk.ExecutionSample", at + 20, 1, BIG, 5)
    chunk.add("jdk.ExecutionSample", at + 40, 2, 1, 5)
    chunk.add("jdk.CPULoad", at + 41, .5)
    chunk.add("jdk.JavaMonitorEnter", at + 30, 25, -3, BIG, BIG)
    chunk.add("jdk.JavaMonitorEnter", at + 31, 7, 99, 3, -1)
    chunk.add("test.app.ExecutionSample", at + 50, 9, 1, 4, ["", None, ("\u00e4", 5), ("\u20ac", 4), BIG], [(.5, .25, 65)] * 2, "x")
    chunk.add("NoPackage", at + 60, 1, -2)
    chunk.add("jdk.ExecutionSample", at + 61, 1, 0, 5)
    chunk.add("jdk.ExecutionSample", at + 62, 1, 555, 5)


def recording(n=1, distinct=False, change=None):
    """Two chunks, each with the events n times; distinct: n times as many chunks, with names of their own. change(chunk): called first."""
    parts = []
    for i in range(2 * n if distinct else 2):
        suffix = f"_{i}" if distinct else ""
        chunk = Chunk(compressed=not i % 2, start_ns=1700000000123456789 + i * 10**9, ticks=1000 + i, frequency=(10**9, 3 * 10**6)[i % 2])
        if change:
            change(chunk)
        classes = {**CLASSES, **EVENTS}
        if not i % 2:
            chunk.metadata(classes)
            chunk.constants(pools(suffix))
        for j in range(1 if distinct else n):
            events(chunk, chunk.ticks + 100 * j)
        if i % 2:
            every = list(pools(suffix).items())
            chunk.constants(dict(every[:3]))
            chunk.metadata(classes)
            chunk.constants(dict(every[3:]))
        parts.append(chunk.bytes())
    return b"".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent.parent / "roundtrip/binary_formats"))
    import readers
    (HERE / "small.jfr").write_bytes(recording())
    (HERE / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in readers.jfr(recording())))
