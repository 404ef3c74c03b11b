"""grow(data, n, distinct): the events n times; distinct: in n times as many chunks, with names of their own."""
import importlib.util
import pathlib

spec = importlib.util.spec_from_file_location("make_jfr", pathlib.Path(__file__).resolve().parent / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def grow(data, n, distinct):
    return make.recording(n, distinct)
