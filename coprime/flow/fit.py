"""Whether a design can fit a device, as far as its Verilog shows before it is mapped.

Multipliers that are instantiated, and block RAMs, are counted exactly: nothing after that changes
them. For LUTs there is no useful bound: what Verilog says of logic may all be optimized away, and
what must remain, carry chains, is a fifth of `compact`. They are known only if a design has been
measured, see `coprime.explore.measure`.
"""

import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from .targets import Flow, FpgaDevice
from .tool_errors import ToolError
from .tools import run_yosys

_MODULE = re.compile(r"^module (\S+) ?\((.*?)^endmodule", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"(?:^|;)\s*(\w+) (?:#\(|\w+ ?\()", re.MULTILINE)
"""Other statements match, too, with names that are of no module and of no cell."""
_PRODUCT = re.compile(r"^[^/\n]* \* ", re.MULTILINE)
_PRODUCT_CELL = "*"
"""What products are counted as that the tools infer."""
_SHARE = 2
"""How many inferred products may share a slice, at most: narrow ones, on some devices."""
_MEMORY = re.compile(r"^ *reg +(?:\[(\d+):0\] *)?\S+ *\[0:(\d+)\];", re.MULTILINE)
"""A memory's declaration, with its last bit and its last word."""
_MEMORY_CELL = "memory"
"""What block RAMs are counted as that the tools may infer."""
_BLOCK_WIDTH = 18  # bits of a word of a block RAM, where its depth is not the limit
_CERTAIN = 2  # so many times the block RAMs of memories by themselves, there may be too few
_MEMORIES_MAPPED = " -run begin:map_ffram"
"""Option of each target's synthesis: up to where memories and multipliers are cells."""


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


def check_resources(
    flow: Flow, device: FpgaDevice, used: Mapping[str, int | float], kinds: Sequence[str] = ()
) -> None:
    """Raise ToolError for more of a resource than the device has: of these `kinds`, or of all.

    `used` is as of `coprime.flow.mapping.Resources`.
    """
    flip_flops = device.luts * flow.flip_flops_per_slice // flow.luts_per_slice
    for kind, there, what in (
        ("lut", device.luts, "LUTs"),
        ("ff", flip_flops, "flip-flops"),
        ("bram", device.block_rams, "block RAMs"),
        ("dsp", device.dsp_slices, "DSP slices"),
    ):
        if used[kind] > there and (not kinds or kind in kinds):
            raise too_large(flow, device, f"{_count(used[kind])} {what}, and it has {there:,}")


def _count(number: int | float) -> str:
    """A number without decimals that are zero."""
    return f"{number:,.1f}".removesuffix(".0")


def check_block_rams(
    flow: Flow,
    device: FpgaDevice,
    name: str,
    verilog: str,
    top: str,
    repeated: Sequence[str] = (),
) -> None:
    """Raise ToolError for more block RAMs than the device has.

    Yosys maps memories and multipliers, and nothing else, where the declared memories are so many
    that there may be too few block RAMs: that takes a quarter to two fifths of a whole mapping. The
    device has this `name`, or ""; modules named in `repeated` are mapped by themselves.
    """
    if _CERTAIN * _block_rams(flow, verilog, top) <= device.block_rams:
        return
    *before, synthesis = flow.synthesis(top, name)
    with tempfile.TemporaryDirectory(prefix="coprime-") as made:
        folder = Path(made)
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        commands = [
            *("read_verilog design.v", f"hierarchy -top {top}", "proc"),
            *(f"setattr -mod -set keep_hierarchy 1 {module}" for module in repeated),
            *(*before, f"{synthesis}{_MEMORIES_MAPPED}", "tee -o statistics.json stat -json"),
        ]
        run_yosys(commands, folder)
        statistics = json.loads((folder / "statistics.json").read_text("utf-8"))
    cells = statistics["design"]["num_cells_by_type"]
    check_resources(flow, device, flow.resources(cells), ("bram", "dsp"))


def _block_rams(flow: Flow, verilog: str, top: str) -> int:
    """The block RAMs of all memories that are declared, if each is in some of its own."""
    depth = flow.block_ram_bits // _BLOCK_WIDTH

    def contents(module: str) -> Mapping[str, int]:
        cells = Counter(_INSTANCE.findall(module))
        for last_bit, last_word in _MEMORY.findall(module):
            columns = math.ceil((int(last_bit or 0) + 1) / _BLOCK_WIDTH)
            cells[_MEMORY_CELL] += columns * math.ceil((int(last_word) + 1) / depth)
        return cells

    return _under(verilog, top, contents)[_MEMORY_CELL]


def cell_counts(verilog: str, top: str) -> Counter[str]:
    """How often the hierarchy under `top` has each cell that is not a module of the Verilog.

    Products are counted as "*".
    """
    return _under(verilog, top, _contents)


def _under(verilog: str, top: str, contents: Callable[[str], Mapping[str, int]]) -> Counter[str]:
    """The sum of what modules contain, by their text, over the hierarchy under `top`."""
    modules = {found[1]: contents(found[2]) for found in _MODULE.finditer(verilog)}

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
