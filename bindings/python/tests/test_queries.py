"""Queries: a small profile by hand, a real one against the command."""
import math
import re
import sys

import numpy as np
import pytest
from conftest import DATA, ROOT, command

import pcol

sys.path.append(str(ROOT / "tests"))
from pprof_writer import field  # noqa: E402 pylint: disable=wrong-import-position


def test_top(folded):
    rows = {row.name: (row.self, row.total) for row in folded.top().records()}
    assert rows == {"work": (5, 8), "read": (3, 3), "main": (1, 10), "load": (1, 1)}
    assert folded.top().total == 10
    assert [row.name for row in folded.top(2, order="total").records()] == ["main", "work"]
    assert folded.top(focus="load").selected == 1


def test_a_selection_of_nothing(folded):
    with pytest.warns(pcol.PcolWarning, match="focus matches no frame") as caught:
        none = folded.top(focus="nowhere")
        folded.flame(focus="nowhere")
    assert [w.message.argument for w in caught] == ["focus", "focus"]
    assert {w.filename for w in caught} == {__file__}
    assert none.to_pandas()["name"].tolist() == [] and "self" in none


def test_top_equals_the_command(cpu):
    path = DATA / "pprof" / "cpu.pb.gz"
    rows = command("top", "--format", "csv", "-n", "0", path)
    want = [(row["function"] if "function" in row else row["name"], row["self"], row["total"])
            for row in rows]
    got = [(row.name, str(row.self), str(row.total)) for row in cpu.top().records()]
    assert got == want and len(got) > 10


def test_rows_of_a_result_are_those_of_tables(cpu):
    for result, table in ((cpu.top(), "functions"), (cpu.tree(), "functions"),
                          (cpu.top(by="mapping"), "mappings")):
        column = table.rstrip("s")
        names = cpu[table]["name" if table == "functions" else "filename"]
        rows = [(name, names[row]) for name, row in zip(result["name"], result[column].tolist())
                if row is not None]
        assert len(rows) > 0
        assert all(name == other for name, other in rows)


def test_tree_and_peek(folded):
    tree = folded.tree().to_pandas()
    assert tree["name"].tolist()[1:] == ["main", "work", "read", "load"]
    assert tree["parent"].isna().tolist() == [True, False, False, False, False]
    assert tree["parent"].tolist()[1:] == [0, 1, 2, 1]
    assert folded.tree(max_depth=1)["truncated"].tolist() == [False, True]
    bottom = folded.tree(bottom_up=True).to_pandas()
    assert bottom.loc[bottom["depth"] == 1, "name"].tolist()[0] == "work"
    peek = folded.peek("work").to_pandas()
    assert list(zip(peek["relation"], peek["name"])) == [
        ("caller", "main"), ("function", "work"), ("callee", "read")]


def test_diff(folded):
    other = pcol.open(b"main;work 9\n", format="folded")
    rows = {row.name: row for row in other.diff(folded).records()}
    assert rows["work"].self_delta == 4 and rows["read"].self_new == 0
    assert not rows["read"].in_new and rows["read"].in_base
    assert other.diff(folded, normalize=True).scale == pytest.approx(10 / 9)


def test_diff_by_types_of_any_length():
    def profile(types):
        b = pcol.Builder("test", sample_types=[(name, "count") for name, _ in types])
        stack = b.stack([b.location(b.function("work"))])
        b.samples(stack=[stack], values={name: [value] for name, value in types})
        return b.profile()

    common, other = "c" * 5000, "o" * 5000
    rows = profile([(other, 1), (common, 5)]).diff(profile([(common, 3)])).records()
    assert [(row.name, row.self_base, row.self_new) for row in rows] == [("work", 3, 5)]


def test_selection(tmp_path):
    b = pcol.Builder("mytool", sample_types=[("n", "count")])
    work = b.stack([b.location(b.function("work"))])
    threads = [b.thread("red"), b.thread("blue")]
    b.samples(stack=[work] * 3, values={"n": [1, 2, 4]}, time=[0.0, 10.0, 20.0],
              thread=[threads[0], threads[1], threads[0]])
    p = b.profile()
    assert p.top(thread="red").selected == 5
    assert p.top(time=(5, None)).selected == 6
    assert p.top(time=(None, 10)).selected == 1
    assert {r.name: r.self for r in p.top(by="thread").records()} == {"red": 5, "blue": 2}
    assert [fault for fault in p.check("strict") if not fault.note] == []


def test_labels():
    p = pcol.open(DATA / "pprof" / "small.pb.gz")
    names = [name for name in p.samples if name.startswith("label.")]
    assert names
    name = names[0]
    value = next(v for v in p.samples[name].tolist() if v is not None)
    key = name.removeprefix("label.")
    count = p.samples[name].tolist().count(value)
    pattern = re.compile("^" + str(value) + "$")
    for labels in ({key: value}, [f"{key}={value}"], f"{key}={value}", {key: pattern}):
        assert p.filter(labels=labels).samples.rows == count > 0


def test_forms_of_labels():
    p = pcol.open(DATA / "pprof" / "cpu.pb.gz")
    kinds = p.samples["label.kind"].tolist()
    known = set(kinds) - {None}
    assert len(known) > 1
    for kind in known:
        others = [k for k in kinds if k != kind]
        assert p.filter(labels=[f"kind!={kind}"]).samples.rows == len(others)
        assert p.filter(labels=[f"kind!~^{kind}$"]).samples.rows == len(others)
        with pytest.warns(pcol.PcolWarning, match="no sample"):
            assert p.filter(labels=[f"kind={kind}", f"kind!={kind}"]).samples.rows == 0


def test_numbers_and_bounds_of_labels():
    p = labelled((b"n", 10 ** 16), (b"n", 7))
    assert p.top(labels={"n": 1e16}).selected == 1
    assert p.top(labels={"n": (-math.inf, 1e3)}).selected == 3
    assert p.top(labels={"n": (8, math.inf)}).selected == 1
    assert p.top(labels={"n": (8, 10**400)}).selected == 1
    assert p.top(labels={"n": (-10**400, 1e3)}).selected == 3
    assert p.top(labels={"n": (np.int64(8), np.inf)}).selected == 1
    for value in (math.nan, 0), (math.inf, None), (None, None), (-math.inf, math.inf):
        with pytest.raises(ValueError, match="range of 'n'"):
            p.top(labels={"n": value})


def test_source_is_an_id_or_a_pattern(folded):
    assert folded.top(source=np.int32(1)).selected == folded.top(source="1").selected == 10
    for source in ["1"], (1,), {1}, True, 1.0, b"1":
        with pytest.raises(TypeError, match="source must be an id or a pattern"):
            folded.top(source=source)


def test_selection_that_nothing_passes():
    p = labelled((b"n", 7))
    for selection in {"labels": {"n": 8}}, {"labels": {"n": (1, 0)}}, {"ignore": "main"}:
        with pytest.warns(pcol.PcolWarning, match="^no sample passes the selection$"):
            assert p.top(**selection).selected == 0


def labelled(*labels, sample_type=b"samples"):
    """A pprof profile whose sample of the value 3^i has the i-th of (key, text or number)."""
    texts = [b"", sample_type, b"count", b"main"]

    def text(value):
        texts.append(value)
        return len(texts) - 1

    data = field(1, field(1, 1) + field(2, 2))
    for i, (key, value) in enumerate(labels):
        is_text = isinstance(value, bytes)
        label = field(1, text(key)) + field(2 if is_text else 3, text(value) if is_text else value)
        data += field(2, field(1, 1) + field(2, 3 ** i) + field(3, label))
    data += field(4, field(1, 1) + field(4, field(1, 1))) + field(5, field(1, 1) + field(2, 3))
    return pcol.open(data + b"".join(field(6, value) for value in texts), format="pprof")


def test_values_of_labels():
    p = labelled((b"k", b"GET"), (b"k", b"get"), (b"k", b"true"), (b"k", b"a\nb"), (b"n", 2), (b"n", 7))
    for labels, total in (({"k": re.compile("get", re.IGNORECASE)}, 4), ({"k": re.compile("(?i)get")}, 4),
                          ({"k": re.compile("get")}, 3), ({"k": "get"}, 3), ({"k": True}, 9),
                          ({"k": re.compile("a.b", re.DOTALL)}, 27), ({"n": 2}, 81), ({"n": 7.0}, 243),
                          ({"n": (3, None)}, 243)):
        assert p.top(labels=labels).total == total, labels
    for bad, error in ((None, TypeError), (b"get", TypeError), (["get"], TypeError), (("a",), TypeError),
                       (re.compile(b"get"), TypeError), (re.compile("g e t", re.VERBOSE), ValueError),
                       (re.compile("^get", re.MULTILINE), ValueError),
                       ((None, None), ValueError), ("get\0x", ValueError)):
        with pytest.raises(error):
            p.top(labels={"k": bad})


def test_bytes_that_are_no_text():
    p = labelled((b"k\xff", b"v\xff"), sample_type=b"c\xff")
    assert p.label_keys() == ["k\\xff"] and "label.k\\xff" in p.samples
    assert p.samples["label.k\\xff"].tolist() == ["v\\xff"] and "c\\xff" in repr(p.top())
    for wrong in ({"labels": ["zz=1"]}, {"by": "label", "label": "zz"}, {"sample_type": "zz"}):
        with pytest.raises(pcol.ArgumentError, match="xff"):
            p.top(**wrong)


def test_label_keys():
    assert pcol.open(DATA / "pprof" / "cpu.pb.gz").label_keys() == ["kind", "none", "request"]
    assert pcol.open(DATA / "rprof" / "plain.Rprof").label_keys() == []
    tables = sorted((DATA / "pprof").glob("*.pb.gz"))
    assert len(tables) > 3
    for path in tables:
        p = pcol.open(path)
        try:
            stored = set(p.table("label_keys", "physical")["key"].tolist())
        except KeyError:  # no labels
            stored = set()
        assert p.label_keys() == sorted(stored, key=str.encode), path
        for key in p.label_keys():
            p.top(by="label", label=key)


def test_ranges_of_labels():
    p = pcol.open(DATA / "pprof" / "heap.pb.gz")
    name = next(n for n in p.samples if n.startswith("label.bytes"))
    sizes = [size for size in p.samples[name].tolist() if size is not None]
    low, high = sorted(set(sizes))[1], sorted(set(sizes))[-2]
    inside = sum(low <= size <= high for size in sizes)
    assert 0 < inside < len(sizes)
    for labels in ({"bytes": (low, high)}, f"bytes={low}:{high}"):
        assert p.filter(labels=labels).samples.rows == inside
    from_low = sum(low <= size for size in sizes)
    assert p.filter(labels={"bytes": (low, None)}).samples.rows == from_low > inside
    to_low = sum(size <= low for size in sizes)
    assert p.filter(labels={"bytes": (None, low)}).samples.rows == to_low > 0


def test_source_metas():
    parts = []
    for host in ("a1", "a2", "b1"):
        builder = pcol.Builder("test", sample_types=[("samples", "count")], meta={"host": host})
        stack = builder.stack([builder.location(builder.function(host))])
        builder.samples(stack=[stack], values={"samples": [1]})
        parts.append(builder.profile())
    p = pcol.merge(*parts)
    for metas, names in (({"host": "a1"}, {"a1"}), ({"host": re.compile("^a")}, {"a1", "a2"}),
                         (["host~^a", "host=a2"], {"a2"})):
        assert {row.name for row in p.top(source_metas=metas).records()} == names
    with pytest.raises(pcol.ArgumentError):
        p.top(source_metas={"host": "none"})


def test_bases_are_whatever_open_takes(folded, tmp_path):
    path = tmp_path / "base.folded"
    path.write_bytes(b"main;work 9\n")
    other = pcol.open(path)
    for base in (path, str(path), path.read_bytes(), [path], (other, path)):
        assert folded.diff(base)["self_delta"].tolist() == folded.diff(other)["self_delta"].tolist()
    assert folded.flame(base=path).svg == folded.flame(base=other).svg
    with pytest.raises(FileNotFoundError):
        folded.diff("nothing.folded")


def test_answers_show_their_unit_and_the_end_of_paths():
    builder = pcol.Builder("test", sample_types=[("cpu", "nanoseconds")])
    path = "/usr/" + 10 * "long/" + "end.c"
    stack = builder.stack([builder.location(builder.function(60 * "n", path), line=7)])
    builder.samples(stack=[stack], values={"cpu": [5]})
    p = builder.profile()
    lines = repr(p.top(by="srcline")).splitlines()
    assert lines[0] == "top: 1 rows of cpu/nanoseconds, total 5"
    assert lines[2].startswith("...") and "/end.c#7 " in lines[2]
    assert repr(p.top()).splitlines()[2].startswith(45 * "n" + "... ")
    assert repr(p.diff([p])).startswith("diff: 1 rows of cpu/nanoseconds, total 5 to 5\n")
    assert repr(p.sources).startswith("sources: 1 rows\n")


def test_bad_arguments(folded):
    with pytest.raises(ValueError, match="must be one of"):
        folded.top(by="nothing")
    with pytest.raises(TypeError):
        folded.top(nothing=1)
    with pytest.raises(pcol.ArgumentError):
        folded.top(focus="(")
    with pytest.raises(pcol.ArgumentError) as info:
        folded.top(sample_type="nothing")
    assert "nothing" in str(info.value)


def test_flame(folded, tmp_path):
    other = pcol.open(b"<b>&\";work 9\n", format="folded")
    graph = other.flame(title="a & b")
    html = graph._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts"') and "allow-same-origin" not in html
    assert html.count("<") == 2 and html.count('"') == 6
    graph.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == graph.svg
    assert "read" in folded.flame(base=other).svg
    assert "<iframe" in folded._repr_html_()
    for answer, title in [(folded.top(), "of samples/count, total "), (folded.samples, "samples: ")]:
        assert title in answer._repr_html_().split("<table")[0]
    hostile = pcol.open(b'{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": '
                        b'[{"name": "f"}]}, "profiles": [{"type": "sampled", "name": "<b>", "unit": "bytes", '
                        b'"startValue": 0, "endValue": 1, "samples": [[0]], "weights": [1]}]}')
    assert "<b>" not in hostile.samples._repr_html_()


def test_wrong_arguments_are_named(folded):
    with pytest.raises(TypeError, match="unknown argument 'fokus'; selections: sample_type, focus"):
        folded.top(fokus="x")
    for arguments in [{"by": "label"}, {"by": "meta"}, {"label": "kind"}]:
        with pytest.raises(ValueError, match="label is the key of by='label' and by='meta', which require it"):
            folded.top(**arguments)
        with pytest.raises(ValueError, match="which require it"):
            folded.diff(folded, **arguments)
    with pytest.raises(ValueError, match="n must not be negative"):
        folded.top(-1)
    assert folded.top(0).rows == 0
    with pytest.raises(TypeError):
        folded.top(1.5)
    for time in ((1,), (1, 2, 3), "12", 5):
        with pytest.raises(TypeError, match="time must be"):
            folded.top(time=time)
    with pytest.raises(TypeError, match="focus must be a string, not int"):
        folded.filter(focus=3)
    with pytest.raises(KeyError, match="no table x; it has meta, sources, samples"):
        folded["x"]
