"""Tests of sql/parquet.sql: Parquet files of several profiles, against `pcol top` and `pcol cat`."""
import json
import re

import pytest

from duckdb_node import VERSIONS, Failed, Session
from tables import DATA, ROOT, pcol

# FILENAME_PATTERN takes an expression from 1.4 on. 1.5.0 at random answers joins of several Parquet files with no rows.
TESTED = [version for version in VERSIONS if version >= "1.4" and not version.startswith("1.5.0")]
NAMES = ["main", "it's \"quoted\"", "back\\slash", "größe", "a b", "read"]


@pytest.fixture(scope="module", params=TESTED)
def db(request):
    session = Session(request.param)
    yield session
    session.close()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Files of two services on two hosts in two hours, and of pprof."""
    work = tmp_path_factory.mktemp("fleet")
    for number in range(8):
        service, host, hour = f"s{number % 2}", f"h{number // 2 % 2}", 11 + number // 4
        text = work / "one.folded"
        text.write_text("".join(f"main;{a};{b} {1 + (i * k + number) % 7}\n" for i, a in enumerate(NAMES) for k, b in enumerate(NAMES)))
        path = DATA / "pprof/cpu.pb.gz" if number in (2, 3) else text
        pcol("pack", "-q", path, "-o", work / f"{number}.pcol", "--meta", f"service={service}", "--meta", f"host={host}", "--meta", "build=1",
             "--source-timestamp", f"2026-11-21T{hour}:30:00Z")
    return work


def run(db, files, lake, types=None, interval="one", hashes="UUID"):
    """The statements of the script, into another directory."""
    text = (ROOT / "sql/parquet.sql").read_text().replace("'lake/", f"'{lake}/").replace("AS UUID", f"AS {hashes}")
    lake.mkdir(exist_ok=True)
    db.ask(f"SET VARIABLE files = {files}")
    db.ask(f"SET VARIABLE interval = '{interval}'")
    db.ask(f"SET VARIABLE types = {types}" if types else "RESET VARIABLE types")
    for statement in re.sub(r"^ *--.*$", "", text, flags=re.M).split(";\n"):
        if statement.strip():
            db.ask(statement)
    for table in ("samples/*/*", "stacks", "functions"):
        name = table.split("/")[0]
        db.ask(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM read_parquet('{lake}/{table}/*.parquet', hive_partitioning = true)")


def top(*arguments):
    """Rows with a value of their own, of `pcol top`."""
    rows = json.loads(pcol("top", "-q", "--format", "json", "-n", 0, *arguments))
    return {(row["name"], row["self"]) for row in rows if row["self"]}


SELF = "SELECT function, sum(value) FROM samples JOIN (SELECT stack, any_value(function) AS function FROM stacks GROUP BY stack) USING (stack) WHERE type = '{}' {} GROUP BY ALL"


def selves(db, kind, condition=""):
    return {(name, int(value)) for name, value in db.rows(SELF.format(kind, condition))}


def test_numbers_of_top(db, fleet, tmp_path):
    run(db, f"'{fleet}/*.pcol'", tmp_path / "lake")
    files = sorted(fleet.glob("*.pcol"))
    for kind in ("samples", "cpu"):
        assert selves(db, kind) == top("--sample-type", kind, *files)
        pcol("merge", "-q", "-f", *files, "-o", tmp_path / "all.pcol")
        for meta in ("service=s1", "host=h1"):
            key, value = meta.split("=")
            assert selves(db, kind, f"AND {key} = '{value}'") == top("--sample-type", kind, "--source-meta", meta, tmp_path / "all.pcol")
    assert sorted(p.relative_to(tmp_path / "lake/samples").as_posix() for p in (tmp_path / "lake/samples").glob("*/*")) == [
        f"service={s}/hour=2026-11-21T{h}" for s in ("s0", "s1") for h in (11, 12)]
    assert db.rows("SELECT count(*) FROM samples WHERE stack NOT IN (SELECT stack FROM stacks)") == [("0",)]
    assert db.rows("SELECT count(*) - count(DISTINCT stack) FROM stacks") == [("0",)]


def test_a_merged_file_has_the_same_rows(db, fleet, tmp_path):
    run(db, f"'{fleet}/*.pcol'", tmp_path / "several")
    for name in ("samples", "stacks", "functions"):
        db.ask(f"CREATE OR REPLACE TEMP TABLE several_{name} AS FROM {name}")
    pcol("merge", "-q", *sorted(fleet.glob("*.pcol")), "-o", tmp_path / "all.pcol")
    run(db, f"['{tmp_path}/all.pcol']", tmp_path / "one")
    for name in ("samples", "stacks", "functions"):
        assert db.rows(f"(FROM {name} EXCEPT ALL FROM several_{name}) UNION ALL (FROM several_{name} EXCEPT ALL FROM {name})") == [], name


def test_intervals(db, fleet, tmp_path):
    """An interval that is written again replaces itself, and no other one, in the same hours."""
    lake = tmp_path / "lake"
    for interval, names in (("one", "0,1,4,5"), ("two", "2,3,6,7"), ("one", "0,1,4,5")):
        run(db, "[" + ", ".join(f"'{fleet}/{n}.pcol'" for n in names.split(",")) + "]", lake, interval=interval)
    for kind in ("samples", "cpu"):
        assert selves(db, kind) == top("--sample-type", kind, *sorted(fleet.glob("*.pcol")))
    assert sorted(p.name for p in (lake / "samples").glob("service=s0/hour=*11/*")) == ["one-0.parquet", "two-0.parquet"]
    db.ask("RESET VARIABLE interval")
    text = (ROOT / "sql/parquet.sql").read_text().split(";\n")
    with pytest.raises(Failed, match="SET VARIABLE interval"):
        db.ask(next(statement for statement in text if "error('SET VARIABLE interval" in statement))


def test_hashes_as_text(db, fleet, tmp_path):
    """The form of docs/fleet.md for engines that do not read UUID."""
    run(db, f"'{fleet}/2.pcol'", tmp_path / "lake", hashes="VARCHAR")
    rows = [json.loads(line) for line in pcol("cat", "--format", "ndjson", "-t", "functions", fleet / "2.pcol").splitlines()]
    assert {(r[".hash"], r["name"]) for r in rows} == set(db.rows("SELECT function, name FROM functions"))
    assert selves(db, "cpu") == top("--sample-type", "cpu", fleet / "2.pcol")


def test_query_of_the_page(db, fleet, tmp_path):
    """The query of docs/fleet.md."""
    page = (ROOT / "docs/fleet.md").read_text()
    query = re.search(r"make test-sql runs it -->\n```sql\n(.*?)^```$", page, re.M | re.S)[1]
    run(db, f"'{fleet}/*.pcol'", tmp_path / "lake")
    rows = json.loads(pcol("top", "-q", "--format", "json", "-n", 0, "--sample-type", "cpu", *sorted(fleet.glob("*.pcol"))))
    wanted = {(row["name"], row["total"]) for row in rows}
    assert {(name, int(total)) for name, total in db.rows(query.replace("'lake/", f"'{tmp_path}/lake/").rstrip(";\n "))} == wanted


def test_hashes_are_those_of_cat(db, fleet, tmp_path):
    run(db, f"'{fleet}/2.pcol'", tmp_path / "lake")
    rows = [json.loads(line) for line in pcol("cat", "--format", "ndjson", "-t", "functions", fleet / "2.pcol").splitlines()]
    assert {(r[".hash"], r["name"]) for r in rows} == {(h.replace("-", ""), n) for h, n in db.rows("SELECT function::VARCHAR, name FROM functions")}


def test_errors(db, fleet, tmp_path):
    pcol("pack", "-q", DATA / "folded/small.folded", "-o", tmp_path / "bare.pcol", "--meta", "service=s", "--meta", "build=1", "--meta", "other=x",
         "--source-timestamp", "2026-11-21")
    with pytest.raises(Failed, match=r"bare\.pcol: source 1 lacks"):
        run(db, f"['{tmp_path}/bare.pcol', '{fleet}/1.pcol']", tmp_path / "bare")
    pcol("pack", "-q", DATA / "speedscope/small.speedscope.json", "-o", tmp_path / "double.pcol", "--meta", "service=s", "--meta", "build=1",
         "--meta", "host=h", "--source-timestamp", "2026-11-21")
    with pytest.raises(Failed, match="values are doubles"):
        run(db, f"'{tmp_path}/double.pcol'", tmp_path / "double")


def test_chosen_types(db, fleet, tmp_path):
    run(db, f"'{fleet}/*.pcol'", tmp_path / "lake", types="['cpu']")
    assert db.rows("SELECT DISTINCT type FROM samples") == [("cpu",)]
    assert selves(db, "cpu") == top("--sample-type", "cpu", fleet / "2.pcol", fleet / "3.pcol")
