"""limited_api.py WHEEL - check that a wheel uses only the limited API of Python 3.11

The symbols allowed are those that Python.h declares under Py_LIMITED_API, as the preprocessor leaves it.
"""
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path


def declared() -> set[str]:
    """Names that Python.h declares for the limited API of 3.11."""
    text = subprocess.run(
        ["cc", "-E", "-P", "-DPy_LIMITED_API=0x030b0000", "-I" + sysconfig.get_path("include"),
         "-x", "c", "-"],
        input="#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n", capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\b_?Py[A-Za-z_0-9]*", text))


def main() -> int:
    wheel = Path(sys.argv[1])
    if "-cp311-abi3-" not in wheel.name:
        print(f"{wheel.name}: the tag is not cp311-abi3")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            names = [n for n in archive.namelist() if n.endswith(".so")]
            path = archive.extract(names[0], folder)
        listing = {
            kind: subprocess.run(["nm", "-D", f"--{kind}-only", path], capture_output=True,
                                 text=True, check=True).stdout for kind in ("undefined", "defined")}
    used = set(re.findall(r" U (_?Py\w+)", listing["undefined"]))
    bad = sorted(used - declared())
    defined = re.findall(r" [A-Z] (\w+)", listing["defined"])
    if not used or bad or defined != ["PyInit__native"]:
        print(f"{wheel.name}: outside of the limited API: {bad}; exported: {defined}")
        return 1
    print(f"{wheel.name}: {len(used)} symbols, all of the limited API of Python 3.11")
    return 0


if __name__ == "__main__":
    sys.exit(main())
