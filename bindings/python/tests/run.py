"""Run the tests and the examples of the docstrings and of docs/python.md; the last line is 'N passed, N failed'."""
import os
import sys
from pathlib import Path

import pytest

import pcol


class Count:
    """Results of a run."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0

    def pytest_runtest_logreport(self, report) -> None:
        self.passed += report.when == "call" and report.passed
        self.failed += report.failed
        if report.skipped:
            self.skipped += 1
            print(f"\nskipped: {report.nodeid}, {report.longrepr[2]}")


def main() -> int:
    count, here = Count(), Path(__file__).resolve().parent
    common = ["-q", "-p", "no:cacheprovider", "-p", "no:doctest_ignore", "--tb=short"]
    packaged, root = Path(pcol.__file__).parent, here.parents[2]
    os.chdir(root)  # the page opens a file of the checkout
    code = 0
    for arguments in ([str(here)], ["--doctest-modules", str(packaged), "-c", "/dev/null",
                                    "--rootdir", str(packaged), "-p", "doctest_names"],
                      ["--doctest-glob=*.md", "--doctest-continue-on-failure", "-c", "/dev/null", "--rootdir", str(root),
                       "-o", "doctest_optionflags=NORMALIZE_WHITESPACE", str(root / "docs/python.md")]):
        sys.path.insert(0, str(here))
        code |= pytest.main([*common, *arguments, *sys.argv[1:]], plugins=[count])
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if code or count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
