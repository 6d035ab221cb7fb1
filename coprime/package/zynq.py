"""A script that makes a Vivado project for a Zynq board."""

from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .templates import filled

ZYNQ_BOARDS = {
    "zybo-z7-10": ("xc7z010clg400-1", "digilentinc.com:zybo-z7-10"),
    "zybo-z7-20": ("xc7z020clg400-1", "digilentinc.com:zybo-z7-20"),
    "zedboard": ("xc7z020clg484-1", "digilentinc.com:zedboard"),
}
"""Boards of the Vivado script: the part, and the board's name in Vivado without its version."""


def files(description: Description) -> Mapping[str, str]:
    """A Tcl script that makes a Vivado project for the boards of ZYNQ_BOARDS; for 7 series only."""
    if description.target is not Target.XC7:
        return {}
    return {
        f"{description.name}.zynq.tcl": filled("zynq.tcl.j2", own=description, boards=ZYNQ_BOARDS)
    }
