"""The frequencies that a family's clock generator (PLL) makes, and the dividers that make them.

A PLL divides its input, compares the quotient with its oscillator's frequency, divided, and divides
the oscillator's frequency for its output:

    oscillator = input * multiplier / input_divider,   output = oscillator / output_divider.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from .target import Target


@dataclass(frozen=True, kw_only=True)
class ClockSetting:
    """A generated clock. Frequencies are in MHz.

    `multiplier` is of the oscillator, whatever way its frequency is fed back.
    """

    input_mhz: Fraction
    input_divider: int
    multiplier: int
    output_divider: int

    @property
    def comparison_mhz(self) -> Fraction:
        """The frequency at which the phases are compared."""
        return self.input_mhz / self.input_divider

    @property
    def oscillator_mhz(self) -> Fraction:
        """The frequency of the PLL's own oscillator."""
        return self.comparison_mhz * self.multiplier

    @property
    def mhz(self) -> Fraction:
        """The frequency of the output."""
        return self.oscillator_mhz / self.output_divider


@dataclass(frozen=True, kw_only=True)
class ClockRanges:
    """What a family's PLL can be set to. Frequencies are in MHz, both ends included.

    Dividers are in ascending order.
    """

    comparison: tuple[Fraction, Fraction]
    oscillator: tuple[Fraction, Fraction]
    output: tuple[Fraction, Fraction]
    input_dividers: Sequence[int]
    feedback_dividers: Sequence[int]
    output_dividers: Sequence[int]
    feedback_factor: int = 1
    """The multiplier's other factor: a divider in the way of the feedback that is always the same.
    0: it is the output divider, as the output is fed back."""
    exact: int = 0
    """If not 0, the output is a multiple of 1/`exact` MHz."""

    def settings(self, input_mhz: Fraction) -> Iterator[ClockSetting]:
        """All settings within the ranges."""
        for input_divider in self.input_dividers:
            comparison = input_mhz / input_divider
            if not self.comparison[0] <= comparison <= self.comparison[1]:
                continue
            for output_divider in self.output_dividers:
                factor = self.feedback_factor or output_divider
                for feedback in self._within(self.feedback_dividers, comparison * factor):
                    found = ClockSetting(
                        input_mhz=input_mhz,
                        input_divider=input_divider,
                        multiplier=feedback * factor,
                        output_divider=output_divider,
                    )
                    is_exact = not self.exact or (found.mhz * self.exact).denominator == 1
                    if self.output[0] <= found.mhz <= self.output[1] and is_exact:
                        yield found

    def _within(self, dividers: Sequence[int], unit: Fraction) -> Sequence[int]:
        """The dividers with which the oscillator is in its range."""
        low, high = (bound / unit for bound in self.oscillator)
        return dividers[bisect_left(dividers, low) : bisect_right(dividers, high)]

    def at_most(self, input_mhz: Fraction, mhz: Fraction) -> ClockSetting | None:
        """The fastest output that is not above `mhz`; None if there is none.

        Of several settings it is the one that compares most often, for the least jitter, and then
        the one whose oscillator is nearest to the middle of its range.
        """
        low, high = self.oscillator
        middle = (low + high) / 2
        return max(
            (setting for setting in self.settings(input_mhz) if setting.mhz <= mhz),
            key=lambda setting: (
                setting.mhz,
                setting.comparison_mhz,
                -abs(setting.oscillator_mhz - middle),
            ),
            default=None,
        )

    def at_least(self, input_mhz: Fraction, mhz: Fraction) -> Fraction | None:
        """The slowest output, in MHz, that is not below `mhz`; None if there is none."""
        found = (setting.mhz for setting in self.settings(input_mhz))
        return min((frequency for frequency in found if frequency >= mhz), default=None)


def _range(low: str, high: str) -> tuple[Fraction, Fraction]:
    return Fraction(low), Fraction(high)


def _gatemate_dividers() -> list[int]:
    """N1 * N2 of UG1001, whose first factor brings at most 625 MHz to the second one.

    The first has up to 64, so no prime above it can be made where that limit asks for a factor.
    """
    products = {first * second for first in range(2, 65) for second in range(1, 65)}
    return sorted(product for product in products if product <= 100)


CLOCK_RANGES: Mapping[Target, ClockRanges] = MappingProxyType(
    {
        # EHXPLLL (FPGA-DS-02012, "sysCLOCK PLL timing"; dividers in FPGA-TN-02200). CLKOP, a
        # quarter of the oscillator's frequency, is fed back inside; CLKOS is the output.
        Target.ECP5: ClockRanges(
            comparison=_range("10", "400"),
            oscillator=_range("400", "800"),
            output=_range("3.125", "400"),
            input_dividers=range(1, 129),
            feedback_dividers=range(1, 129),
            output_dividers=range(1, 129),
            feedback_factor=4,
        ),
        # rPLL (UG286): what both GW1NR-9C, C6/I5 (DS117), and GW2AR-18C, C8/I7 (DS226), allow.
        Target.GOWIN: ClockRanges(
            comparison=_range("3", "400"),
            oscillator=_range("500", "1200"),
            output=_range("3.90625", "600"),
            input_dividers=range(1, 65),
            feedback_dividers=range(1, 65),
            output_dividers=(2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128),
            feedback_factor=0,
        ),
        # SB_PLL40 (FPGA-DS-02008, "sysCLOCK PLL timing"; dividers in FPGA-TN-02052), feedback
        # SIMPLE.
        Target.ICE40: ClockRanges(
            comparison=_range("10", "133"),
            oscillator=_range("533", "1066"),
            output=_range("16", "275"),
            input_dividers=range(1, 17),
            feedback_dividers=range(1, 129),
            output_dividers=(2, 4, 8, 16, 32, 64),
        ),
        # CC_PLL (UG1001), mode ECONOMY with low jitter. nextpnr finds the dividers for a frequency
        # itself, and finds those of a fraction with a power of 2 below it exactly.
        Target.GATEMATE: ClockRanges(
            comparison=_range("5", "50"),
            oscillator=_range("1000.001", "2000"),
            output=_range("1", "312.5"),
            input_dividers=(1,),
            feedback_dividers=_gatemate_dividers(),
            output_dividers=(4, *range(8, 2049, 8)),
            feedback_factor=2,
            exact=4,
        ),
        # PLLE2_BASE, speed grade -1 (DS181, UG472).
        Target.XC7: ClockRanges(
            comparison=_range("19", "450"),
            oscillator=_range("800", "1600"),
            output=_range("6.25", "800"),
            input_dividers=range(1, 57),
            feedback_dividers=range(2, 65),
            output_dividers=range(1, 129),
        ),
    }
)
"""Of each target whose PLL we set. Nexus's needs settings of its analogue loop as well, which its
vendor's program computes; its internal oscillator is too inexact for a serial port."""
