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


@pytest.mark.parametrize("column", ["stack", "thread"])
@pytest.mark.parametrize("wrong", [NO_ROW, NO_ROW + 1, NO_ROW + 2, I64_HIGH, U64_HIGH, -2, -7, I64_LOW])
def test_rows_of_samples(column, wrong):
    b, stack = make()
    b.thread("t")
    columns = {"stack": [stack] * 3, "thread": [0] * 3}
    kind = "uint64" if wrong > 0 else "int64"
    for rows in (np.array([0, 0, wrong], kind), [0, 0, wrong], np.array([0, wrong, 0], kind)[::-1]):
        row = 2 if rows[2] == wrong else 1
        fails(lambda: b.samples(**{**columns, column: rows}, values={"samples": [1, 2, 3]}), column, row)
    b.samples(stack=[stack, -1, 0], thread=[-1, 0, 0], values={"samples": [1, 2, 3]})
    p = b.profile()
    assert p.samples.rows == 3  # nothing of the calls that failed
    assert physical(p, "samples", "stack") == [1, None, 0]
    assert physical(p, "samples", "thread") == [None, 0, 0]


def test_rows_of_all_types_of_integers():
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4", ">u8"):
        b, stack = make()
        none = -1 if np.dtype(kind).kind == "i" else 0
        b.samples(stack=np.array([stack, none], kind), values={"samples": np.array([1, 2], kind)})
        p = b.profile()
        assert physical(p, "samples", "stack") == [1, None if none else 0]
        assert physical(p, "samples", "value.0") == [1, 2]


def test_samples_are_appended_whole_or_not_at_all():
    b, stack = make()
    for columns in ({"stack": [stack, 4_000_000]}, {"stack": [stack] * 2, "duration": [1, -1]},
                    {"stack": [stack] * 2, "time": [0, 9e12], "duration": [0, 9e12]}):
        with pytest.raises(pcol.ArgumentError):
            b.samples(**columns, values={"samples": [1, 2]})
    b.samples(stack=[stack], values={"samples": [5]})
    assert physical(b.profile(), "samples", "value.0") == [5]


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


def test_values():
    b, stack = make(sample_types=[("cpu", "ns"), ("share", "1")], doubles=["share"])
    for wrong in ([0, I64_HIGH + 1], np.array([0, U64_HIGH], "uint64"), [0, U64_HIGH + 1],
                  [-1, 10**5000], np.array([0, I64_LOW - 1], object)):
        fails(lambda: b.samples(stack=[stack] * 2, values={"cpu": wrong}), "values", 1)
    with pytest.raises(pcol.ArgumentError, match="^values: cpu, row 1: must be -9223372036854775808 to "
                                                 "9223372036854775807, not 9223372036854775808$"):
        b.samples(stack=[stack] * 2, values={"cpu": [0, I64_HIGH + 1]})
    for wrong in ([1.0], [1.5], [np.nan], ["1"], [True], [None], [1, None], np.array([1], "m8[ns]")):
        with pytest.raises(TypeError, match="^values: cpu: must be integers, not "):
            b.samples(stack=[stack], values={"cpu": wrong})
    for wrong in (["1"], [1j], np.array([1], "M8[ns]"), np.array([1], "m8[ns]")):
        with pytest.raises(TypeError, match="^values: share: must be numbers, not "):
            b.samples(stack=[stack], values={"share": wrong})
    b.samples(stack=[stack] * 3, values={"cpu": [I64_LOW, 0, I64_HIGH], "share": [np.inf, 0.25, np.nan]})
    b.samples(stack=[stack], values={"cpu": np.array([I64_HIGH], "uint64"), "share": [True]})
    b.samples(stack=[np.uint64(stack), 0], values={"cpu": np.array([I64_HIGH, 7], object), "share": [1, 2]})
    b.samples(stack=[], values={"cpu": [], "share": []})
    p = b.profile()
    assert physical(p, "samples", "value.0") == [I64_LOW, 0, I64_HIGH, I64_HIGH, I64_HIGH, 7]
    shares = physical(p, "samples", "value.1")
    assert shares[:2] == [np.inf, 0.25] and np.isnan(shares[2]) and shares[3:] == [1, 1, 2]


@pytest.mark.parametrize("name", ["time", "duration"])
def test_times(name):
    b, stack = make()
    for wrong in (np.nan, np.inf, -np.inf, 1e300, 9223372036855.0, 9_223_372_036_855, U64_HIGH, 10**30, None):
        for column in ([0, 0, wrong], np.array([0, 0, wrong], object)):
            fails(lambda: b.samples(stack=[0] * 3, values={"samples": [1] * 3}, **{name: column}), name, 2)
    for wrong in (["1"], [1j], [True], np.array([5], "m8[s]"), np.array([5], "M8[ms]"),
                  np.array([np.timedelta64(5, "s")], object), np.array(["1.5"], object)):
        with pytest.raises(TypeError, match=f"^{name}: must be numbers, not "):
            b.samples(stack=[0], values={"samples": [1]}, **{name: wrong})
    b.samples(stack=[0] * 4, values={"samples": [1] * 4}, **{name: [0.5, 1e-6, 0.0000014, 9.2e12]})
    # Integers of ms are exact, also beyond 2^53 ns: dates since 1970.
    whole = [1_700_000_000_001, 9_223_372_036_854, 7]
    for column in (whole, np.array(whole, "uint64"), [np.uint64(whole[0]), *whole[1:]]):
        b.samples(stack=[0] * 3, values={"samples": [1] * 3}, **{name: column})
    assert physical(b.profile(), "samples", name) == [
        500_000, 1, 1, 9_200_000_000_000_000_000,
        *[1_700_000_000_001_000_000, 9_223_372_036_854_000_000, 7_000_000] * 3]


def test_times_before_the_start():
    b, stack = make()
    fails(lambda: b.samples(stack=[0], values={"samples": [1]}, time=[-9_223_372_036_855]), "time", 0)
    b.samples(stack=[0] * 2, values={"samples": [1] * 2}, time=[-9_223_372_036_854, -3])
    b.samples(stack=[0], values={"samples": [1]}, time=[-0.5])
    assert physical(b.profile(), "samples", "time") == [-9_223_372_036_854_000_000, -3_000_000, -500_000]


def test_masked_elements():
    b, stack = make(sample_types=[("cpu", "ns"), ("share", "1")], doubles=["share"])
    hidden = np.ma.array([1, 1, 1], mask=[False, True, False])
    whole = np.ma.array([1, 1, 1], mask=False)
    columns = {"stack": whole, "time": whole, "duration": whole, "thread": whole}
    b.thread("t"), b.thread("u")
    for name in columns:
        fails(lambda: b.samples(**{**columns, name: hidden}, values={"cpu": whole}), name, 1)
    for name in ("cpu", "share"):
        fails(lambda: b.samples(**columns, values={name: hidden}), "values", 1)
    b.samples(**columns, values={"cpu": whole, "share": whole})
    assert b.profile().samples.rows == 3


def test_thread_ids():
    b, _ = make()
    for wrong in (np.nan, 5.0, np.float64(5)):
        for name in ("tid", "pid"):
            with pytest.raises(TypeError, match=f"^{name} must be an integer or a string, not float"):
                b.thread("t", **{name: wrong})
    assert b.thread("t", np.uint64(U64_HIGH), "main") == 0  # the calls that failed made no rows
    p = b.profile()
    assert physical(p, "threads", "tid") == [str(U64_HIGH)] and physical(p, "threads", "pid") == ["main"]


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


def test_times_of_a_selection():
    b, stack = make()
    b.samples(stack=[stack] * 3, values={"samples": [1, 2, 4]}, time=[1_700_000_000_001, 1_700_000_000_002, 0])
    p = b.profile()
    for wrong in (np.nan, np.inf, 1e300, 9_223_372_036_855, U64_HIGH, 10**30):
        for time in ((wrong, None), (None, wrong)):
            fails(lambda: p.top(time=time), "time")
    with pytest.raises(TypeError, match="^time: must be numbers, not "):
        p.top(time=("1", None))
    assert p.top(time=(1_700_000_000_001, None)).selected == 3
    assert p.top(time=(1_700_000_000_001, 1_700_000_000_002)).selected == 1
    assert p.top(time=(0.0, 5)).selected == 4
    assert p.top(time=(-9_223_372_036_854, 9_223_372_036_854)).selected == 7


def test_lines_of_symbols():
    p = pcol.open(heap(0x400000))
    for wrong in (-1, I64_HIGH + 1, U64_HIGH + 2):
        fails(lambda: p.symbolize([("f", "f.c", wrong), None, None]), "symbols")
    with pytest.raises(TypeError, match="^symbols must be an integer, not float"):
        p.symbolize([("f", "f.c", 1.5), None, None])
    named = p.symbolize([("f", "f.c", I64_HIGH), None, None])
    assert I64_HIGH in named.locations["line"].tolist()
