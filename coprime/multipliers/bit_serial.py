"""What the multipliers that scan one bit of X a round share: parameters, cycles, registers.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005). What differs:

* The operands come word by word from a memory, and the result goes back there. X, whose bits are
  scanned, is not held in a register: one word of X is, and the next is read while that word is
  scanned. That saves n flip-flops and the cycles of loading them.
"""

from amaranth.hdl import Cat, Module, Signal, Value

from coprime.parameters import check_ranges

from .bit_serial_multiplication import BitSerialMultiplication
from .contract import ModularMultiplier, MultiplierSignature


def turned(register: Value, word: Value) -> Value:
    """The register after a word has entered at the high end and another has left at the low end."""
    return Cat(register[len(word) :], word)


def spread(m: Module, following: Value, width: int, *, name: str, clear: Value) -> Value:
    """A flip-flop that selects at each of `width` bits, as that many equal bits.

    `following` is its next value and `clear` its synchronous reset.
    """
    # A copy for each 64 bits was slower (1024 bits on ecp5: 139 MHz, not 152). It shortens the path
    # to the bits, but lengthens the path to the copies, which has q's logic before it.
    flag = Signal(name=name)
    m.d.sync += flag.eq(following)
    with m.If(clear):
        m.d.sync += flag.eq(0)
    return flag.replicate(width)


class BitSerialMultiplier(ModularMultiplier):
    """The hardware of a `BitSerialMultiplication`: adds a multiple of Y each round.

    Raises ValueError if `count_bits` are too few.

    Parameters
    ----------
    multiplication (BitSerialMultiplication): of the class `computes`
    count_bits (int): bits of a digit count, at most 16; it holds words + 1
    round_bits (int): bits of a count of rounds, 1 to 32

    Attributes
    ----------
    s (Signal): the register S, for simulations to look into
    secrets (list): all signals and memory words that hold something of operands; `wipe` clears them
    """

    computes: type[BitSerialMultiplication]
    multiplication: BitSerialMultiplication

    def __init__(self, multiplication: BitSerialMultiplication, count_bits: int, round_bits: int):
        check_ranges(count_bits=(count_bits, range(1, 17)), round_bits=(round_bits, range(1, 33)))
        self.multiplication = multiplication
        self.words = words = multiplication.words
        self.digit_width = multiplication.digit_width
        self.width = multiplication.width
        if words + 1 >= 1 << count_bits:
            raise ValueError(f"count_bits must hold words + 1 = {words + 1}, not be {count_bits}")
        self.count_bits, self.round_bits = count_bits, round_bits
        self.s = Signal(self.width, reset_less=True)
        self.secrets: list[Value] = [self.s]
        super().__init__(MultiplierSignature(self.digit_width, count_bits, round_bits))
