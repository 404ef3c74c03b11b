"""Tables: values against the command's CSV, addresses against the map, pandas, Arrow."""
import ctypes

import numpy as np
import pandas
import pytest
from conftest import DATA, command

import pcol
from pcol import _native

FILES = ["pprof/cpu.pb.gz", "pprof/heap.pb.gz", "rprof/demo.Rprof"]


def text_of(value):
    return "" if value is None or value is np.ma.masked else str(value)


@pytest.mark.parametrize("name", FILES)
def test_cells_equal_those_of_the_command(name, tmp_path):
    p = pcol.open(DATA / name)
    path = tmp_path / "x.pcol"
    p.save(path)
    for table in ("samples", "sample_values", "sample_locations", "locations", "functions"):
        rows = command("cat", "--format", "csv", "--table", table, path)
        assert len(rows) == p[table].rows
        for column in p[table]:
            if p[table].schema.loc[column, "type"] not in ("i64", "string"):
                continue
            want = [next(v for k, v in row.items() if k.lstrip(".") == column) for row in rows]
            got = [text_of(cell) for cell in p[table][column].tolist()]
            assert got == ["" if cell == "\\N" else cell for cell in want], (table, column)


def test_plain_column_is_not_copied(plain):
    p = pcol.open(plain)
    stack = p.table("samples", "physical")["stack"]
    assert not stack.flags.owndata and not stack.flags.writeable
    again = p.table("samples", "physical")["stack"]
    address = stack.__array_interface__["data"][0]
    assert again.__array_interface__["data"][0] == address
    maps = [line.split() for line in open("/proc/self/maps", encoding="utf-8")]
    ranges = [[int(n, 16) for n in m[0].split("-")] for m in maps if m[-1] == str(plain)]
    assert any(first <= address < last for first, last in ranges)


def test_plain_and_packed_columns_are_equal(plain, cpu):
    p = pcol.open(plain)
    for table in p:
        for column in p[table]:
            a, b = p[table][column], cpu[table][column]
            assert a.dtype == b.dtype
            assert a.tolist() == b.tolist()


def test_arrays_are_read_only(cpu):
    for name in ("sample_id", "value"):
        with pytest.raises(ValueError):
            cpu.sample_values[name][0] = 9


def test_nulls(folded):
    lines = folded.functions["start_line"]
    assert isinstance(lines, np.ma.MaskedArray) and lines.mask.all()
    frame = folded.functions.to_pandas()
    assert frame["start_line"].dtype == pandas.Int64Dtype() and frame["start_line"].isna().all()
    assert frame["name"].dtype == "category"
    assert frame["name"].tolist() == ["main", "work", "read", "load"]


def test_names_that_are_not_utf8():
    p = pcol.open(b"main;w\xffrk 3\n", format="folded")
    assert p.functions["name"].tolist() == ["main", "w\\xffrk"]
    assert p.top(1).records()[0].name == "w\\xffrk"


def test_v1_lists(folded):
    samples = folded.table("samples", "v1")
    lists = [name for name in samples if samples.schema.loc[name, "type"] == "list"]
    assert lists
    assert all(len(samples[name]) == 4 for name in lists)


def test_frames(folded):
    frame = folded.frames().to_pandas()
    want = [("read", "work", "main"), ("work", "main"), ("load", "main"), ("main",)]
    assert frame.groupby("sample_id")["function"].agg(tuple).tolist() == want
    assert frame["depth"].tolist() == [1, 2, 3, 1, 2, 1, 2, 1]


@pytest.mark.parametrize("name", FILES)
def test_frames_equal_sample_locations(name):
    p = pcol.open(DATA / name)
    frames = p.frames()
    for column in ("sample_id", "depth", "location_id"):
        assert frames[column].tolist() == p.sample_locations[column].tolist()
    location = p.sample_locations["location_id"] - 1
    assert frames["line"].tolist() == p.locations["line"][location].tolist()
    function = np.ma.filled(p.locations["function_id"], 0)[location]
    own = p.locations["filename"] if "filename" in p.locations else [None] * p.locations.rows
    names, files = p.functions["name"], p.functions["filename"]
    assert frames["function"].tolist() == [names[row - 1] if row else None for row in function]
    assert frames["file"].tolist() == [files[row - 1] if row else own[at] for row, at in zip(function, location)]


def test_frames_of_code_outside_functions():
    text = "line profiling: sample.interval=20000\n#File 1: /a/b.R\n#File 2: c.R\n#File 3: d.R\n" \
           "1#3 \"f\" 2#5 \n1#7 \n3#9 \"g\" \n"
    frames = pcol.open(text.encode(), format="rprof").frames()
    assert frames["file"].tolist() == ["/a/b.R", "c.R", "/a/b.R", "d.R"]
    assert frames["function"].tolist() == ["f", None, None, "g"]
    assert frames["line"].tolist() == [3, 5, 7, 9]
    assert frames.to_pandas()["file"].tolist() == frames["file"].tolist()


def test_frames_outlive_the_profile_they_have_read(folded):
    p = pcol.open(b"main;work 3\nmain 2\n", format="folded")
    frames = p.frames()
    depth = frames["depth"].tolist()
    p.close()
    assert frames["depth"].tolist() == depth and frames["sample_id"].tolist()[0] == 1
    with pytest.raises(ValueError, match="closed"):
        frames["location_id"]


def test_buffers_of_frames_have_their_sizes(folded):
    handle, offsets = folded._file.frames()
    for lookup, out in ((None, np.empty(8, "int64")), (None, np.empty(7, "int32")), (np.zeros(1, "int8"), np.empty(8, "int8")),
                        (np.zeros(9, "int8"), np.empty(8, "int16"))):
        with pytest.raises(ValueError, match="sizes"):
            folded._file.gather(handle, offsets, lookup, out)
    for out in (np.empty(7, "int64"), np.empty(8, "int32")):
        with pytest.raises(ValueError, match="size"):
            _native.number(offsets, out, True)
    with pytest.raises(ValueError):
        folded._file.gather(offsets, offsets, None, np.empty(8, "int32"))
    with pytest.raises((BufferError, TypeError, ValueError)):
        folded._file.gather(handle, offsets, None, bytes(32))


def test_unknown_names(folded):
    with pytest.raises(KeyError, match="no table nothing"):
        folded["nothing"]
    with pytest.raises(KeyError, match="no column nothing"):
        folded.samples["nothing"]
    with pytest.raises(AttributeError):
        folded.nothing


def test_empty_profile():
    p = pcol.Builder("mytool").profile()
    assert p.samples.rows == 0 and len(p.frames().to_pandas()) == 0
    assert len(p.samples.to_pandas()) == 0


class ArrowSchema(ctypes.Structure):
    """The struct of the Arrow C data interface."""


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))), ("data", ctypes.c_void_p)]


class ArrowArray(ctypes.Structure):
    """The struct of the Arrow C data interface."""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))), ("data", ctypes.c_void_p)]


class ArrowStream(ctypes.Structure):
    """The struct of the Arrow C stream interface."""

    _fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                                ctypes.POINTER(ArrowSchema))),
                ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                              ctypes.POINTER(ArrowArray))),
                ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("data", ctypes.c_void_p)]


@pytest.mark.parametrize("in_memory", [True, False])
def test_arrow_arrays_outlive_the_profile(in_memory, cpu, plain):
    p = cpu if in_memory else pcol.open(plain)
    want = p.sample_values["value"].tolist()
    names = list(p.sample_values)
    capsule = p.sample_values.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    stream = ArrowStream.from_address(address)
    schema, array = ArrowSchema(), ArrowArray()
    assert stream.get_schema(address, schema) == 0
    assert [schema.children[i][0].name.decode() for i in range(schema.n_children)] == names
    assert schema.children[3][0].format == b"l"
    assert stream.get_next(address, array) == 0 and array.length == len(want)
    del capsule
    p.close()
    del p
    values = array.children[3][0]
    cells = (ctypes.c_int64 * array.length).from_address(values.buffers[1] + 8 * values.offset)
    assert list(cells) == want
    array.release(array)
    schema.release(schema)
