"""Docstrings use `pcol` and `p`, a small profile."""
import pytest

import pcol

FOLDED = (b"main.main;main.work;libc.read 3\nmain.main;main.work 5\n"
          b"main.main;main.load 1\nmain.main 1\n")


@pytest.fixture(autouse=True)
def names_of_docstrings(doctest_namespace):
    doctest_namespace["pcol"] = pcol
    doctest_namespace["p"] = pcol.open(FOLDED, format="folded")
