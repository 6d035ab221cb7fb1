"""Instantiation templates in Verilog and VHDL."""

from collections.abc import Mapping

from coprime.flow.port_comments import BUS_PORTS

from .description import Description
from .templates import filled


def files(description: Description) -> Mapping[str, str]:
    """The declarations and the instance, for Verilog and for VHDL."""
    width = max(len(port.name) for port in description.ports)
    return {
        f"{description.name}_instance.{kind}": filled(
            f"instance.{kind}.j2", own=description, width=width, comments=BUS_PORTS
        )
        for kind in ("vh", "vhd")
    }
