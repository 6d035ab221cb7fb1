"""The FPGA families that designs are mapped to, a file each."""

from collections.abc import Mapping
from types import MappingProxyType

from coprime.cells.target import Target

from .ecp5 import Ecp5
from .flow import Flow, FpgaDevice, Units
from .gatemate import Gatemate
from .gowin import Gowin
from .ice40 import Ice40
from .nexus import Nexus
from .xc7 import Xc7

__all__ = [
    "DEVICES",
    "FLOWS",
    "Flow",
    "FpgaDevice",
    "Units",
    "device_named",
    "flow_of",
    "route_targets",
]

FLOWS: Mapping[Target, type[Flow]] = MappingProxyType(
    {flow.TARGET: flow for flow in (Xc7, Ecp5, Gowin, Ice40, Nexus, Gatemate)}
)
"""Every target but `generic`, which has no area."""
DEVICES: Mapping[str, FpgaDevice] = MappingProxyType(
    {name: device for flow in FLOWS.values() for name, device in flow.DEVICES.items()}
)
"""Every device that can be placed on, by the name on the command line."""


def flow_of(target: Target) -> type[Flow]:
    """The tools of a target. ValueError for `generic`."""
    if target not in FLOWS:
        names = ", ".join(one.value for one in FLOWS)
        raise ValueError(f"target must be one of {names}: {target.value} Verilog has no area")
    return FLOWS[target]


def route_targets() -> list[str]:
    """The targets that designs are placed and routed for, by name."""
    return [target.value for target, flow in FLOWS.items() if flow.DEVICES]


def device_named(flow: type[Flow], name: str) -> FpgaDevice:
    """A device of a target, with what it holds. ValueError for another one, or if it has none."""
    if not flow.DEVICES:
        routed = ", ".join(route_targets())
        raise ValueError(
            f"place and route knows {routed}, not {flow.TARGET.value}: leave out --route"
        )
    if name not in flow.DEVICES:
        raise ValueError(
            f"device must be one of {', '.join(flow.DEVICES)} for {flow.TARGET.value}, not {name!r}"
        )
    return flow.DEVICES[name]
