"""The FPGA families that designs are mapped to, a file of data each."""

from collections.abc import Mapping
from types import MappingProxyType

from coprime.cells.target import Target

from .flow import Flow, FpgaDevice, Units

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

FLOWS: Mapping[Target, Flow] = MappingProxyType(
    {target: Flow.of(target) for target in Target if target is not Target.GENERIC}
)
"""Every target but `generic`, which has no area."""
DEVICES: Mapping[str, FpgaDevice] = MappingProxyType(
    {name: device for flow in FLOWS.values() for name, device in flow.devices.items()}
)
"""Every device that can be placed on, by the name on the command line."""


def flow_of(target: Target) -> Flow:
    """The tools of a target. ValueError for `generic`."""
    if target not in FLOWS:
        names = ", ".join(supported.value for supported in FLOWS)
        raise ValueError(f"target must be one of {names}: {target.value} Verilog has no area")
    return FLOWS[target]


def route_targets() -> list[str]:
    """The targets that designs are placed and routed for, by name."""
    return [target.value for target, flow in FLOWS.items() if flow.devices]


def device_named(flow: Flow, name: str) -> FpgaDevice:
    """A device of a target, with what it holds. ValueError for another one, or if it has none."""
    if not flow.devices:
        routed = ", ".join(route_targets())
        raise ValueError(
            f"place and route knows {routed}, not {flow.target.value}: leave out --route"
        )
    if name not in flow.devices:
        raise ValueError(
            f"device must be one of {', '.join(flow.devices)} for {flow.target.value}, not {name!r}"
        )
    return flow.devices[name]
