"""Numbers at and beyond the limits of their types: stored exactly, or an error that names the argument."""
import warnings

import numpy as np
import pytest
from test_combine import heap

import pcol

NO_ROW = 4_294_967_295  # the largest row is one less
I64_LOW, I64_HIGH = -9_223_372_036_854_775_808, 9_223_372_036_854_775_807
U64_HIGH = 18_446_744_073_709_551_615


def make(**options):
    b = pcol.Builder("mytool", **options)
    return b, b.stack([b.location(b.function("f"))])


def physical(profile, table, column):
    return np.ma.asarray(profile.table(table, "physical")[column]).tolist()


def fails(call, argument, row=None):
    """The call raises an ArgumentError of the argument, and gives no warning of numpy."""
    with warnings.catch_warnings(), pytest.raises(pcol.ArgumentError) as caught:
        warnings.simplefilter("error")
        call()
    assert (caught.value.argument, caught.value.row) == (argument, row)
    text = str(caught.value)
    assert text.startswith(f"{argument}: ") and (row is None or f"row {row}: " in text)


def test_rows_one_by_one():
    b, _ = make()
    function = b.function("g")
    location = b.location(function)
    for wrong in (NO_ROW, NO_ROW + 1, NO_ROW + 1 + function, I64_HIGH + 1, 10**5000, -1, -7, I64_LOW - 1):
        fails(lambda: b.location(wrong), "function")
        fails(lambda: b.stack([location], wrong), "parent")
        fails(lambda: b.stack([location, wrong]), "locations", 1)
    for wrong in (1.0, "1", np.float64(1), np.nan):
        with pytest.raises(TypeError, match="^function must be an integer, not "):
            b.location(wrong)
        with pytest.raises(TypeError, match="^parent must be an integer, not "):
            b.stack([location], wrong)
        with pytest.raises(TypeError, match="^locations must be an integer, not "):
            b.stack([wrong])
    assert b.location(np.uint64(function)) == b.location(np.int8(function)) == location
    assert b.stack(np.array([location], "uint64")) == b.stack([location]) == b.stack((location,), 0)


def test_lines():
    b, _ = make()
    for wrong in (I64_HIGH + 1, U64_HIGH + 2, -1, -7, I64_LOW - 1):
        fails(lambda: b.function("f", "f.c", wrong), "start_line")
        fails(lambda: b.location(0, line=wrong), "line")
    with pytest.raises(TypeError, match="^line must be an integer, not float"):
        b.location(0, line=1.5)
    row = b.function("last", "f.c", I64_HIGH)
    b.samples(stack=[b.stack([b.location(row, line=I64_HIGH), b.location(row, line=0)])],
              values={"samples": [1]})
    p = b.profile()
    assert I64_HIGH in p.functions["start_line"].tolist()
    lines = p.locations["line"].tolist()
    assert I64_HIGH in lines and 0 in lines


def test_addresses():
    b, _ = make()
    for wrong in (U64_HIGH + 1, U64_HIGH + 2, -1, -7, I64_LOW, -U64_HIGH):
        fails(lambda: b.location(address=wrong), "address")
    for wrong in (1.0, np.float64(2.0**63)):
        with pytest.raises(TypeError, match="^address must be an integer, not "):
            b.location(address=wrong)
    high = [I64_HIGH, I64_HIGH + 1, 0xffffffff81000001, U64_HIGH - 1, U64_HIGH]
    exact = np.array(high, "uint64")
    rows = [b.location(address=address) for address in high]
    assert rows == [b.location(address=address) for address in exact] and len(set(rows)) == 5
    b.samples(stack=[b.stack([row]) for row in rows], values={"samples": [1] * 5})
    p = b.profile()
    assert set(high) <= set(physical(p, "location_groups", "address"))
    assert {a.address for a in p.addresses()} == set(high)
    assert [fault for fault in p.check("strict") if not fault.note] == []


def test_intervals():
    for name in ("interval_ns", "duration_ns"):
        for wrong in (-2, I64_LOW, I64_LOW - 1, I64_HIGH + 1, U64_HIGH + 2):
            fails(lambda: pcol.Builder(**{name: wrong}), name)
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not float"):
            pcol.Builder(**{name: 1e6})
    b = pcol.Builder(interval_ns=I64_HIGH, duration_ns=I64_HIGH)
    p = b.profile()
    assert physical(p, "sources", "interval_ns") == physical(p, "sources", "duration_ns") == [I64_HIGH]
    assert "interval_ns" not in pcol.Builder(interval_ns=-1).profile().table("sources", "physical")


def test_arguments_of_queries(folded):
    for wrong in (NO_ROW + 1, NO_ROW + 2, -1, I64_LOW - 1):
        fails(lambda: folded.tree(max_depth=wrong), "max_depth")
        fails(lambda: folded.flame(width=wrong), "width")
    fails(lambda: folded.flame(width=NO_ROW + 1 + 500), "width")
    for wrong in (U64_HIGH + 1, U64_HIGH + 2, -1):
        fails(lambda: folded.unpack(format="folded", source_id=wrong), "source_id")
    assert folded.unpack(format="folded", source_id=np.uint64(1)) == folded.unpack(format="folded")
    with pytest.raises(TypeError, match="^max_depth must be an integer, not float"):
        folded.tree(max_depth=1.0)
    assert folded.tree(max_depth=NO_ROW).rows == folded.tree().rows


def test_lines_of_symbols():
    p = pcol.open(heap(0x400000))
    for wrong in (-1, I64_HIGH + 1, U64_HIGH + 2):
        fails(lambda: p.symbolize([("f", "f.c", wrong), None, None]), "symbols")
    with pytest.raises(TypeError, match="^symbols must be an integer, not float"):
        p.symbolize([("f", "f.c", 1.5), None, None])
    named = p.symbolize([("f", "f.c", I64_HIGH), None, None])
    assert I64_HIGH in named.locations["line"].tolist()
