"""Opening: every kind of source, and errors with class, message and place."""
import gzip
import io
import mmap

import pytest
from conftest import DATA, FOLDED

import pcol


def test_sources_agree(tmp_path, cpu):
    path = tmp_path / "x.pcol"
    cpu.save(path)
    data = path.read_bytes()
    want = cpu.top().records()
    assert len(want) > 5
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    for source in (path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data),
                   open(path, "rb"), mapped, (DATA / "pprof" / "cpu.pb.gz").read_bytes(),
                   gzip.compress(data)):
        assert pcol.open(source).top().records() == want
    assert pcol.open(path, copy=True, verify=False, guard=False).top().records() == want


def test_bytearray_is_copied():
    data = bytearray(FOLDED)
    p = pcol.open(data, format="folded")
    data[:] = b"x" * len(data)
    assert p.top(1).records()[0].name == "work"


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError) as info:
        pcol.open(tmp_path / "missing.pcol")
    assert "missing.pcol" in str(info.value)
    with pytest.raises(FileNotFoundError):
        pcol.open(tmp_path / "missing" / "x.folded", format="folded")


def test_directory(tmp_path):
    with pytest.raises((IsADirectoryError, pcol.Error)):
        pcol.open(tmp_path)


def test_text_file_object(tmp_path):
    with pytest.raises(TypeError, match="binary"):
        pcol.open(io.StringIO("main 1"))


def test_unknown_format(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\x00\x01\x02 nothing")
    with pytest.raises(pcol.FormatError) as info:
        pcol.open(path)
    assert info.value.status == "E_FORMAT" and info.value.path == str(path)
    assert str(path) in str(info.value)
    for source in (b"", b"\x89PCOL\r\n\x1a", b"\x89PCOL\r\n\x1a" + bytes(200)):
        with pytest.raises(pcol.Error):
            pcol.open(source)


def test_malformed_input_has_a_place(tmp_path):
    path = tmp_path / "x.folded"
    path.write_bytes(b"main;work 3\nmain;work five\n")
    with pytest.raises(pcol.InputError) as info:
        pcol.open(path, format="folded")
    assert info.value.line == 2 and info.value.place.startswith("2:")
    assert str(info.value).count(str(path)) == 1


def test_every_byte_flipped_gives_an_answer_or_an_error(tmp_path, folded):
    path = tmp_path / "x.pcol"
    folded.save(path)
    data = path.read_bytes()
    refused = 0
    for at in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[at] ^= 0x55
        try:
            p = pcol.open(bytes(damaged))
            for table in p.values():
                table.to_pandas()
            p.frames().to_pandas()
        except pcol.Error as error:
            assert error.message and error.status
            refused += 1
    assert refused > 50


def test_error_of_a_closed_profile(folded):
    folded.close()
    assert folded.closed and "closed" in repr(folded)
    with pytest.raises(ValueError, match="closed"):
        folded.top()
    folded.close()
