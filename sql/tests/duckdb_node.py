"""DuckDB in Node: packages of several versions, and sessions that run SQL in them."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from tables import OUT, ROOT

PACKAGE = "@duckdb/node-api"
# The first and the last of each minor version; the extension is built for the API of 1.2.0.
VERSIONS = ["1.2.0-alpha.15", "1.3.2-alpha.26", "1.4.4-r.4", "1.5.0-r.1", "1.5.6-r.1"]
MODULES = pathlib.Path(os.environ.get("SQL_NPM") or OUT / "sql/npm").resolve()
EXTENSION = OUT / "pcol.duckdb_extension"


def install(version):
    """The directory of a version; None: it cannot be installed."""
    where = MODULES / version
    package = where / "node_modules" / PACKAGE
    if not package.exists() and shutil.which("npm"):
        where.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(where), f"{PACKAGE}@{version}"]
        subprocess.run(command, capture_output=True, timeout=300)
    return where if package.exists() else None


def extension(version):
    """The extension; for 1.2, whose packages for Linux have a platform of their own, with the same code and another footer."""
    if not version.startswith("1.2."):
        return EXTENSION
    old = MODULES / "1.2" / EXTENSION.name
    old.parent.mkdir(parents=True, exist_ok=True)
    platform = f"linux_{'arm64' if os.uname().machine == 'aarch64' else 'amd64'}_gcc4"
    subprocess.run([ROOT / "sql/duckdb/footer.py", OUT / "duckdb.stripped.so", old, "v0", platform], check=True)
    return old


class Failed(Exception):
    """An SQL error."""


class Session:
    """A process of Node with one database; connections have names."""

    def __init__(self, version):
        modules = install(version)
        if modules is None:
            pytest.skip(f"{PACKAGE} {version} cannot be installed")
        script = pathlib.Path(__file__).with_name("session.mjs")
        self.process = subprocess.Popen(["node", str(script), str(modules), str(extension(version))], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.answers, self.last = {}, 0

    def send(self, sql, connection="main", **more):
        self.last += 1
        self.process.stdin.write(json.dumps({"id": self.last, "sql": sql, "connection": connection, **more}) + "\n")
        self.process.stdin.flush()
        return self.last

    def receive(self, number):
        while number not in self.answers:
            line = self.process.stdout.readline()
            assert line, f"the process of DuckDB ended with code {self.process.wait()}"
            answer = json.loads(line)
            self.answers[answer["id"]] = answer
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def ask(self, sql, **more):
        return self.receive(self.send(sql, **more))

    def rows(self, sql, **more):
        return [tuple(row) for row in self.ask(sql, **more)["rows"]]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(timeout=60)
        assert code == 0, f"the process of DuckDB ended with code {code}"
