"""Noise from ring oscillators in an FPGA's LUTs.

Source: S. Nolting, "neoTRNG" (https://github.com/stnolting/neoTRNG), and OpenTitan's entropy
source: inverters in a ring, whose phase drifts against the clock. What differs: rings of LUTs that
are named one by one, so that no tool removes them; samples are raw, without removal of bias.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import xor

from amaranth.hdl import Const, Instance, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.parameters import check_ranges

LENGTHS = (5, 7, 9, 11)
"""Inverters of each ring: odd, and without a common divisor."""


@dataclass(frozen=True)
class _Lut:
    """How a family's LUT is called, and its ports and parameter."""

    kinds: tuple[str, str]
    """With one input, and with two."""
    inputs: str
    output: str
    table: str
    bits: tuple[int, int]


_LUTS = {
    Target.XC7: _Lut(("LUT1", "LUT2"), "I{}", "O", "INIT", (2, 4)),
    Target.GOWIN: _Lut(("LUT1", "LUT2"), "I{}", "F", "INIT", (2, 4)),
    Target.ICE40: _Lut(("SB_LUT4", "SB_LUT4"), "I{}", "O", "LUT_INIT", (16, 16)),
    Target.ECP5: _Lut(("LUT4", "LUT4"), "ABCD", "Z", "INIT", (16, 16)),
}
NOISE_TARGETS = tuple(_LUTS)
"""Targets that have rings."""


class RingOscillators(wiring.Component):
    """Raw samples: the exclusive or of all rings, taken every `period` cycles.

    Raises ValueError for a target without rings, an even length, and a period out of range.

    Parameters
    ----------
    target : whose LUTs
    period : cycles from a sample to the next, in which phases drift: 4 to 65,536
    lengths : inverters of each ring

    Members
    -------
    enable : the rings run; otherwise they stand still
    valid, sample : a raw sample
    """

    def __init__(self, target: Target, period: int = 64, lengths: tuple[int, ...] = LENGTHS):
        if target not in _LUTS:
            known = ", ".join(noise_target.value for noise_target in NOISE_TARGETS)
            raise ValueError(f"there are ring oscillators for {known}, not for {target.value}")
        check_ranges(period=(period, range(4, (1 << 16) + 1)))
        for length in lengths:
            if length < 3 or length % 2 == 0:
                raise ValueError(f"a ring has an odd number of inverters, 3 or more, not {length}")
        self.target, self.period, self.lengths = target, period, lengths
        super().__init__({"enable": In(1), **dict.fromkeys(("valid", "sample"), Out(1))})

    def elaborate(self, platform: object) -> Module:
        """Rings, synchronizers, and the clock of samples."""
        m = Module()
        ends = [self._ring(m, number, length) for number, length in enumerate(self.lengths)]
        settled = [Signal(name=f"settled_{number}") for number in range(len(ends))]
        for number, (end, bit) in enumerate(zip(ends, settled, strict=True)):
            m.submodules[f"synchronizer_{number}"] = FFSynchronizer(end, bit)
        waited = Signal(range(self.period))
        last = waited == self.period - 1
        m.d.sync += self.valid.eq(0)
        with m.If(~self.enable | last):
            m.d.sync += waited.eq(0)
        with m.Else():
            m.d.sync += waited.eq(waited + 1)
        with m.If(self.enable & last):
            m.d.sync += [self.valid.eq(1), self.sample.eq(reduce(xor, settled))]
        return m

    def _ring(self, m: Module, number: int, length: int) -> Value:
        """A ring; the first of its inverters stops it."""
        wires = [Signal(name=f"ring_{number}_{place}") for place in range(length)]
        for place, wire in enumerate(wires):
            inputs = [wires[place - 1], *([self.enable] if place == 0 else [])]
            m.submodules[f"inverter_{number}_{place}"] = self._inverter(wire, inputs)
        return wires[-1]

    def _inverter(self, output: Signal, inputs: list[Signal]) -> Instance:
        """The inverse of a wire, or of two, which the tools keep."""
        lut = _LUTS[self.target]
        which = len(inputs) - 1
        bits = lut.bits[which]
        ones = (1 << len(inputs)) - 1
        table = sum(1 << row for row in range(bits) if row & ones != ones)
        names: Callable[[int], str] = (
            lut.inputs.format if "{}" in lut.inputs else lut.inputs.__getitem__
        )
        count = bits.bit_length() - 1
        ports = {
            f"i_{names(place)}": inputs[place] if place < len(inputs) else Const(0, 1)
            for place in range(count)
        }
        parameter = {f"p_{lut.table}": Const(table, bits)}
        return Instance(
            lut.kinds[which],
            **parameter,
            **ports,
            **{f"o_{lut.output}": output},
            a_keep=1,
            a_DONT_TOUCH="TRUE",
        )
