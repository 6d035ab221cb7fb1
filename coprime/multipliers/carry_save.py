"""What BITSERIAL's three carry-save multipliers share: adder rows, word adders, registers S and C.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005). What differs, beside what `bit_serial.py` tells:

* The result leaves in canonical form. The paper's figures leave the conversion from S and C out.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Signal, Value

from .bit_serial import BitSerialMultiplication, BitSerialMultiplier

__all__ = ["CarrySaveMultiplication", "CarrySaveMultiplier", "carry_save", "word_sum"]


def carry_save(a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    """A row of full adders: the sums, and the carries at the places that they come from."""
    return a ^ b ^ c, (a & b) | (a & c) | (b & c)


def word_sum(a: Value, b: Value, carry: Value) -> Value:
    """a + b + carry, one bit longer than the words, in one carry chain."""
    # The lowest position makes the carry an input of the chain.
    return (Cat(Const(1, 1), a) + Cat(carry, b))[1:]


@dataclass(frozen=True)
class CarrySaveMultiplication(BitSerialMultiplication):
    """A multiplication that adds one multiple of Y a round to a value in carry-save form."""

    canonical = True
    constant_cycles = 2
    """Of a multiplication beside its rounds, loading and unloading: STARTING, and the round that
    brings C into S."""

    @property
    def pass_cycles(self) -> int:
        """Cycles of a pass that adds and compares."""
        return self.words + 2


class CarrySaveMultiplier(BitSerialMultiplier):
    """The hardware of a `CarrySaveMultiplication`.

    Attributes
    ----------
    c : Signal
        The register C, for simulations to look into.
    """

    def __init__(self, multiplication: BitSerialMultiplication, count_bits: int, round_bits: int):
        super().__init__(multiplication, count_bits, round_bits)
        self.c = Signal(self.width, reset_less=True)
        self.secrets.append(self.c)
