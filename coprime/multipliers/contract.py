"""What the engine asks of a modular multiplier that works on the operand memory digit by digit."""

import enum

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["READ_LATENCY", "MultiplierSignature", "Role"]

READ_LATENCY = 3
"""Cycles from asking a port for a digit to its data: slot and index, address, block RAM."""


class Role(enum.IntEnum):
    """What an operand is to the multiplication; the engine knows where it lies."""

    X = 0
    Y = 1
    M = 2
    """The modulus."""
    M_INVERSE = 3
    """-M^-1 mod 2^W."""


class MultiplierSignature(wiring.Signature):
    """Ports of a multiplier, seen from it.

    `start` is sampled while the multiplier is idle; `inner_digits` (digits of X and M),
    `outer_digits` (digits of Y) and `y_is_one` must stay until `done`, which is 1 in the last cycle
    of the multiplication. The first cycle after `start` counts as the first of the multiplication.

    Through port A the multiplier reads digit `a_index` of the operand `a_role`; `a_data` comes
    READ_LATENCY cycles later. Through port B it reads digits of the result in the same way, or
    writes them; what was written can be asked for in the next cycle.
    """

    def __init__(self, digit_width: int, count_bits: int):
        super().__init__(
            {
                "start": In(1),
                "done": Out(1),
                "inner_digits": In(count_bits),
                "outer_digits": In(count_bits),
                "y_is_one": In(1),
                "a_role": Out(Role),
                "a_index": Out(count_bits),
                "a_data": In(digit_width),
                "b_index": Out(count_bits),
                "b_data": In(digit_width),
                "b_write": Out(1),
                "b_write_data": Out(digit_width),
                "multiplying": Out(1),
            }
        )
