"""A netlist that nextpnr has packed, as Verilog of the cells that it places."""

import re
from pathlib import Path

from coprime.cells.target import Target
from tests.netlists import MODELS, our_cells

_PINS = "TRELLIS_IO"
_PARAMETERS = {  # that the models have; others are of no meaning for a simulation
    "TRELLIS_COMB": r"MODE|CCU2_INJECT1|INITVAL",
    "TRELLIS_FF": r"REGSET|SRMODE|SD",
    "DP16KD": r"DATA_WIDTH_.|REGMODE_.|WRITEMODE_.|INITVAL_..",
    "MULT18X18D": r"REG_.*|GSR|RESETMODE",
}
_OPEN_IS_0 = {"LSR", "FCI"}
"""Inputs that are 0 if nothing is connected; others are 1 in this fabric."""


def models() -> str:
    """Verilog models of all cells."""
    own = our_cells(Target.ECP5)
    files = (MODELS / "cells_ecp5_packed.v", MODELS / "block_ram_ecp5.v")
    return own + "".join(Path(file).read_text("utf-8") for file in files)


def packed_verilog(module, top):
    """Verilog of a packed netlist; top module `top` has the ports of the design."""
    header, lines, inner = [], [], {}
    cells = module["cells"].values()
    for cell in cells:
        if cell["type"] == _PINS:
            connections = cell["connections"]
            inner[connections["B"][0]] = connections["O"], connections["I"]
    for name, port in module["ports"].items():
        direction, pads = port["direction"], port["bits"]
        header.append(f"  {direction} [{len(pads) - 1}:0] {name}")
        for index, pad in enumerate(pads):
            given, driven = inner[pad]
            if direction == "input" and given[0] != "x":
                lines.append(f"  assign {_net(given[0])} = {name}[{index}];")
            elif direction == "output":
                lines.append(f"  assign {name}[{index}] = {_net(driven[0])};")
    nets = {
        bits[0]
        for cell in cells
        for bits in cell["connections"].values()
        if bits and bits[0] != "x"
    }
    for number, cell in enumerate(cells):
        if cell["type"] != _PINS:
            lines.append(_instance(cell, number))
    declared = [f"  wire {_net(net)};" for net in sorted(nets)]
    return "\n".join(
        [f"module {top} (", ",\n".join(header), ");", *declared, *lines, "endmodule\n"]
    )


def _net(bit):
    return f"net_{bit}"


def _instance(cell, number):
    kind, given = cell["type"], cell["parameters"]
    connections = {
        port: bits[0] if bits and bits[0] != "x" else None
        for port, bits in cell["connections"].items()
    }
    # An input that its multiplexer makes a constant may not even be there.
    inputs = {name.removesuffix("MUX") for name in given if name.endswith("MUX")}
    connections |= dict.fromkeys(inputs - connections.keys())
    parameters = {
        name: value
        for name, value in given.items()
        if re.fullmatch(_PARAMETERS.get(kind, ""), name)
    }
    texts = [f".{name}({_literal(value)})" for name, value in parameters.items()]
    if kind == "TRELLIS_COMB" and connections.get("FXA") is not None:
        texts.append(".LUT6(1)")
    pins = []
    for port, bit in connections.items():
        if cell["port_directions"].get(port, "input") == "output":
            if bit is not None:
                pins.append(f".{port}({_net(bit)})")
            continue
        mux = given.get(f"{port}MUX", port).strip()
        if bit is None and mux == port and kind == "MULT18X18D":
            continue  # of its many inputs the model does not have all
        value = _net(bit) if bit is not None else f"1'b{int(port not in _OPEN_IS_0)}"
        if mux in ("0", "1"):
            value = f"1'b{mux}"
        pins.append(f".{port}({'~' if mux == 'INV' else ''}{value})")
    return f"  {kind} #({', '.join(texts)}) cell_{number} ({', '.join(pins)});".replace("#() ", "")


def _literal(value):
    if re.fullmatch("[01]+", value):
        return f"{len(value)}'b{value}"
    return f'"{value.strip()}"'
