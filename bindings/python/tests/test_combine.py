"""Profiles made of others: merge, sums, filter, added frames, symbols; arguments of errors."""
import warnings

import pytest
from conftest import DATA, FOLDED

import pcol

OTHER = b"main;work 2\nmain;rest 4\n"


def selves(profile, **options):
    return {row.name: row.self for row in profile.top(**options).records()}


def heap(start):
    """A heap profile of addresses; the reader takes the byte before each return address."""
    def line(*offsets):
        return " ".join(f"{start + offset + 1:#x}" for offset in offsets)
    return (f"heap profile: 2: 300 [2: 300] @ heap/1\n1: 100 [1: 100] @ {line(0x1000, 0x2000)}\n"
            f"1: 200 [1: 200] @ {line(0x1100, 0x2000)}\nMAPPED_LIBRARIES:\n"
            f"{start:08x}-{start + 0x100000:08x} r-xp 00000000 00:00 0  /bin/prog\n").encode()


def test_sums(folded, cpu):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        summed = pcol.merge(folded, folded, pcol.open(OTHER, format="folded"), sums=True)
    assert {type(warning.message) for warning in caught} == {pcol.LossWarning}
    assert {warning.filename for warning in caught} == {__file__}
    assert summed.samples.rows == 5
    assert selves(summed) == {"work": 12, "read": 6, "main": 2, "load": 2, "rest": 4}
    with pytest.warns(pcol.LossWarning):
        by_kind = cpu.merge(DATA / "pprof" / "cpu.pb.gz", sums="kind")
    assert by_kind.samples.rows < cpu.samples.rows
    assert selves(by_kind, by="label", label="kind") == {
        kind: 2 * value for kind, value in selves(cpu, by="label", label="kind").items()}
    with pytest.raises(ValueError, match="at least one profile"):
        pcol.merge(sums=True)
    with pytest.raises(FileNotFoundError):
        pcol.merge(folded, "missing.pb", sums=True)
    with pytest.raises(TypeError):
        pcol.merge(folded, 5, sums=True)


def test_rebase():
    inputs = heap(0x400000), heap(0x700000)
    assert pcol.merge(*inputs).locations.rows == 6
    assert pcol.merge(*inputs, rebase=True).locations.rows == 3
    with pytest.warns(pcol.LossWarning):
        assert pcol.merge(*inputs, sums=True, rebase=True).samples.rows == 2


def test_diff_with_several_bases():
    profiles = [pcol.open(f"main;f {n}\nmain 1\n".encode(), format="folded") for n in (2, 8, 3)]
    new = pcol.open(b"main;f 9\n", format="folded")
    rows = {row.name: row for row in new.diff(profiles).records()}
    assert (rows["f"].self_base, rows["f"].self_min, rows["f"].self_max) == (3, 2, 8)
    assert (rows["f"].self_new, rows["f"].self_delta, rows["f"].total_mad) == (9, 6, 1)
    assert new.diff(profiles[:1]).records() == new.diff(profiles[0]).records()
    with pytest.raises(ValueError, match="needs a base"):
        new.diff([])
    with pytest.raises(TypeError):
        new.diff([profiles[0], 7])
    profiles[1].close()
    with pytest.raises(ValueError, match="closed"):
        new.diff(profiles)
    profiles[0].close()  # no query of the failed call keeps it open


def test_sample_type_of_several_bases(folded):
    both = pcol.merge(heap(0x400000), folded)  # the default of both is that of the heap profile
    assert both.diff(both).unit == "bytes"
    assert both.diff([both, folded]).unit == both.diff([folded, both]).unit == "count"
    with pytest.raises(pcol.ArgumentError, match="in common: base 2 has"):
        both.diff([folded, heap(0x400000)])


def test_drop_labels(cpu):
    assert "label.kind" in cpu.samples
    assert "label.kind" not in cpu.filter(drop_labels=["kind"]).samples
    assert "label.kind" not in cpu.filter(drop_labels="kind").samples
    assert not [name for name in cpu.filter(drop_labels=True).samples if name.startswith("label")]


def test_add_frames(folded, cpu, tmp_path):
    rooted = cpu.add_frames(root="label:kind").tree(max_depth=1)["name"].tolist()[1:]
    kinds = selves(cpu, by="label", label="kind")
    assert set(rooted) - {"<unknown>"} == {kind for kind in kinds if kind is not None}
    both = pcol.merge(FOLDED, OTHER)
    leaves = {name: value for name, value in selves(both.add_frames(leaf=["source"])).items() if value}
    assert leaves == {"input": 16}
    path = tmp_path / "framed.pcol"
    assert folded.add_frames(root="source", path=path, plain=True) is None
    assert pcol.open(path).functions["name"].tolist().count("input") == 1
    with pytest.raises(ValueError, match="needs a root or a leaf"):
        folded.add_frames()
    for wrong in ("colour", "label:none"):
        with pytest.raises(pcol.ArgumentError):
            folded.add_frames(root=wrong)


def test_symbolize():
    p = pcol.open(heap(0x400000))
    addresses = p.addresses()
    assert {a.offset for a in addresses} == {0x1000, 0x1100, 0x2000}
    assert {a.address - a.offset for a in addresses} == {0x400000}
    assert {a.mapping for a in addresses} == {"/bin/prog"}
    known = {0x2000: pcol.Symbol("main", "main.c", 12),
             0x1000: [("inlined",), ("work", "work.c", 7)]}
    named = p.symbolize([known.get(a.offset) for a in addresses], meta={"symbolizer": "test"})
    top = {row.name: (row.self, row.total) for row in named.top(sample_type="space").records()}
    assert top["main"] == (0, 300) and top["work"] == (0, 100) and top["inlined"] == (100, 100)
    assert [a.offset for a in named.addresses()] == [0x1100]
    lines = named.top(by="line", sample_type="space").to_pandas().set_index("name")
    assert lines.loc["work", "file"] == "work.c" and lines.loc["work", "line"] == 7
    assert named.sources["symbolizer"].tolist() == ["test"]
    assert [fault for fault in named.check("strict") if not fault.note] == []
    for wrong in ([], [None] * 4):
        with pytest.raises(ValueError, match="one entry for each of the 3 addresses"):
            p.symbolize(wrong)
    with pytest.raises(TypeError):
        p.symbolize([("f", 5), None, None])


def test_errors_name_the_argument(folded):
    for selection, argument in (({"focus": "("}, "focus"), ({"hide": "["}, "hide"),
                                ({"source": "none"}, "source"), ({"labels": ["k"]}, "labels")):
        with pytest.raises(pcol.ArgumentError) as caught:
            folded.top(**selection)
        assert caught.value.argument == argument
        assert caught.value.message.startswith(argument + ": ")
    stackless = b"threadcreate profile: total 1\n1 @\n"
    with pytest.raises(pcol.MalformedError, match=r"\(lenient=True permits it\)") as caught:
        pcol.open(stackless, name="threads")
    assert caught.value.argument == "lenient"
    with pytest.warns(pcol.PcolWarning):
        pcol.open(stackless, name="threads", lenient=True)
    with pytest.raises(pcol.Error) as caught:
        pcol.open(b"no profile", name="x.bin")
    assert caught.value.argument in (None, "format")
