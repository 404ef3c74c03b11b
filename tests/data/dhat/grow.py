"""Larger profiles for tests/formats.py."""
import json


def grow(data, n, distinct):
    """The program points n times, with frames of their own if distinct."""
    profile = json.loads(data)
    points, frames = profile["pps"], profile["ftbl"]
    profile["pps"] = [dict(point, fs=[k + i * len(frames) * distinct for k in point["fs"]]) for i in range(n) for point in points]
    if distinct:
        profile["ftbl"] = [frame.replace(": ", f": f{i}_") for i in range(n) for frame in frames]
    return json.dumps(profile, separators=(",", ":")).encode()
