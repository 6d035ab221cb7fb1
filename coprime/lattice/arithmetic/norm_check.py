"""Whether coefficients are within the bounds of a signature, or of a private key.

Source: FIPS 204, algorithm 7, lines 23 and 28, algorithm 8, line 13, and the note on algorithm 25.
"""

import enum

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.large_arithmetic import NUMBER_BITS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

_BOUND_BITS = max(parameter_set.gamma1 for parameter_set in ML_DSA_SETS).bit_length()


class NormBound(enum.Enum):
    """The least magnitude that is refused."""

    LOW = 0  # gamma2 - beta, of low parts of w - c s2
    MASKED = 1  # gamma1 - beta, of z
    CORRECTION = 2  # gamma2, of c t0
    SHORT = 3  # eta + 1, of s1 and s2 in a private key


BOUNDS = {
    NormBound.LOW: [parameter_set.gamma2 - parameter_set.beta for parameter_set in ML_DSA_SETS],
    NormBound.MASKED: [parameter_set.gamma1 - parameter_set.beta for parameter_set in ML_DSA_SETS],
    NormBound.CORRECTION: [parameter_set.gamma2 for parameter_set in ML_DSA_SETS],
    NormBound.SHORT: [parameter_set.eta + 1 for parameter_set in ML_DSA_SETS],
}
"""By parameter set."""


class NormCheck(wiring.Component):
    """Remembers whether a coefficient was out of bounds. All coefficients take the same time.

    Members
    -------
    parameter_set (2 bits, in), bound (in): stable while `check`
    clear (1 bit, in): forget
    x (signed 24 bits, in), check (1 bit, in): a coefficient, centred
    exceeds (1 bit, out): one of the coefficients checked at least two cycles ago was out of bounds
    """

    LATENCY = 2

    def __init__(self) -> None:
        super().__init__(
            {
                "parameter_set": In(2),
                "bound": In(NormBound),
                "clear": In(1),
                "x": In(signed(NUMBER_BITS)),
                "check": In(1),
                "exceeds": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """x + bound - 1 must be in [0, 2 bound - 2]."""
        m = Module()
        rows = [
            BOUNDS[bound][number] if number < len(ML_DSA_SETS) else 1
            for bound in NormBound
            for number in range(4)
        ]
        address = Cat(self.parameter_set, self.bound)
        less, limit = (
            look_up([function(row) for row in rows], address, _BOUND_BITS + 1)
            for function in (lambda row: row - 1, lambda row: 2 * row - 2)
        )
        shifted, checked = Signal(signed(NUMBER_BITS + 1)), Signal()
        m.d.sync += [shifted.eq(self.x + less), checked.eq(self.check)]
        with m.If(checked & (shifted[-1] | (shifted[:-1] > limit))):
            m.d.sync += self.exceeds.eq(1)
        with m.If(self.clear):
            m.d.sync += [self.exceeds.eq(0), checked.eq(0)]
        return m
