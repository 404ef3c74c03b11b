"""Build pcol._native against the static library of a checkout, for the limited API of Python 3.11.

The Makefile sets PCOL_OUT (directory of the library), PCOL_LIBS and PCOL_FLAGS. PCOL_SHARED=1 links libpcol.so instead, for
distributions.
"""
import os
import re
import shlex
from glob import glob

from setuptools import Extension, setup

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
out = os.environ.get("PCOL_OUT", os.path.join(root, "build"))
libs = shlex.split(os.environ.get("PCOL_LIBS", "-lxxhash -lz -llz4 -lzstd -lprotobuf-c -lm -pthread"))
flags = shlex.split(os.environ.get("PCOL_FLAGS", ""))
shared = os.environ.get("PCOL_SHARED") == "1"
archive = os.path.join(out, "libpcol.a")
with open(os.path.join(root, "lib", "pcol.h"), encoding="utf-8") as header:
    text = header.read()
version = ".".join(
    re.search(rf"define PCOL_VERSION_{part} (\d+)", text).group(1)
    for part in ("MAJOR", "MINOR", "PATCH")
)

setup(
    version=version,
    ext_modules=[
        Extension(
            "pcol._native",
            sorted(glob("src/*.c")),
            depends=["src/native.h", archive],
            include_dirs=[os.path.join(root, "lib")],
            define_macros=[("Py_LIMITED_API", "0x030b0000"), ("_POSIX_C_SOURCE", "200809L")],
            extra_compile_args=["-std=c17", "-fvisibility=hidden", "-Wall", "-Wextra", *flags],
            extra_objects=[] if shared else [archive],
            extra_link_args=[f"-L{out}", "-lpcol"] if shared else ["-Wl,--exclude-libs,ALL", *libs, *flags],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
