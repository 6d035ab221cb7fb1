"""Whether a design can fit a device, as far as its Verilog shows before it is mapped."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from .targets import Flow, FpgaDevice
from .tools import ToolError

_MODULE = re.compile(r"^module (\S+) ?\((.*?)^endmodule", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"(?:^|;)\s*(\w+) (?:#\(|\w+ ?\()", re.MULTILINE)
"""Other statements match, too, with names that are of no module and of no cell."""
_PRODUCT = re.compile(r"^[^/\n]* \* ", re.MULTILINE)
_PRODUCT_CELL = "*"
"""What products are counted as that the tools infer."""
_SHARE = 2
"""How many inferred products may share a slice, at most: narrow ones, on some devices."""


def too_large(flow: Flow, device: FpgaDevice, why: str) -> ToolError:
    """The error for a design that needs more than a device has; it names the next larger one."""
    larger = [name for name, other in flow.devices.items() if other.luts > device.luts]
    advice = f"the next larger device is {larger[0]}" if larger else "no larger device is known"
    return ToolError(f"the design does not fit {device.title}: it needs {why}; {advice}")


def check_multipliers(flow: Flow, device: FpgaDevice, verilog: str, top: str) -> None:
    """Raise ToolError for more multipliers than the device has, before minutes of mapping.

    Those that the Verilog instantiates as cells of the device are all counted. Of products, which
    mapping makes multipliers of, twice as many are allowed: narrow ones may share one. A device
    without multipliers has products in LUTs.
    """
    if not device.dsp_slices:
        return
    cells = cell_counts(verilog, top)
    products = cells[_PRODUCT_CELL]
    needed = sum(
        weight * count
        for pattern, weight in flow.counts.get("dsp", {}).items()
        for cell, count in cells.items()
        if re.fullmatch(pattern, cell)
    )
    if products > _SHARE * device.dsp_slices:
        needed += products // _SHARE
    if needed > device.dsp_slices:
        count = (
            f"{needed:,.0f}" if products <= _SHARE * device.dsp_slices else f"over {needed:,.0f}"
        )
        raise too_large(flow, device, f"{count} DSP slices, and it has {device.dsp_slices:,}")


def cell_counts(verilog: str, top: str) -> Counter[str]:
    """How often the hierarchy under `top` has each cell that is not a module of the Verilog.

    Products are counted as "*".
    """
    modules = {found[1]: _contents(found[2]) for found in _MODULE.finditer(verilog)}

    @cache
    def under(module: str) -> Counter[str]:
        cells: Counter[str] = Counter()
        for name, count in modules.get(module, {}).items():
            if name in modules:
                for cell, inside in under(name).items():
                    cells[cell] += count * inside
            else:
                cells[name] += count
        return cells

    return under(top)


def _contents(text: str) -> Mapping[str, int]:
    cells = Counter(_INSTANCE.findall(text))
    cells[_PRODUCT_CELL] = len(_PRODUCT.findall(text))
    return cells
