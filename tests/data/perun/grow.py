"""grow(data, n, distinct): the snapshots n times, with functions and sources of their own each time if distinct. Types of resources stay:
each is a sample type, a column for all samples."""
import json


def grow(data, n, distinct):
    document = json.loads(data)
    document["snapshots"] = [named(snapshot, str(i)) if distinct else snapshot for i in range(n) for snapshot in document["snapshots"]]
    return json.dumps(document, separators=(",", ":")).encode()


def named(value, suffix):
    if isinstance(value, list):
        return [named(inner, suffix) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: inner + suffix if key in ("function", "source", "uid") and isinstance(inner, str) else named(inner, suffix)
            for key, inner in value.items()}
