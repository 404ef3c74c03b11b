"""Tests of build/pcol.so in Python's sqlite3, against `pcol cat` and SQLite's own tables."""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time

import pytest

from profiles_made import HOSTILE, WITHOUT_SAMPLES, pprof
from tables import DATA, GOLDEN, MODELS, OUT, in_sqlite, is_answer, pcol, profiles, rows, schema

CPU = DATA / "pprof/cpu.pb.gz"
DEMO = DATA / "rprof/demo.Rprof"


def connect(**options):
    db = sqlite3.connect(":memory:", **options)
    db.enable_load_extension(True)
    db.load_extension(str(OUT / "pcol"))
    return db


@pytest.fixture
def db():
    db = connect()
    yield db
    db.close()


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def create(db, name, path, table, model="v2"):
    db.execute(f"CREATE VIRTUAL TABLE {name} USING pcol({quoted(path)}, {quoted(table)}, {model})")


def columns(db, name):
    return [row[1] for row in db.execute(f"PRAGMA table_info({name})")]


# ---- the same rows as pcol cat

@pytest.mark.parametrize("path", profiles(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_tables_equal_cat(db, path):
    """EXCEPT is empty both ways, with row ids and storage classes, for each table of each model."""
    seen = 0
    for model in MODELS:
        for table, described in schema(path, model).items():
            if is_answer(path, table):
                continue
            expected = rows(path, model, table)
            if expected is None:
                with pytest.raises(sqlite3.Error):
                    create(db, "t", path, table, model)
                    db.execute("SELECT * FROM t").fetchall()
                db.execute("DROP TABLE IF EXISTS t")
                continue
            create(db, "t", path, table, model)
            names = [f"c{i}" for i in range(len(described))]
            db.execute(f"CREATE TABLE expected({', '.join(names)})")
            db.executemany(f"INSERT INTO expected VALUES ({', '.join('?' * len(names))})",
                           [[in_sqlite(value, kind) for value, (_, kind) in zip(row, described)] for row in expected])
            shown = columns(db, "t")
            assert [n.lower() for n in shown[:1]] == [described[0][0].lower()]
            ours = ", ".join(f'"{n}", typeof("{n}")' for n in shown)
            theirs = ", ".join(f"{n}, typeof({n})" for n in names)
            for a, b in ((f"SELECT rowid, {ours} FROM t", f"SELECT rowid, {theirs} FROM expected"),
                         (f"SELECT rowid, {theirs} FROM expected", f"SELECT rowid, {ours} FROM t")):
                assert db.execute(f"{a} EXCEPT {b}").fetchall() == [], (model, table)
            assert db.execute("SELECT count(*) FROM t").fetchone() == (len(expected),), (model, table)
            db.execute("DROP TABLE t")
            db.execute("DROP TABLE expected")
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("path", [CPU, DEMO, GOLDEN / "1.0/valid/rich.pcol", GOLDEN / "1.0/valid/labels.pcol", GOLDEN / "1.0/valid/encodings.pcol"],
                         ids=lambda p: p.name)
def test_lookups_equal_scan(db, path):
    """Rows that are looked up one by one, until their columns are decoded into memory and after, are those of a scan."""
    seen = 0
    for model in ("v2", "physical"):
        for table in schema(path, model):
            if is_answer(path, table) or (expected := rows(path, model, table)) is None:
                continue
            create(db, "t", path, table, model)
            db.execute("CREATE TABLE ids AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) "
                       "SELECT t.rowid AS id, r.n AS n FROM t, r WHERE t.rowid <= 2000")
            shown = ", ".join(f't."{name}", typeof(t."{name}")' for name in columns(db, "t"))
            looked_up = f"SELECT ids.id, ids.n, {shown} FROM ids CROSS JOIN t ON t.rowid = ids.id"
            scanned = f"SELECT t.rowid, k.n, {shown} FROM t, (SELECT DISTINCT n FROM ids) k WHERE t.rowid <= 2000"
            assert db.execute(f"{looked_up} EXCEPT {scanned}").fetchall() == [], (model, table)
            assert db.execute(f"{scanned} EXCEPT {looked_up}").fetchall() == [], (model, table)
            assert db.execute("SELECT count(*) FROM ids CROSS JOIN t ON t.rowid = ids.id").fetchone() == (5 * min(2000, len(expected)),)
            db.execute("DROP TABLE t")
            db.execute("DROP TABLE ids")
            seen += len(expected) > 0
    assert seen > 5


@pytest.mark.parametrize("where", ["", "WHERE rowid = 3"])
def test_texts_after_a_cut(db, tmp_path, where):
    """The program reads the texts of a row after it was found: they are those of the file, although it was cut before."""
    text, path = tmp_path / "texts.folded", tmp_path / "texts.pcol"
    text.write_text("".join(f"main;a function with a long name f{i} 1\n" for i in range(1000)))
    pcol("pack", "--plain", "-o", path, text)
    create(db, "t", path, "functions")
    names = {row[0] for row in db.execute("SELECT name FROM t")}
    found = db.execute(f"SELECT name FROM t {where}")
    os.truncate(path, 4096)
    assert found.fetchone()[0] in names
    with pytest.raises(sqlite3.Error, match=r"texts\.pcol: the file was truncated"):
        db.execute("SELECT count(*), sum(length(name)) FROM t").fetchall()


# ---- constraints: the same rows as from a copy of the table, and fewer rows read

OPERATORS = ("=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT")


def literals(values, generate):
    """Values of a column, values near them, and values of other types."""
    numbers = [v for v in values if isinstance(v, (int, float))]
    texts = [v for v in values if isinstance(v, str)]
    some = [generate.choice(numbers) for _ in range(4)] if numbers else []
    yield from (v + d for v in some for d in (0, 1, -1, 0.5) if isinstance(v + d, float) or -2**63 <= v + d < 2**63)
    yield from ([generate.choice(texts), generate.choice(texts)] if texts else [])
    yield from (None, 0, -1, 1.5, "", "x", "5", b"x", 2**63 - 1, -2**63, 1e300, -1e300, float("inf"))


@pytest.mark.parametrize("path", [GOLDEN / "1.0/valid/rich.pcol", GOLDEN / "1.0/valid/encodings.pcol", CPU, DEMO],
                         ids=lambda p: p.name)
def test_constraints(db, path):
    generate = random.Random(5)
    compared = 0
    for model in ("v2", "physical"):
        for table in schema(path, model):
            create(db, "t", path, table, model)
            db.execute("CREATE TABLE copy AS SELECT rowid AS copied_row, * FROM t")
            for name in ["rowid", *columns(db, "t")]:
                ours, theirs = (f'"{name}"', f'"{name}"') if name != "rowid" else ("rowid", "copied_row")
                values = [row[0] for row in db.execute(f"SELECT {theirs} FROM copy LIMIT 2000")]
                for literal in literals(values, generate):
                    for operator in generate.sample(OPERATORS, 3 if len(values) < 1000 else 1):
                        ask = "SELECT {} FROM {} WHERE {} {} ? ORDER BY 1"
                        a = db.execute(ask.format("rowid", "t", ours, operator), (literal,)).fetchall()
                        b = db.execute(ask.format("copied_row", "copy", theirs, operator), (literal,)).fetchall()
                        assert a == b, (model, table, name, operator, literal)
                        compared += 1
            db.execute("DROP TABLE t")
            db.execute("DROP TABLE copy")
    assert compared > 1000


def plan(db, sql):
    return [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql)]


def test_plans(db):
    """Keys are looked up, so the order of tables in a join does not matter."""
    db.execute("SELECT pcol_attach(?)", (str(CPU),))
    assert plan(db, "SELECT * FROM samples WHERE rowid = 5") == ["SCAN samples VIRTUAL TABLE INDEX 1:3f -1 2"]
    assert plan(db, "SELECT * FROM samples WHERE sample_id > 5 AND sample_id <= 9") == \
        ["SCAN samples VIRTUAL TABLE INDEX 0:3f 0 4 0 8"]
    assert plan(db, 'SELECT sample_id FROM samples WHERE ".label.kind" = \'count\'') == \
        ["SCAN samples VIRTUAL TABLE INDEX 0:9 3 2"]
    assert plan(db, 'SELECT sample_id FROM samples WHERE ".label.kind" = \'count\' COLLATE NOCASE') == \
        ["SCAN samples VIRTUAL TABLE INDEX 0:9"]
    joined = plan(db, "SELECT name FROM functions f JOIN locations l USING (function_id) JOIN sample_locations s USING (location_id)")
    assert [line.split()[1] for line in joined] == ["s", "l", "f"]
    assert plan(db, "SELECT * FROM samples ORDER BY rowid LIMIT 1") == ["SCAN samples VIRTUAL TABLE INDEX 0:3f"]


def test_projection(db, tmp_path):
    """A damaged column is an error only for queries that read it."""
    path = tmp_path / "damaged.pcol"
    pcol("pack", "--plain", "-o", path, DEMO)
    info = [row for row in rows_of_schema(path) if (row["table"], row["name"]) == ("samples", "stack")][0]
    data = bytearray(path.read_bytes())
    data[info["offset"]] ^= 1
    path.write_bytes(data)
    create(db, "t", path, "samples", "physical")
    other = [name for name in columns(db, "t") if name != "stack"][0]
    assert len(db.execute(f'SELECT "{other}" FROM t').fetchall()) == int(pcol("count", "--table", "samples", DEMO))
    with pytest.raises(sqlite3.DatabaseError, match=r"damaged\.pcol: .*samples.*stack.*checksum"):
        db.execute("SELECT stack FROM t").fetchall()


def rows_of_schema(path):
    return [json.loads(line) for line in pcol("schema", "--physical", "--format", "ndjson", path).splitlines()]


# ---- numbers against other commands

def test_top(db):
    """Self values by SQL are those of `pcol top`."""
    db.execute("SELECT pcol_attach(?, 'p_')", (str(DEMO),))
    ours = dict(db.execute("""
        SELECT f.name, sum(v.value) FROM p_sample_values v
        JOIN p_sample_locations l ON l.sample_id = v.sample_id AND l.depth = 1
        JOIN p_locations c USING (location_id) JOIN p_functions f USING (function_id)
        WHERE v.type = 'samples' GROUP BY f.name""").fetchall())
    theirs = {row["name"]: row["self"] for row in json.loads(pcol("top", "--format", "json", "-n", 0, DEMO)) if row["self"]}
    assert ours == theirs and len(ours) > 50


# ---- arguments, names, errors

def test_attach(db, tmp_path):
    count = db.execute("SELECT pcol_attach(?)", (str(CPU),)).fetchone()[0]
    names = {row[0] for row in db.execute("SELECT name FROM temp.sqlite_master WHERE type = 'table'")}
    assert count == len(names) and {"samples", "functions", "mappings", "sources"} <= names
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        db.execute("SELECT pcol_attach(?)", (str(CPU),))
    assert {row[0] for row in db.execute("SELECT name FROM temp.sqlite_master")} == names
    with pytest.raises(sqlite3.OperationalError, match="missing.pcol: cannot open"):
        db.execute("SELECT pcol_attach(?)", (str(tmp_path / "missing.pcol"),))
    with pytest.raises(sqlite3.OperationalError, match="needs a path"):
        db.execute("SELECT pcol_attach(NULL)")
    for arguments in ((f"{CPU}\0x", "p"), (str(CPU), "p\0x")):
        with pytest.raises(sqlite3.OperationalError, match="needs a path"):
            db.execute("SELECT pcol_attach(?, ?)", arguments)
    assert db.execute("SELECT pcol_attach(?, ?)", (str(CPU), 'a"b ')).fetchone()[0] == count
    assert db.execute('SELECT count(*) FROM "a""b samples"').fetchone() == (int(pcol("count", CPU)),)


def test_arguments(db, tmp_path):
    strange = tmp_path / "it's \"a\" profile.pcol"
    pcol("pack", "-o", strange, DEMO)
    create(db, "t", strange, "samples")
    assert db.execute("SELECT count(*) FROM t").fetchone() == (int(pcol("count", DEMO)),)
    for arguments, message in (("", "needs a file and a table"), ("'x.pcol'", "needs a file and a table"),
                               (f"{quoted(DEMO)}, nope", "demo.Rprof: .*no table 'nope'"),
                               (f"{quoted(DEMO)}, samples, v9", "unknown model v9; use v2, v1 or physical"),
                               (f"{quoted(DATA)}, samples", "data: "),
                               (f"{quoted(__file__)}, samples", "test_sqlite.py: ")):
        with pytest.raises(sqlite3.OperationalError, match=message):
            db.execute(f"CREATE VIRTUAL TABLE u USING pcol({arguments})")
    with pytest.raises(sqlite3.OperationalError, match="no such table: pcol"):
        db.execute("SELECT * FROM pcol")
    empty = tmp_path / "empty.pb"
    empty.write_bytes(WITHOUT_SAMPLES)
    with pytest.raises(sqlite3.OperationalError, match=r"empty\.pb: table samples has no columns"):
        create(db, "e", empty, "samples", "physical")


def test_direct_only(tmp_path):
    """A view or trigger of a database file can neither open nor read profiles."""
    path = tmp_path / "made.sqlite"
    made = sqlite3.connect(path)
    made.enable_load_extension(True)
    made.load_extension(str(OUT / "pcol"))
    create(made, "t", DEMO, "samples")
    made.execute("CREATE VIEW rows AS SELECT * FROM t")
    made.execute(f"CREATE VIEW attach AS SELECT pcol_attach({quoted(DEMO)})")
    made.commit()
    assert made.execute("SELECT count(*) FROM t").fetchone()[0] > 0
    for view in ("rows", "attach"):
        with pytest.raises(sqlite3.OperationalError, match="unsafe use"):
            made.execute(f"SELECT * FROM {view}").fetchall()
    made.close()
    again = sqlite3.connect(path)
    again.enable_load_extension(True)
    again.load_extension(str(OUT / "pcol"))
    assert again.execute("SELECT count(*) FROM t").fetchone()[0] == int(pcol("count", DEMO))
    again.close()


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names(db, tmp_path, name):
    """Names as values: texts if they are UTF-8 without NUL, else BLOBs, in full. As keys of labels: names of columns."""
    path = tmp_path / "hostile.pb"
    path.write_bytes(pprof([b"samples", b"count", name], [(b"key", name + b"v"), (name + b"k", b"value")]))
    db.execute("SELECT pcol_attach(?)", (str(path),))
    expected = name
    try:
        expected = name if b"\0" in name else name.decode()
    except UnicodeDecodeError:
        pass
    found = db.execute("SELECT name FROM functions").fetchone()[0]
    assert found == expected or (name == b"" and found is None)
    if found is not None:
        assert db.execute("SELECT count(*) FROM functions WHERE name = ?", (found,)).fetchone() == (1,)
    assert [row[0] for row in db.execute('SELECT ".label.key" FROM samples')] == \
        [(expected + "v") if isinstance(expected, str) else expected + b"v"]
    assert db.execute("SELECT * FROM samples").fetchone()[-1] == "value"
    db.execute("CREATE TABLE copied AS SELECT * FROM samples")


def test_labels_that_differ_in_case(db, tmp_path):
    path = tmp_path / "case.pb"
    path.write_bytes(pprof([b"samples", b"count", b"f"], [(b"key", b"1"), (b"KEY", b"2"), (b"Key", b"3"), (b"key_2", b"4")]))
    db.execute("SELECT pcol_attach(?)", (str(path),))
    row = db.execute("SELECT * FROM samples").fetchone()
    names = columns(db, "samples")
    assert sorted(row[-4:]) == ["1", "2", "3", "4"] and len({n.lower() for n in names}) == len(names)


# ---- damaged and cut files

def invalid():
    return sorted(GOLDEN.glob("*/invalid/*.pcol"))


def test_damaged_files_name_the_file(db):
    """Each damaged golden file gives rows or an error that names the file, and never ends the process."""
    errors = 0
    for path in invalid():
        try:
            db.execute("SELECT pcol_attach(?)", (str(path),))
        except sqlite3.Error as reason:
            errors += 1
            assert path.name in str(reason), reason
            continue
        tables = [row[0] for row in db.execute("SELECT name FROM temp.sqlite_master WHERE type = 'table'")]
        for table in tables:
            try:
                db.execute(f'SELECT * FROM temp."{table}"').fetchall()
            except sqlite3.Error as reason:
                errors += 1
                assert path.name in str(reason), reason
            db.execute(f'DROP TABLE temp."{table}"')
    assert errors > 100


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Folded stacks of 300,000 samples, as a pcol file."""
    generate = random.Random(1)
    text = tmp_path_factory.mktemp("large") / "large.folded"
    text.write_text("".join(f"main;f{generate.randrange(50)};g{generate.randrange(2000)} {i % 7 + 1}\n" for i in range(300000)))
    path = text.with_suffix(".pcol")
    pcol("pack", "--plain", "-o", path, text)
    return path


def test_file_cut_during_a_query(db, large, tmp_path):
    path = tmp_path / "cut.pcol"
    path.write_bytes(large.read_bytes())
    create(db, "t", path, "sample_values")
    cursor = db.execute("SELECT * FROM t")
    assert cursor.fetchone() is not None
    os.truncate(path, 4096)
    with pytest.raises(sqlite3.Error, match="cut.pcol: "):
        cursor.fetchall()
    with pytest.raises(sqlite3.Error, match="cut.pcol: "):
        db.execute("SELECT sum(value) FROM t").fetchall()


def test_file_replaced(db, large, tmp_path):
    """Open tables keep the file that they opened; new tables get the new one."""
    path = tmp_path / "replaced.pcol"
    pcol("pack", "-o", path, DEMO)
    create(db, "t", path, "samples")
    other = tmp_path / "other.pcol"
    other.write_bytes(large.read_bytes())
    other.rename(path)
    create(db, "u", path, "samples")
    assert db.execute("SELECT count(*) FROM t").fetchone() == (int(pcol("count", DEMO)),)
    assert db.execute("SELECT count(*) FROM u").fetchone() == (300000,)


# ---- interrupts and threads

def test_interrupt(large):
    """A scan whose condition no row satisfies never returns to SQLite; it ends, too."""
    db = connect(check_same_thread=False)
    create(db, "t", large, "sample_locations")

    def interrupt():
        while not done.is_set():
            db.interrupt()
            time.sleep(0.001)

    done = threading.Event()
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            for _ in range(200):
                db.execute("SELECT count(*) FROM t WHERE location_id = -1").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            for _ in range(200):
                db.execute("SELECT count(*) FROM t a, t b").fetchall()
    finally:
        done.set()
        thread.join()
    assert db.execute("SELECT count(*) FROM t WHERE location_id = -1").fetchone() == (0,)
    db.close()


def test_threads(large):
    """Connections in several threads read the same file."""
    results, expected = [], int(pcol("count", "--table", "sample_values", large))

    def read():
        db = connect(check_same_thread=False)
        db.execute("SELECT pcol_attach(?)", (str(large),))
        for _ in range(3):
            results.append(db.execute("SELECT count(*), sum(value) FROM sample_values").fetchone())
        db.close()

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(expected, sum(i % 7 + 1 for i in range(300000)))] * 12


# ---- other programs

def test_shell(tmp_path):
    """Debian's sqlite3 shell."""
    script = f".load {OUT}/pcol\nSELECT pcol_attach({quoted(DEMO)}) > 5;\nSELECT count(*) FROM samples;\n"
    done = subprocess.run(["sqlite3", ":memory:"], input=script.encode(), capture_output=True)
    assert done.stdout.split() == [b"1", pcol("count", DEMO).strip()] and done.stderr == b""


def test_r():
    """RSQLite, which has an SQLite of its own."""
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(RSQLite)"], capture_output=True).returncode:
        pytest.skip("RSQLite is not installed")
    script = f"""
    db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:", loadable.extensions = TRUE)
    invisible(DBI::dbGetQuery(db, "SELECT load_extension('{OUT}/pcol')"))
    invisible(DBI::dbGetQuery(db, "SELECT pcol_attach('{DEMO}')"))
    cat(DBI::dbGetQuery(db, "SELECT count(*) AS n FROM samples")$n)
    DBI::dbDisconnect(db)"""
    done = subprocess.run(["Rscript", "-e", script], capture_output=True)
    assert done.stdout == pcol("count", DEMO).strip(), done.stderr


def test_version(db):
    assert db.execute("SELECT pcol_version()").fetchone()[0] in pcol("--version").decode()
