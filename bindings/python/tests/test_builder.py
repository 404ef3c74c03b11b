"""Builder: columns of samples, types of values, misuse."""
import numpy as np
import pytest

import pcol


def make(**options):
    b = pcol.Builder("mytool", **options)
    return b, b.stack([b.location(b.function("f", "f.c", 1), line=2)])


def test_columns(tmp_path):
    b, stack = make(sample_types=[("cpu", "ns"), ("heap", "bytes"), ("share", "1")],
                    doubles=["share"], gauges=["heap"], default="cpu", meta={"key": "value"})
    n = 10_000
    b.samples(stack=np.full(n, stack, "uint32"), time=np.arange(n) / 2, duration=np.full(n, 0.5),
              values={"cpu": np.arange(n), "heap": range(n), "share": np.full(n, 0.25)})
    b.samples(stack=[-1, 0], values={"cpu": [1, 2]})
    b.write(tmp_path / "x.pcol")
    p = pcol.open(tmp_path / "x.pcol")
    assert p.samples.rows == n + 2
    assert p.top().total == n * (n - 1) // 2 + 2
    assert p.top(sample_type="share").total == n / 4
    with pytest.raises(pcol.ArgumentError):
        p.top(sample_type="heap")
    assert p.samples["time"].data[:3].tolist() == [0.0, 0.5, 1.0]
    assert [fault for fault in p.check("strict") if not fault.note] == []


def test_equal_rows_are_one():
    b, stack = make()
    assert b.function("f", "f.c", 1) == b.function("f", "f.c", 1) != b.function("g")
    assert b.stack([b.location(b.function("f", "f.c", 1), line=2)]) == stack


def test_misuse():
    b, stack = make()
    with pytest.raises(KeyError, match="no sample type"):
        b.samples(stack=[stack], values={"nothing": [1]})
    with pytest.raises(ValueError, match="same length"):
        b.samples(stack=[stack], values={"samples": [1, 2]})
    with pytest.raises(TypeError):
        b.samples(stack=[stack], values={"samples": [1.5]})
    with pytest.raises(pcol.ArgumentError):
        b.samples(stack=[4_000_000], values={"samples": [1]})
    with pytest.raises(pcol.ArgumentError):
        b.stack([99])
    b.profile()
    with pytest.raises(pcol.StateError):
        b.profile()


def test_names_of_types_and_metadata(folded):
    types = [("time", "ns"), ("wall_time", "ns")]
    stack = [0]
    b = pcol.Builder("x", sample_types=types, doubles="wall_time")  # one name, no letters of it
    with pytest.raises(TypeError):
        b.samples(stack=stack, values={"time": [1.5]})
    b.samples(stack=stack, values={"wall_time": [1.5]})
    for names in "cpu", ["time", "cpu"]:
        with pytest.raises(KeyError, match="no sample type cpu"):
            pcol.Builder("x", sample_types=types, gauges=names)
    for meta in ["ab"], "ab", 3:
        with pytest.raises(TypeError, match="meta must be a dict"):
            pcol.Builder("x", meta=meta)
        with pytest.raises(TypeError, match="meta must be a dict"):
            folded.symbolize([], meta=meta)
    for name in None, 3:
        with pytest.raises(TypeError, match="names of columns are strings"):
            folded.samples[name]  # pylint: disable=expression-not-assigned
