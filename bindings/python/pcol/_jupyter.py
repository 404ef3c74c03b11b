"""Notebooks: flame graphs in a sandboxed iframe, and the cell magic %%pcol."""
from __future__ import annotations

import html
import os
import re
from typing import Any


class Flame:
    """A flame graph; ``svg`` is the document, which needs no network and no other file.

    >>> graph = p.flame()
    >>> 'sandbox="allow-scripts"' in graph._repr_html_()
    True
    """

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the SVG to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_html_(self) -> str:
        height = re.search(r'<svg[^>]* height="(\d+)', self.svg)
        pixels = min(int(height.group(1)) + 20, 900) if height else 600
        # A document of its own without the rights of the page: names in profiles are untrusted.
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:{pixels}px;border:0" '
                f'srcdoc="{html.escape(self.svg[self.svg.find("<svg"):], quote=True)}"></iframe>')

    def __repr__(self) -> str:
        return f"<pcol.Flame, {len(self.svg)} bytes of SVG>"


def load_ipython_extension(shell: Any) -> None:
    """%load_ext pcol: adds the cell magic %%pcol [-i SECONDS] [-c wall|cpu] [-o FILE].

    The cell is profiled; its flame graph is shown, and the profile is in the variable
    ``pcol_profile``.
    """
    import argparse

    from ._sampler import profile

    parser = argparse.ArgumentParser(prog="%%pcol")
    parser.add_argument("-i", dest="interval", type=float, default=0.01)
    parser.add_argument("-c", dest="clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("-o", dest="path")

    def magic(line: str, cell: str) -> Any:
        options = parser.parse_args(line.split())
        sampler = profile(options.path, interval=options.interval, clock=options.clock,
                          overwrite=True)
        with sampler:
            shell.run_cell(cell)
        shell.user_ns["pcol_profile"] = sampler.result
        print(sampler.statement)
        return sampler.result

    shell.register_magic_function(magic, "cell", "pcol")
