#!/usr/bin/env python3
"""sql/duckdb/footer.py LIBRARY OUTPUT VERSION PLATFORM - append the metadata that DuckDB requires of an extension

A custom section of WebAssembly, eight fields of 32 bytes from the last to the first, and 256 bytes for a signature, here zeros.
"""
import pathlib
import sys

HEADER = b"\x00\x93\x04\x10duckdb_signature\x80\x04"
API = "v1.2.0"


def main():
    library, output, version, platform = sys.argv[1:]
    fields = ["", "", "", "C_STRUCT", version, API, platform, "4"]
    footer = HEADER + b"".join(field.encode().ljust(32, b"\0") for field in fields) + bytes(256)
    pathlib.Path(output).write_bytes(pathlib.Path(library).read_bytes() + footer)


main()
