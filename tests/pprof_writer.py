"""pprof profiles for tests: a writer of the protobuf message, from its definition (profile.proto of pprof)."""


def varint(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Strings(dict):
    """Numbers of texts; the empty text is 0."""

    def __init__(self):
        super().__init__({"": 0})

    def __call__(self, text):
        return self.setdefault(text, len(self))

    def message(self):
        return b"".join(field(6, text.encode()) for text in self)


def of_addresses(mappings, addresses):
    """Without functions. mappings: start, limit, offset, file, build_id. addresses: (address, number of its mapping, from 1). One
    sample for each address with another one as its caller, of a value and a label of its own."""
    string = Strings()
    out = field(1, field(1, string("samples")) + field(2, string("count")))
    for i in range(len(addresses)):
        label = field(1, string("thread")) + field(2, string(f"t{i % 3}"))
        out += field(2, field(1, varint(i + 1) + varint((i + 7) % len(addresses) + 1)) + field(2, varint(i + 1)) + field(3, label))
    for i, m in enumerate(mappings, 1):
        out += field(3, field(1, i) + field(2, m["start"]) + field(3, m["limit"]) + field(4, m["offset"])
                     + field(5, string(m["file"])) + field(6, string(m["build_id"])))
    for i, (address, mapping) in enumerate(addresses, 1):
        out += field(4, field(1, i) + field(2, mapping) + field(3, address))
    return out + string.message()


def of_functions(values, types, default_type=""):
    """Of each function one sample without callers. values: tuples by name; types: (type, unit) of each value; default_type: its name."""
    string = Strings()
    out = b"".join(field(1, field(1, string(kind)) + field(2, string(unit))) for kind, unit in types)
    for i, (name, amounts) in enumerate(values.items(), 1):
        out += field(2, field(1, varint(i)) + field(2, b"".join(map(varint, amounts))))
        out += field(4, field(1, i) + field(4, field(1, i)))
        out += field(5, field(1, i) + field(2, string(name)))
    if default_type:
        out += field(14, string(default_type))
    return out + string.message()
