"""Output: filter, merge, unpack, save, check; a failure leaves no file."""
import pytest
from conftest import DATA, FOLDED

import pcol


def test_unpack(folded, tmp_path):
    assert folded.unpack(format="folded") == FOLDED
    folded.unpack(tmp_path / "x.folded")
    assert (tmp_path / "x.folded").read_bytes() == FOLDED
    with pytest.raises(FileExistsError) as info:
        folded.unpack(tmp_path / "x.folded")
    assert isinstance(info.value, pcol.ExistsError)
    folded.unpack(tmp_path / "x.folded", overwrite=True)
    with pytest.raises(ValueError, match="give a format"):
        folded.unpack(tmp_path / "x")
    with pytest.raises(pcol.NotFoundError):
        folded.unpack(format="nothing")


def test_names_choose_formats(folded, tmp_path):
    for name, start in (("a.folded.gz", b"\x1f\x8b"), ("a.PB.GZ", b"\x1f\x8b"), ("a.pb", b"\x1f\x8b"),
                        ("a.speedscope.json", b'{"$schema"'), ("a.json", b'{"meta"')):
        folded.unpack(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start), name
    for name in ("a.jfr", "a.pcol", "a.txt"):
        with pytest.raises(ValueError):
            folded.unpack(tmp_path / name)
    builder = pcol.Builder("test", sample_types=[("samples", "count")])
    for name in ("b.pb.gz", "b.json", "b.folded", "b.jfr", "b.PCOL.gz", "b.gz"):
        for write in (folded.save, lambda path: pcol.merge(folded, path=path), builder.write,
                      lambda path: folded.filter(path=path), lambda path: folded.add_frames(root="source", path=path)):
            with pytest.raises(ValueError):
                write(tmp_path / name)
        assert not (tmp_path / name).exists(), name
    for name in ("c.pcol", "c.PCOL", "c", "c.txt"):
        folded.save(tmp_path / name)


def test_losses(cpu, tmp_path):
    with pytest.warns(pcol.LossWarning):
        cpu.unpack(format="folded")
    with pytest.raises(pcol.LossError):
        cpu.unpack(tmp_path / "x.folded", fail_on_loss=True)
    assert list(tmp_path.iterdir()) == []


def test_round_trip(cpu):
    assert pcol.open(cpu.unpack(format="pprof")).top().records() == cpu.top().records()


def test_filter(folded, tmp_path):
    part = folded.filter(focus="load")
    shown = ["name", "self", "total"]
    assert part.top().to_pandas(shown).equals(folded.top(focus="load").to_pandas(shown))
    assert folded.filter(path=tmp_path / "x.pcol", ignore="load") is None
    assert pcol.open(tmp_path / "x.pcol").samples.rows == 3
    assert folded.filter(anonymize=True).functions["name"].tolist() == ["f1", "f2", "f3", "f4"]


def test_merge_and_save(folded, tmp_path):
    path = tmp_path / "x.pcol"
    folded.save(path, archive=True)
    both = folded.merge(path, FOLDED)
    assert both.sources.rows == 3 and both.top().total == 30
    assert both.top(source=2).selected == 10
    with pytest.raises(pcol.ExistsError):
        folded.save(path)
    with pytest.raises(ValueError):
        folded.save(tmp_path / "y.pcol", plain=True, archive=True)
    with pytest.raises(ValueError):
        pcol.merge()
    with pytest.raises(FileNotFoundError):
        pcol.merge(tmp_path / "missing", folded)
    assert [file.name for file in tmp_path.iterdir()] == ["x.pcol"]


def test_check(folded, tmp_path):
    path = tmp_path / "x.pcol"
    folded.save(path)
    assert [fault for fault in pcol.open(path).check("strict") if not fault.note] == []
    data = bytearray(path.read_bytes())
    found = 0
    for at in range(400, len(data) - 64, 16):
        damaged = bytearray(data)
        damaged[at] ^= 1
        try:
            found += bool(pcol.open(bytes(damaged)).check())
        except pcol.Error:
            pass
    assert found > 0


def test_formats():
    names = {f.name: f for f in pcol.formats()}
    assert names["rprof"].reads and names["pprof"].writes


@pytest.mark.parametrize("name", ["rprof/demo.Rprof"])
def test_rprof(name):
    data = (DATA / name).read_bytes()
    assert pcol.open(data).unpack(format="rprof") == data


def test_the_picture_of_the_documentation():
    flame = pcol.open(DATA / "rprof" / "demo.Rprof").flame(title="pcol flame run.pcol", width=900, min_width=2)
    assert flame.svg == (DATA.parents[1] / "docs" / "flame.svg").read_text(encoding="utf-8")
