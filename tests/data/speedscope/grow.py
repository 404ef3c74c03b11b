"""grow(data, n, distinct): the samples of the first profile n times, with frames of their own each time if distinct."""
import json


def grow(data, n, distinct):
    document = json.loads(data)
    first, frames = document["profiles"][0], document["shared"]["frames"]
    samples, weights, own = first["samples"], first["weights"], list(frames)
    first["samples"], first["weights"] = [], []
    for i in range(n):
        offset = len(frames) if distinct else 0
        if distinct:
            frames += [{**frame, "name": f"{frame['name']}{i}"} for frame in own]
        first["samples"] += [[offset + f for f in stack] for stack in samples]
        first["weights"] += weights
    return json.dumps(document, separators=(",", ":")).encode()
