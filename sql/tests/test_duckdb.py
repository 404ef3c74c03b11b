"""Tests of build/pcol.duckdb_extension in several versions of DuckDB, against `pcol cat` and `pcol top`."""
import json
import os
import platform
import random
import re
import subprocess

import pytest

from duckdb_node import VERSIONS, Failed, Session
from profiles_made import HOSTILE, WITHOUT_SAMPLES, pprof
from tables import DATA, GOLDEN, MODELS, OUT, is_answer, pcol, plain, profiles, rows, schema

CPU = DATA / "pprof/cpu.pb.gz"
DEMO = DATA / "rprof/demo.Rprof"
SQL_TYPES = {"i64": "BIGINT", "u64": "UBIGINT", "u32": "UINTEGER", "f64": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR",
             "bytes": "BLOB", "list": "BIGINT[]"}


@pytest.fixture(scope="session", params=VERSIONS)
def each(request):
    """A session of each version of DuckDB."""
    session = Session(request.param)
    yield session
    session.close()


@pytest.fixture(scope="session")
def db():
    """A session of the newest version."""
    session = Session(VERSIONS[-1])
    yield session
    session.close()


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


# ---- the same rows as pcol cat

def written(value, kind, is_blob):
    """A cell as text that DuckDB casts to the type of the column."""
    value = plain(value, kind)
    if value is None:
        return None
    if is_blob:
        return (value if isinstance(value, bytes) else value.encode()).hex()
    if kind == "list":
        return "[" + ",".join(map(str, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else repr(value) if kind == "f64" else str(value)


def expected_table(db, path, described, lines, blobs):
    """Creates the table `expected` from rows of `pcol cat`."""
    columns = [f"c{i}" for i in range(len(described))]
    with path.open("w") as out:
        for row in lines:
            cells = [written(value, kind, blob) for value, (_, kind), blob in zip(row, described, blobs)]
            out.write(json.dumps(dict(zip(columns, cells))) + "\n")
    spec = ", ".join(f"{c}: 'VARCHAR'" for c in columns)
    casts = ", ".join(f"from_hex({c}) AS {c}" if blob else f"CAST({c} AS {SQL_TYPES[kind]}) AS {c}"
                      for c, (_, kind), blob in zip(columns, described, blobs))
    db.ask(f"CREATE OR REPLACE TABLE expected AS SELECT {casts} FROM read_json({quoted(path)}, format = 'newline_delimited', "
           f"columns = {{{spec}}}, maximum_object_size = 100000000)")
    return columns


def compare(db, path, folder):
    seen = 0
    for model in MODELS:
        for table, described in schema(path, model).items():
            call = f"read_pcol({quoted(path)}, table_name := {quoted(table)}, model := '{model}')"
            lines = None if is_answer(path, table) else rows(path, model, table)
            if is_answer(path, table):
                continue
            if lines is None:
                with pytest.raises(Failed, match=path.name.replace(".", r"\.")):
                    db.ask(f"FROM {call}")
                continue
            types = [row[1] for row in db.rows(f"DESCRIBE FROM {call}")]
            blobs = [t == "BLOB" for t in types]
            wanted = [SQL_TYPES[kind] for _, kind in described]
            assert types == wanted or all(t == w or (t, w) == ("BLOB", "VARCHAR") for t, w in zip(types, wanted)), (model, table)
            columns = expected_table(db, folder / "expected.json", described, lines, blobs)
            ours = f"SELECT * FROM {call} AS t({', '.join(columns)})"
            assert db.rows(f"(({ours}) EXCEPT ALL (FROM expected)) UNION ALL ((FROM expected) EXCEPT ALL ({ours}))") == [], (model, table)
            assert db.rows(f"SELECT count(*) FROM {call}") == [(str(len(lines)),)], (model, table)
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("path", profiles(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_tables_equal_cat(db, path, tmp_path):
    """EXCEPT ALL is empty both ways for each table of each model."""
    compare(db, path, tmp_path)


def test_tables_equal_cat_in_each_version(each, tmp_path):
    for path in (GOLDEN / "1.0/valid/rich.pcol", GOLDEN / "1.0/valid/encodings.pcol", CPU):
        compare(each, path, tmp_path)


# ---- wide samples

def wide(path):
    """Wide samples from `pcol cat`: (sample_id, {type: value}, frames innermost first)."""
    samples = [row[0] for row in rows(path, "v2", "samples")]
    values = {s: {} for s in samples}
    types = [name for name, _ in schema(path, "v2")["sample_values"]]
    for row in rows(path, "v2", "sample_values"):
        cells = dict(zip(types, row))
        values[cells["sample_id"]][cells["type"], cells["unit"]] = cells["value"]
    frames = {s: [] for s in samples}
    text = pcol("cat", "-q", "--format", "ndjson", "--join", "--table", "sample_locations", path)
    for line in text.splitlines():
        row = json.loads(line)
        frames[row["sample_id"]].append(row)
    return values, frames


@pytest.mark.parametrize("path", [CPU, DEMO, DATA / "pprof/heap.pb.gz", DATA / "folded/small.folded"], ids=lambda p: p.name)
def test_wide_samples(each, path):
    values, frames = wide(path)
    kinds = sorted({key for v in values.values() for key in v})
    names = [t if sum(t == other for other, _ in kinds) == 1 else f"{t}/{u}" for t, u in kinds]
    shown = ", ".join('"' + n.replace('"', '""') + '"' for n in names)
    got = each.rows(f"SELECT sample_id, len(frames), line, {shown} FROM read_pcol({quoted(path)}) ORDER BY sample_id")
    assert len(got) == len(values)
    for sample, depth, line, *cells in got:
        sample = int(sample)
        stack = frames[sample]
        expected = [values[sample].get(key) for key in kinds]
        assert [None if c is None else float(c) for c in cells] == [None if c is None else float(c) for c in expected]
        assert depth is None and not stack or int(depth) == len(stack)
        assert (None if line is None else int(line)) == (stack[0]["line"] if stack else None)


@pytest.mark.parametrize("path", [CPU, DEMO, DATA / "jfr/small.jfr", DATA / "speedscope/small.speedscope.json"], ids=lambda p: p.name)
def test_group_by_function_equals_top(each, path):
    top = json.loads(pcol("top", "-q", "--format", "json", "-n", 0, path))
    info = json.loads(pcol("info", "-q", "--format", "json", path))
    types = [row["type"] for row in info["sample_types"]]
    kind = next(row for row in info["sample_types"] if row["default"])
    kind = kind["type"] if types.count(kind["type"]) == 1 else f'{kind["type"]}/{kind["unit"]}'
    got = dict(each.rows(f'SELECT function, sum("{kind}") FROM read_pcol({quoted(path)}) GROUP BY ALL'))
    assert top
    for row in top:
        assert float(got.get(row["name"], 0)) == float(row["self"]), row["name"]


TOPS = [("", []), ("by := 'file'", ["--by", "file"]), ("by := 'line'", ["--by", "line"]), ("by := 'srcline'", ["--by", "srcline"]),
        ("by := 'location'", ["--by", "location"]), ("by := 'label:kind'", ["--by", "label:kind"]),
        ("by := 'source'", ["--by", "source"]), ("focus := 'fib', sample_type := 'samples'", ["--focus", "fib", "--sample-type", "samples"])]


@pytest.mark.parametrize("parameters, options", TOPS, ids=range(len(TOPS)))
def test_top(each, parameters, options):
    """pcol_top() has the rows of `pcol top`, in the same order."""
    call = ", ".join([quoted(CPU), *([parameters] if parameters else [])])
    expected = json.loads(pcol("top", "-q", "--format", "json", "-n", 0, *options, CPU))
    got = each.rows(f"SELECT self::VARCHAR, total::VARCHAR FROM pcol_top({call})")
    assert got == [(str(row["self"]), str(row["total"])) for row in expected] and got
    if "name" in expected[0]:
        assert [row[0] for row in each.rows(f"SELECT name FROM pcol_top({call})")] == [row["name"] for row in expected]


def test_top_of_several_files(each):
    call = f"pcol_top([{quoted(CPU)}, {quoted(DEMO)}], profile := true)"
    for path in (CPU, DEMO):
        rows_of = len(json.loads(pcol("top", "-q", "--format", "json", "-n", 0, path)))
        assert each.rows(f"SELECT count(*) FROM {call} WHERE profile = {quoted(path)}") == [(str(rows_of),)]
    for parameters, message in (("by := 'nope'", "unknown by := nope; use function"), ("sample_type := 'nope'", r"cpu\.pb\.gz: "),
                                ("time_from := 0", None)):
        if message is None:
            assert each.rows(f"SELECT count(*) FROM pcol_top({quoted(CPU)}, {parameters}) WHERE self <> 0") == [("0",)]
            continue
        with pytest.raises(Failed, match=message):
            each.ask(f"FROM pcol_top({quoted(CPU)}, {parameters})")


def test_stacks(each):
    """pcol_stacks() has the same frames as the wide samples with these stacks."""
    for path in (CPU, DEMO):
        call = quoted(path)
        assert each.rows(f"SELECT count(*) FROM read_pcol({call}) s JOIN pcol_stacks({call}) k USING (stack_id) "
                         "WHERE s.frames IS DISTINCT FROM k.frames OR s.function::VARCHAR IS DISTINCT FROM k.function::VARCHAR "
                         "OR len(k.frames) <> k.depth") == [("0",)]
        assert each.rows(f"SELECT count(*) FROM pcol_stacks({call})") == \
            [(pcol("count", "--physical", "--table", "stacks", path).decode().strip(),)]


def test_enum(each):
    types = dict(row[:2] for row in each.rows(f"DESCRIBE FROM read_pcol({quoted(CPU)})"))
    assert types["function"].startswith("ENUM(") and types["filename"].startswith("ENUM(") and types["frames"] == "VARCHAR[]"
    names = [row[0] for row in each.rows(f"SELECT DISTINCT function FROM read_pcol({quoted(CPU)}) ORDER BY function")]
    assert names == sorted(names) and "main.fib" in names
    assert each.rows(f"SELECT count(*) FROM read_pcol({quoted(CPU)}) WHERE function = 'main.fib'") > [("0",)]
    several = dict(row[:2] for row in each.rows(f"DESCRIBE FROM read_pcol([{quoted(CPU)}, {quoted(DEMO)}])"))
    assert several["function"] == several["filename"] == "VARCHAR"


SELECTIONS = [("focus := 'main.hash'", ["--focus", "main.hash"]), ("ignore := 'main'", ["--ignore", "main"]),
              ("label := 'kind=count'", ["--label", "kind=count"]),
              ("focus := 'fib', label := 'request~r[01]'", ["--focus", "fib", "--label", "request~r[01]"])]


@pytest.mark.parametrize("parameters, options", SELECTIONS, ids=range(len(SELECTIONS)))
def test_selection(each, parameters, options):
    expected = pcol("count", *options, CPU).decode().strip()
    assert each.rows(f"SELECT count(*) FROM read_pcol({quoted(CPU)}, {parameters})") == [(expected,)]
    expected = pcol("count", "--table", "sample_values", *options, CPU).decode().strip()
    assert each.rows(f"SELECT count(*) FROM read_pcol({quoted(CPU)}, table_name := 'sample_values', {parameters})") == [(expected,)]


@pytest.mark.parametrize("path", [DATA / "jfr/small.jfr", DATA / "tachyon/small.tach", DATA / "firefox/small.json"],
                         ids=lambda p: p.name)
def test_time(each, path):
    """Samples with a duration, which ranges may cut, and without."""
    times = sorted(float(row[0]) for row in each.rows(f"SELECT time FROM read_pcol({quoted(path)})"))
    middle = times[len(times) // 2]
    for a, b in ((times[0], middle), (middle, times[-1] + 1)):
        expected = pcol("count", "-q", "--time", f"{a:.6f}ms-{b:.6f}ms", path).decode().strip()
        assert each.rows(f"SELECT count(*) FROM read_pcol({quoted(path)}, time_from := {a!r}, time_to := {b!r})") == [(expected,)]


# ---- paths

def test_paths(each, tmp_path):
    for i in range(3):
        pcol("pack", "-o", tmp_path / f"part{i}.pcol", DEMO if i else CPU)
    each_count = [pcol("count", DEMO if i else CPU).decode().strip() for i in range(3)]
    pattern = quoted(tmp_path / "part*.pcol")
    got = each.rows(f"SELECT profile, count(*) FROM read_pcol({pattern}, profile := true) GROUP BY ALL ORDER BY 1")
    assert got == [(str(tmp_path / f"part{i}.pcol"), each_count[i]) for i in range(3)]
    # The union by name: columns of one file are null in the others.
    got = each.rows(f"SELECT count(*), count(cpu), count(request) FROM read_pcol({pattern})")
    alone = each.rows(f"SELECT count(cpu), count(request) FROM read_pcol({quoted(CPU)})")
    assert got == [(str(sum(map(int, each_count))), *alone[0])]
    both = f"[{quoted(tmp_path / 'part0.pcol')}, {quoted(tmp_path / 'part[12].pcol')}]"
    assert each.rows(f"SELECT count(*) FROM read_pcol({both})") == [(str(sum(map(int, each_count))),)]
    for paths, message in ((quoted(tmp_path / "no*.pcol"), "no file matches"), ("[]", "list of paths"), ("NULL", "first parameter"),
                           ("42", "first parameter"), (quoted(tmp_path / "**/x.pcol"), "not supported"),
                           (f"[{pattern}, {quoted(tmp_path / 'missing.pcol')}]", r"missing\.pcol: cannot open")):
        with pytest.raises(Failed, match=message):
            each.ask(f"FROM read_pcol({paths})")


def test_tables_without_columns(each, tmp_path):
    path = tmp_path / "empty.pb"
    path.write_bytes(WITHOUT_SAMPLES)
    call = "'samples', model := 'physical')"
    with pytest.raises(Failed, match=r"empty\.pb: the table has no columns"):
        each.ask(f"FROM pcol_scan({quoted(path)}, {call}")
    count = pcol("count", CPU).decode().strip()
    assert each.rows(f"SELECT count(*) FROM pcol_scan([{quoted(path)}, {quoted(CPU)}], {call}") == [(count,)]


def test_replacement_scan(each, tmp_path):
    path = tmp_path / "it's.pcol"
    pcol("pack", "-o", path, CPU)
    count = pcol("count", CPU).decode().strip()
    for name in (path, CPU):
        assert each.rows(f"SELECT count(*) FROM {quoted(name).replace(chr(39) * 2, chr(39) * 2)}") == [(count,)]
    functions = pcol("count", "--table", "functions", CPU).decode().strip()
    assert each.rows(f"SELECT count(*) FROM {quoted(str(path) + '#functions')}") == [(functions,)]
    with pytest.raises(Failed, match="no table 'nope'"):
        each.ask(f"FROM {quoted(str(path) + '#nope')}")
    # Names that DuckDB reads itself stay its own.
    plain_json = tmp_path / "x.json"
    plain_json.write_text('{"a": 1}\n')
    assert each.rows(f"SELECT a FROM {quoted(plain_json)}") == [("1",)]


def test_tables(each):
    got = {row[1]: (int(row[2]), int(row[3])) for row in each.rows(f"FROM pcol_tables({quoted(CPU)})")}
    tables = schema(CPU, "v2")
    assert set(tables) <= set(got)
    for table, described in tables.items():
        assert got[table] == (len(rows(CPU, "v2", table)), len(described))


def test_model_and_table(each):
    for sql, message in ((f"read_pcol({quoted(CPU)}, model := 'v9')", "unknown model v9"),
                         (f"pcol_scan({quoted(CPU)}, NULL)", "needs the name of a table"),
                         (f"read_pcol({quoted(CPU)}, focus := '(')", r"cpu\.pb\.gz: "),
                         (f"read_pcol({quoted(CPU)}, table_name := 'functions', focus := 'x')", r"cpu\.pb\.gz: ")):
        with pytest.raises(Failed, match=message):
            each.ask(f"FROM {sql}")
    assert each.rows(f"SELECT count(*) FROM pcol_scan({quoted(CPU)}, 'samples', model := 'v1')") == [(pcol("count", CPU).decode().strip(),)]


# ---- hostile input

@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(each, tmp_path, name):
    path = tmp_path / "hostile.pb"
    path.write_bytes(pprof([b"samples", b"count", name], [(b"key", name + b"v"), (name + b"k", b"value")]))
    call = f"read_pcol({quoted(path)})"
    answer = each.ask(f"FROM {call}")
    assert "value" in answer["rows"][0] or b"value".decode() in str(answer["rows"])
    try:
        text = name.decode()
    except UnicodeDecodeError:
        text = None
    function = each.rows(f"SELECT function::VARCHAR, frames[1] FROM {call}")
    escaped = "".join(chr(b) if 0 < b < 0x80 else f"\\x{b:02x}" for b in name) if text is None or "\0" in text else text
    if name:
        assert function == [(escaped, escaped)]
    if name and text is not None:
        got = each.rows(f"SELECT hex(encode(name)) FROM pcol_scan({quoted(path)}, 'functions')")
        assert got == [(name.hex().upper(),)]
    elif name:
        got = each.rows(f"SELECT hex(name) FROM pcol_scan({quoted(path)}, 'functions')")
        assert got == [(name.hex().upper(),)]


def test_reserved_labels(each, tmp_path):
    path = tmp_path / "reserved.pb"
    keys = [b"time", b"FUNCTION", b"frames", b"key", b"KEY", b"sample_id"]
    path.write_bytes(pprof([b"samples", b"count", b"f"], [(key, b"of " + key) for key in keys]))
    answer = each.ask(f"FROM read_pcol({quoted(path)})")
    row = dict(zip(answer["names"], answer["rows"][0]))
    assert row["label.time"] == "of time" and row["label.FUNCTION"] == "of FUNCTION" and row["function"] == "f"
    assert {row["key"], row["KEY_2"] if "KEY_2" in row else row["key_2"]} == {"of key", "of KEY"}


def test_types_disagree(each, tmp_path):
    """A label that is a text here and a number there, and values that are integers here and doubles there."""
    a, b = tmp_path / "a.pb", tmp_path / "b.folded"
    a.write_bytes(pprof([b"samples", b"count", b"f"], [(b"key", b"text")]))
    b.write_text("main;f 2.5\n")
    numeric = tmp_path / "c.pb"
    numeric.write_bytes(pprof([b"samples", b"count", b"f"], [], numbers=[(b"key", 7)]))
    got = each.ask(f"SELECT key FROM read_pcol([{quoted(a)}, {quoted(numeric)}]) ORDER BY ALL")
    assert got["rows"] == [["7"], ["text"]] and got["types"] == ["VARCHAR"]
    got = each.ask(f"SELECT * FROM read_pcol([{quoted(a)}, {quoted(b)}], profile := true)")
    assert len(got["rows"]) == 2
    doubles = tmp_path / "d.perun"
    doubles.write_text('{"origin":"c","header":{"type":"time"},"collector_info":{"name":"time"},"postprocessors":[],'
                       '"resources":[' + ",".join('{"amount":1,"uid":"f","key":%s}' % n for n in ("0.1", "2.5", "1e300", "0.30000000000000004")) + "]}")
    got = each.ask(f"SELECT key FROM read_pcol([{quoted(a)}, {quoted(doubles)}]) ORDER BY ALL")
    assert got["rows"] == [["0.1"], ["0.30000000000000004"], ["1e+300"], ["2.5"], ["text"]] and got["types"] == ["VARCHAR"]


def test_damaged_files_name_the_file(db):
    """Each damaged golden file gives rows or an error that names the file, and never ends the process."""
    errors = 0
    for path in sorted(GOLDEN.glob("*/invalid/*.pcol")):
        for sql in (f"FROM read_pcol({quoted(path)})", f"FROM pcol_stacks({quoted(path)})", f"FROM pcol_tables({quoted(path)})",
                    f"FROM pcol_scan({quoted(path)}, 'sample_locations')", f"FROM pcol_scan({quoted(path)}, 'strings', model := 'physical')"):
            try:
                db.ask(sql)
            except Failed as reason:
                errors += 1
                assert path.name in str(reason), (path, reason)
    assert errors > 300


def test_ignore_errors(each, tmp_path):
    good, cut, foreign = tmp_path / "a.pcol", tmp_path / "b.pcol", tmp_path / "c.pcol"
    pcol("pack", "-o", good, DEMO)
    cut.write_bytes(good.read_bytes()[:-100])
    foreign.write_text("no profile\n")
    pattern = quoted(tmp_path / "*.pcol")
    with pytest.raises(Failed, match=r"b\.pcol: "):
        each.ask(f"FROM read_pcol({pattern})")
    expected = pcol("count", DEMO).decode().strip()
    assert each.rows(f"SELECT count(*) FROM read_pcol({pattern}, ignore_errors := true)") == [(expected,)]
    with pytest.raises(Failed, match=r"a\.pcol: "):
        each.ask(f"FROM read_pcol({pattern}, ignore_errors := true, focus := '(')")
    ignored = each.rows(f"SELECT profile, error FROM pcol_errors({pattern})")
    assert [row[0] for row in ignored] == [str(cut), str(foreign)] and all(name in error for name, error in ignored)
    with pytest.raises(Failed, match=r"\.pcol: "):
        each.ask(f"FROM read_pcol([{quoted(cut)}, {quoted(foreign)}], ignore_errors := true)")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    generate = random.Random(1)
    text = tmp_path_factory.mktemp("large") / "large.folded"
    text.write_text("".join(f"main;f{generate.randrange(50)};g{generate.randrange(2000)} {i % 7 + 1}\n" for i in range(400000)))
    path = text.with_suffix(".pcol")
    pcol("pack", "--plain", "-o", path, text)
    return path


def test_threads(each, large):
    """Several threads read a file; all connections at the same time get the same answers."""
    each.ask("SET threads = 4")
    sql = f"SELECT count(*), sum(samples), count(DISTINCT function), sum(len(frames)) FROM read_pcol({quoted(large)})"
    numbers = [each.send(sql, connection=f"c{i % 4}") for i in range(8)]
    answers = [each.receive(number)["rows"] for number in numbers]
    total = str(sum(i % 7 + 1 for i in range(400000)))
    assert answers == [[["400000", total, answers[0][0][2], "1200000"]]] * 8


def test_file_cut_during_a_query(db, large, tmp_path):
    """The file is cut between the bind and the end: an error, or the answer if it came first; and DuckDB goes on."""
    errors = 0
    for wait in range(12):
        path = tmp_path / f"cut{wait}.pcol"
        path.write_bytes(large.read_bytes())
        sql = f"SELECT sum(a.samples + len(a.frames)) FROM read_pcol({quoted(path)}) a, range(3) r"
        number = db.send(sql)
        for _ in range(wait * 20000):
            pass
        os.truncate(path, 4096)
        try:
            db.receive(number)
        except Failed as reason:
            errors += 1
            assert path.name in str(reason)
    assert errors > 0
    assert db.rows("SELECT 1") == [("1",)] or db.rows("SELECT 1") == [(1,)]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="sql/tests/cut.c sets the trap flag of x86-64")
def test_file_cut_before_each_access(tmp_path):
    """sql/tests/cut.c: whatever access to the map is the first one after the cut, the answer is an error that says so; and no text of DuckDB is in the map."""
    text, path = tmp_path / "small.folded", tmp_path / "small.pcol"
    text.write_text("".join(f"main;f{i % 5};a function with a long name f{i % 13} {i % 7 + 1}\n" for i in range(60)))
    pcol("pack", "--plain", "-o", path, text)
    done = subprocess.run([OUT / "sql/cut", path, GOLDEN / "1.0/valid/rich.pcol"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert re.fullmatch(r"\d{4,} passed, 0 failed\n", done.stdout), done.stdout[-2000:]


def test_file_cut_before_a_prepared_query(db, large, tmp_path):
    """A prepared statement holds the file open; cut, it is an error of every execution."""
    path = tmp_path / "prepared.pcol"
    path.write_bytes(large.read_bytes())
    db.ask(f"PREPARE q AS SELECT sum(samples) FROM read_pcol({quoted(path)})")
    assert db.rows("EXECUTE q")[0][0] == str(sum(i % 7 + 1 for i in range(400000)))
    os.truncate(path, 4096)
    with pytest.raises(Failed, match=r"prepared\.pcol: "):
        db.ask("EXECUTE q")
    db.ask("DEALLOCATE q")


def test_interrupt(db, large):
    call = f"read_pcol({quoted(large)})"
    with pytest.raises(Failed, match="(?i)interrupt"):
        db.ask(f"SELECT count(*) FROM {call} a, {call} b WHERE a.sample_id + b.sample_id < 0", connection="stopped", interrupt=200)
    assert db.rows(f"SELECT count(*) FROM {call}", connection="stopped") == [("400000",)]


def test_many_files(db, tmp_path):
    """More files than descriptors: the limit of this process of Node is that of the shell."""
    first = tmp_path / "f00000.pcol"
    pcol("pack", "-o", first, DATA / "folded/small.folded")
    data = first.read_bytes()
    for i in range(1, 10000):
        (tmp_path / f"f{i:05}.pcol").write_bytes(data)
    count = int(pcol("count", first))
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(db.process.pid, resource.RLIMIT_NOFILE, (256, hard))
    try:
        call = f"read_pcol({quoted(tmp_path / 'f*.pcol')}, profile := true)"
        got = db.rows(f"SELECT count(*), count(DISTINCT profile), count(DISTINCT function), sum(len(frames)) > 0 FROM {call}")
        assert got[0][:2] == (str(10000 * count), "10000")
    finally:
        resource.prlimit(db.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
