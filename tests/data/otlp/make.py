#!/usr/bin/env python3
"""Writes OpenTelemetry profiles of each form and layout, and answers.jsonl: their samples.

A profile is a value of the JSON mapping of protobuf; encode() makes a message of it. Numbers of
fields follow opentelemetry/proto/profiles/v1development/profiles.proto of the versions 1.9 and
1.10, and common/v1 and resource/v1.
"""
import copy
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
INT, FIXED, DOUBLE, TEXT, HEX = "int", "fixed", "double", "text", "hex"

# message -> field -> (number, kind or message); of a sample, those of 1.10
MESSAGES = {
    "Data": {"resourceProfiles": (1, "ResourceProfiles"), "dictionary": (2, "Dictionary")},
    "ResourceProfiles": {"resource": (1, "Resource"), "scopeProfiles": (2, "ScopeProfiles"),
                         "schemaUrl": (3, TEXT)},
    "Resource": {"attributes": (1, "KeyValue"), "droppedAttributesCount": (2, INT)},
    "ScopeProfiles": {"scope": (1, "Scope"), "profiles": (2, "Profile"), "schemaUrl": (3, TEXT)},
    "Scope": {"name": (1, TEXT), "version": (2, TEXT)},
    "Profile": {"sampleType": (1, "ValueType"), "samples": (2, "Sample"),
                "timeUnixNano": (3, FIXED), "durationNano": (4, INT),
                "periodType": (5, "ValueType"), "period": (6, INT),
                "profileId": (7, HEX), "attributeIndices": (11, INT)},
    "ValueType": {"typeStrindex": (1, INT), "unitStrindex": (2, INT)},
    "Sample": {"stackIndex": (1, INT), "attributeIndices": (2, INT), "linkIndex": (3, INT),
               "values": (4, INT), "timestampsUnixNano": (5, FIXED)},
    "Dictionary": {"mappingTable": (1, "Mapping"), "locationTable": (2, "Location"),
                   "functionTable": (3, "Function"), "linkTable": (4, "Link"),
                   "stringTable": (5, TEXT), "attributeTable": (6, "Entry"),
                   "stackTable": (7, "Stack")},
    "Mapping": {"memoryStart": (1, INT), "memoryLimit": (2, INT), "fileOffset": (3, INT),
                "filenameStrindex": (4, INT), "attributeIndices": (5, INT)},
    "Location": {"mappingIndex": (1, INT), "address": (2, INT), "lines": (3, "Line"),
                 "attributeIndices": (4, INT)},
    "Line": {"functionIndex": (1, INT), "line": (2, INT), "column": (3, INT)},
    "Function": {"nameStrindex": (1, INT), "systemNameStrindex": (2, INT),
                 "filenameStrindex": (3, INT), "startLine": (4, INT)},
    "Link": {"traceId": (1, HEX), "spanId": (2, HEX)},
    "Entry": {"keyStrindex": (1, INT), "value": (2, "Any"), "unitStrindex": (3, INT)},
    "KeyValue": {"key": (1, TEXT), "value": (2, "Any")},
    "Any": {"stringValue": (1, TEXT), "boolValue": (2, INT), "intValue": (3, INT),
            "doubleValue": (4, DOUBLE), "arrayValue": (5, "Array")},
    "Array": {"values": (1, "Any")},
    "Stack": {"locationIndices": (1, INT)},
}
OLD_SAMPLE = {"stackIndex": (1, INT), "values": (2, INT), "attributeIndices": (3, INT),
              "linkIndex": (4, INT), "timestampsUnixNano": (5, FIXED)}


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def block(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def encode(message, value, old=False):
    """The protobuf message of a value; old: the layout of 1.9."""
    fields = OLD_SAMPLE if old and message == "Sample" else MESSAGES[message]
    out = bytearray()
    for name, (number, kind) in sorted(fields.items(), key=lambda item: item[1][0]):
        if name not in value:
            continue
        values = value[name] if isinstance(value[name], list) else [value[name]]
        if isinstance(value[name], list) and kind in (INT, FIXED):
            pack = varint if kind == INT else lambda n: struct.pack("<Q", n)
            out += block(number, b"".join(pack(int(n)) for n in values)) if values else b""
            continue
        for v in values:
            if kind == INT:
                out += varint(number << 3) + varint(int(v))
            elif kind in (FIXED, DOUBLE):
                out += varint(number << 3 | 1)
                out += struct.pack("<d", v) if kind == DOUBLE else struct.pack("<Q", int(v))
            elif kind in (TEXT, HEX):
                out += block(number, v.encode() if kind == TEXT else bytes.fromhex(v))
            else:
                out += block(number, encode(kind, v, old))
    return bytes(out)


def sized(messages):
    return b"".join(struct.pack(">I", len(m)) + m for m in messages)


STRINGS = ["", "cpu", "nanoseconds", "main", "work", "/src/app.c", "/bin/app", "thread.id",
           "thread.name", "state", "process.executable.build_id.gnu", "By", "size", "_ZN4workEv",
           "events", "count", "weight", "tags", "on"]
START = 1_760_000_000_000_000_000


def profile():
    """Two profiles of two resources: with and without timestamps."""
    dictionary = {
        "mappingTable": [{}, {"memoryStart": 4096, "memoryLimit": 8192, "fileOffset": 512,
                              "filenameStrindex": 6, "attributeIndices": [4]}],
        "locationTable": [{}, {"mappingIndex": 1, "address": 4200,
                               "lines": [{"functionIndex": 1, "line": 7}]},
                          {"mappingIndex": 1, "address": 4300,
                           "lines": [{"functionIndex": 2, "line": 21, "column": 3},
                                     {"functionIndex": 1, "line": 9}]},
                          {"mappingIndex": 1, "address": 5000}],
        "functionTable": [{}, {"nameStrindex": 3, "filenameStrindex": 5, "startLine": 5},
                          {"nameStrindex": 4, "systemNameStrindex": 13, "filenameStrindex": 5}],
        "linkTable": [{}, {"traceId": "000102030405060708090a0b0c0d0e0f",
                           "spanId": "1011121314151617"}],
        "stringTable": STRINGS,
        "attributeTable": [
            {}, {"keyStrindex": 7, "value": {"intValue": 42}},
            {"keyStrindex": 8, "value": {"stringValue": "worker"}},
            {"keyStrindex": 9, "value": {"stringValue": "on"}},
            {"keyStrindex": 10, "value": {"stringValue": "deadbeef"}},
            {"keyStrindex": 12, "value": {"intValue": -128}, "unitStrindex": 11},
            {"keyStrindex": 16, "value": {"doubleValue": 0.5}},
            {"keyStrindex": 18, "value": {"boolValue": True}},
            {"keyStrindex": 17, "value": {"arrayValue": {"values": [{"intValue": 1}]}}}],
        "stackTable": [{}, {"locationIndices": [2, 1]}, {"locationIndices": [3, 2, 1]},
                       {"locationIndices": [1]}],
    }
    cpu = {"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": START,
           "durationNano": 5_000_000_000, "periodType": {"typeStrindex": 1, "unitStrindex": 2},
           "period": 10_000_000, "profileId": "f" * 32, "attributeIndices": [3],
           "samples": [
               {"stackIndex": 1, "attributeIndices": [1, 2, 3], "linkIndex": 1,
                "values": [10, 20, 3_000_000_000],
                "timestampsUnixNano": [START + 5, START + 9, START + 4_000_000_000]},
               {"stackIndex": 2, "attributeIndices": [5, 6, 7, 8], "values": [-4],
                "timestampsUnixNano": [START + 7]}]}
    events = {"sampleType": {"typeStrindex": 14, "unitStrindex": 15},
              "samples": [{"stackIndex": 3, "attributeIndices": [3], "values": [6]},
                          {"values": [2], "attributeIndices": [1]}]}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}},
                               {"key": "process.pid", "value": {"intValue": 7}},
                               {"key": "process.executable.name", "value": {"stringValue": "app"}}]}
    return {"resourceProfiles": [
        {"resource": resource, "schemaUrl": "https://opentelemetry.io/schemas/1.37.0",
         "scopeProfiles": [{"scope": {"name": "profiler", "version": "1"}, "profiles": [cpu]}]},
        {"resource": {}, "scopeProfiles": [{"profiles": [events]}]}], "dictionary": dictionary}


def timestamps_only():
    """Samples whose values are 1: field 2 is as many numbers as timestamps."""
    value = profile()
    for resource in value["resourceProfiles"]:
        for each in resource["scopeProfiles"][0]["profiles"]:
            each["samples"] = [{"stackIndex": 1, "attributeIndices": [3],
                                "timestampsUnixNano": [START + 1]}]
    return value


def rows(value):
    """Samples: type, unit, value, time, frames innermost first, thread, labels."""
    tables = value["dictionary"]
    strings = tables["stringTable"]

    def scalar(any_value):
        kind, v = next(iter(any_value.items()))
        return None if kind == "arrayValue" else v

    def frames(index):
        out = []
        for place in tables["stackTable"][index].get("locationIndices", []):
            place = tables["locationTable"][place]
            for line in place.get("lines", [{}]):
                function = tables["functionTable"][line.get("functionIndex", 0)]
                out.append([strings[function.get("nameStrindex", 0)] or None, line.get("line")])
        return out

    out = []
    for resource in value["resourceProfiles"]:
        fixed = [(a["key"], scalar(a["value"])) for a in resource["resource"].get("attributes", [])]
        for each in (p for s in resource["scopeProfiles"] for p in s["profiles"]):
            of = [strings[each["sampleType"][k]] for k in ("typeStrindex", "unitStrindex")]
            for sample in each["samples"]:
                labels = dict(fixed)
                for index in sample.get("attributeIndices", []):
                    entry = tables["attributeTable"][index]
                    labels[strings[entry["keyStrindex"]]] = scalar(entry["value"])
                if sample.get("linkIndex"):
                    link = tables["linkTable"][sample["linkIndex"]]
                    labels.update(trace_id=link["traceId"], span_id=link["spanId"])
                thread = [labels.pop(k, None) for k in ("thread.id", "thread.name", "process.pid",
                                                        "process.executable.name")]
                thread = [None if t is None else str(t) for t in thread]
                labels = {k: v for k, v in sorted(labels.items()) if v is not None}
                times = sample.get("timestampsUnixNano", [])
                values = sample.get("values") or [1] * len(times)
                for i, v in enumerate(values):
                    out.append([*of, v, times[i] if times else None,
                                frames(sample.get("stackIndex", 0)), thread, labels])
    return out


def many(n, distinct):
    """The samples n times; distinct: with a function of its own each."""
    value = profile()
    tables = value["dictionary"]
    strings, functions, locations, stacks = (
        tables[k] for k in ("stringTable", "functionTable", "locationTable", "stackTable"))
    strings = tables["stringTable"] = list(strings)
    samples = value["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0]["samples"]
    kept, samples[:] = copy.deepcopy(samples), []
    for i in range(n):
        for sample in copy.deepcopy(kept):
            if distinct:
                strings.append(f"f{i}")
                functions.append({"nameStrindex": len(strings) - 1})
                locations.append({"lines": [{"functionIndex": len(functions) - 1}]})
                stacks.append({"locationIndices": [len(locations) - 1, 1]})
                sample["stackIndex"] = len(stacks) - 1
            samples.append(sample)
    return value


def as_json(value):
    """The JSON mapping: integers of 64 bits are strings."""
    long = {"timeUnixNano", "durationNano", "period", "values", "timestampsUnixNano", "memoryStart",
            "memoryLimit", "fileOffset", "address", "line", "column", "startLine", "intValue"}

    def convert(v, name=None):
        if isinstance(v, dict):
            return {k: convert(x, k) for k, x in v.items()}
        if isinstance(v, list):
            return [convert(x, name) for x in v]
        return str(v) if name in long and isinstance(v, int) else v
    return json.dumps(convert(value), separators=(",", ":"))


def variants():
    value = profile()
    return {"small.otlp": encode("Data", value), "old.otlp": encode("Data", value, True),
            "sized.otlp": sized([encode("Data", value)] * 2),
            "profile.otlp.json": (as_json(value) + "\n").encode(),
            "lines.otlp.json": (as_json(value) + "\n" + as_json(value) + "\n").encode(),
            "unclear.otlp": encode("Data", timestamps_only())}


def main():
    for name, data in variants().items():
        (HERE / name).write_bytes(data)
    (HERE / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(profile())))


if __name__ == "__main__":
    main()
