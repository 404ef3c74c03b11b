"""grow(data, n, distinct): the samples n times; distinct: with functions of their own."""
import importlib.util
import pathlib

spec = importlib.util.spec_from_file_location(
    "make_otlp", pathlib.Path(__file__).resolve().parent / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def grow(data, n, distinct):
    return make.encode("Data", make.many(n, distinct))
