#!/usr/bin/env python3
"""sql/tests/run.py [PYTEST ARGUMENTS] - test the extensions of SQLite and DuckDB; the last line is "N passed, N failed, N skipped"

Without DuckDB's packages from npm, or RSQLite, their tests are skipped: a line `skipped: TEST, WHY` each. OUT is the directory of
build results (default: build).
"""
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


class Count:
    """Results of a run."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed
        self.failed += report.failed
        if report.skipped:
            self.skipped += 1
            print(f"\nskipped: {report.nodeid}, {report.longrepr[2]}")


def main():
    count = Count()
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=short", str(HERE), *sys.argv[1:]], plugins=[count])
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 1 if code or count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
