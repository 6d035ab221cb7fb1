"""The `fdfm` engine: FDFM's processor core on one DSP slice and one block RAM.

Source: Ito, Nakano, Song (2011), section 5.2, figures 7 and 8. What differs: an operand's last
digit is known from its length, held beside the command, not from a flag in the memory's 18th bit;
so a memory that holds anything at all cannot keep the engine from ending.
"""

from coprime.cells.target import Target
from coprime.exponentiators.left_to_right import left_to_right
from coprime.multipliers.fdfm import FdfmMultiplier

from .contract import Capabilities, Command, Length, Operand
from .engine import Engine
from .layout import Layout
from .program import rsa_program

__all__ = ["CAPABILITIES", "LAYOUT", "PROGRAM", "fdfm_engine"]

_PUBLIC = {Operand.M, Operand.M_INVERSE, Operand.M_POWER, Operand.X}

CAPABILITIES = Capabilities(
    family="fdfm",
    family_number=1,
    digit_width=FdfmMultiplier.DIGIT_WIDTH,
    headroom=2,  # 2^(17d) > 4M
    min_length=16,  # 2 digits
    max_length=2176,
    max_prime_length=1392,  # as many digits as one block RAM has room for
    operands={
        Operand.X: Length.MODULUS,
        Operand.Y: Length.MODULUS,
        Operand.E: Length.EXPONENT,
        Operand.M: Length.MODULUS,
        Operand.P: Length.P,
        Operand.Q: Length.Q,
        Operand.DP: Length.P,
        Operand.DQ: Length.Q,
        Operand.M_INVERSE: Length.DIGIT,
        Operand.P_INVERSE: Length.DIGIT,
        Operand.Q_INVERSE: Length.DIGIT,
        Operand.M_POWER: Length.MODULUS,
        Operand.P_POWER: Length.P,
        Operand.Q_POWER: Length.Q,
        Operand.CRT_P: Length.MODULUS,
        Operand.CRT_Q: Length.MODULUS,
    },
    required={
        Command.MODMUL: frozenset(_PUBLIC | {Operand.Y}),
        Command.MODEXP: frozenset(_PUBLIC | {Operand.E}),
        Command.RSA_PUBLIC: frozenset(_PUBLIC | {Operand.E}),
        Command.RSA_PRIVATE: frozenset(
            {
                Operand.X,
                Operand.M,
                Operand.M_INVERSE,
                Operand.P,
                Operand.Q,
                Operand.DP,
                Operand.DQ,
                Operand.P_INVERSE,
                Operand.Q_INVERSE,
                Operand.P_POWER,
                Operand.Q_POWER,
                Operand.CRT_P,
                Operand.CRT_Q,
            }
        ),
    },
    constant_time=False,
    description="one DSP slice, one block RAM; binary exponentiation",
)

LAYOUT = Layout.pack(
    2048, whole=CAPABILITIES.max_digits, prime=CAPABILITIES.max_prime_digits
)

PROGRAM = rsa_program(left_to_right)


def fdfm_engine(target: Target = Target.GENERIC) -> Engine:
    """The engine for a target."""
    return Engine(
        CAPABILITIES,
        FdfmMultiplier(CAPABILITIES.count_bits, target),
        PROGRAM,
        LAYOUT,
        target=target,
    )
