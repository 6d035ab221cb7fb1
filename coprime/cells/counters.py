"""Counters: how many of some bits of one weight are 1, as a binary number.

Source: COMPRESSION (Vassoler 2023), section 2.2.1: half adder, full adder, and the 5:3 counter
(Patronik, Piestrak 2017). Each works on vectors: the bits at one place of all inputs are counted
at that place of the outputs, so that one call is a row of counters.

Unit gates (see `flow/unit_gate.py`): an AND or OR is 1 in area and delay, an XOR 2.
"""

from collections.abc import Callable
from dataclasses import dataclass

from amaranth.hdl import Value


def half_adder(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b in each place: (weight 1, weight 2)."""
    return a ^ b, a & b


def full_adder(a: Value, b: Value, c: Value) -> tuple[Value, Value]:
    """a + b + c in each place: (weight 1, weight 2). c may come two gates later than a and b."""
    differ = a ^ b
    return differ ^ c, (a & b) | (differ & c)


def counter_5_3(a: Value, b: Value, c: Value, d: Value, e: Value) -> tuple[Value, Value, Value]:
    """a + b + c + d + e in each place: (weight 1, weight 2, weight 4)."""
    first, first_carry = full_adder(a, b, c)
    total, second_carry = full_adder(d, e, first)
    return total, *half_adder(first_carry, second_carry)


@dataclass(frozen=True)
class Counter:
    """A kind of counter: its function, and what it costs."""

    name: str
    build: Callable[..., tuple[Value, ...]]
    inputs: int
    area: int  # unit gates
    delays: tuple[int, ...]  # of each output, the lowest weight first, in delays of one unit gate

    @property
    def outputs(self) -> int:
        """Bits of the count."""
        return len(self.delays)


HALF_ADDER = Counter("half_adder", half_adder, 2, 3, (2, 1))
FULL_ADDER = Counter("full_adder", full_adder, 3, 7, (4, 4))
COUNTER_5_3 = Counter("counter_5_3", counter_5_3, 5, 17, (6, 8, 7))
