"""Sums of which one number is logic: on XC7 in the LUTs of the carry chain, which has a LUT a bit.

Synthesis would make that number first, and merge two sums in a row to an adder of three numbers.
On other targets it maps the same sum.
"""

from collections.abc import Callable, Sequence
from itertools import product

from amaranth.hdl import Array, Cat, Const, Instance, Module, Signal, Value, ValueLike

from .luts import place_lut
from .tables import look_up
from .target import Target

_PLACES = 4
_CHOICE = 5


def place_sum(
    m: Module, a: Value, term: Callable[..., bool], *words: Sequence[Value], carry: ValueLike = 0
) -> Signal:
    """a, a number and `carry`, modulo 2^width of a, on XC7.

    Bit k of the number is `term` of k and of bit k of all `words`, which are at most 5.
    """
    halves: list[Value] = []
    for k, (own, *inputs) in enumerate(zip(a, *words, strict=True)):
        rows = product((0, 1), repeat=len(inputs))
        if any(term(k, *row) for row in rows):
            own = place_lut(
                m, lambda own, *bits, k=k: bool(own) != bool(term(k, *bits)), own, *inputs
            )
        halves.append(own)
    return _chain(m, halves, a, carry)


def place_increment(
    m: Module, function: Callable[..., bool], *words: Sequence[Value], carry: ValueLike
) -> Signal:
    """A `function` of words, bit by bit, plus `carry`, on XC7: a function of up to 6 bits."""
    halves = [place_lut(m, function, *column) for column in zip(*words, strict=True)]
    return _chain(m, halves, [Const(0, 1)] * len(halves), carry)


def select_and_count(
    m: Module, words: Sequence[Value], choice: Value, carry: ValueLike, target: Target
) -> Value:
    """One of two or four words of the same width, plus `carry`, modulo 2^width: a LUT a bit."""
    if target is not Target.XC7:
        return (Array(words)[choice] + carry)[: len(words[0])]

    def chosen(*bits: int) -> bool:
        return bool(bits[sum(bit << k for k, bit in enumerate(bits[len(words) :]))])

    choices = [[bit] * len(words[0]) for bit in choice]
    return place_increment(m, chosen, *words, *choices, carry=carry)


def _chain(
    m: Module, halves: Sequence[Value], generated: Sequence[Value], carry: ValueLike
) -> Signal:
    """A sum of two numbers, of which `halves` has the sums of each two bits, and `generated` what
    these carry where the sum is 0."""
    found = Signal(len(halves), name="found")
    carried = Value.cast(carry)
    for first in range(0, len(halves), _PLACES):
        part = list(halves[first : first + _PLACES])
        spare = [Const(0, 1)] * (_PLACES - len(part))
        carries, sums = Signal(_PLACES, name="carries"), Signal(_PLACES, name="sums")
        m.submodules += Instance(
            "CARRY4",
            i_CI=carried if first else Const(0, 1),
            i_CYINIT=Const(0, 1) if first else carried,
            i_DI=Cat(*generated[first : first + _PLACES], *spare),
            i_S=Cat(*part, *spare),
            o_CO=carries,
            o_O=sums,
        )
        m.d.comb += found[first : first + len(part)].eq(sums[: len(part)])
        carried = carries[-1]
    return found


def add_table(
    m: Module,
    a: Value,
    table: Sequence[int],
    choice: Value,
    target: Target,
    *,
    carry: ValueLike | None = None,
) -> Value:
    """a, a number of a table and `carry`, modulo 2^width of a; without a LUT for the table if
    `choice` has at most 5 bits."""
    width = len(a)
    numbers = [number % (1 << width) for number in table]
    if target is not Target.XC7 or len(choice) > _CHOICE:
        total = a + look_up(numbers, choice, width)
        return (total if carry is None else total + carry)[:width]
    # The lowest bits of a stay as they are where nothing is added to them.
    kept = min((number & -number).bit_length() - 1 for number in numbers if number)
    if carry is not None:
        kept = 0
    upper = a[kept:]

    def term(k: int, *bits: int) -> bool:
        row = sum(bit << place for place, bit in enumerate(bits))
        return bool(numbers[row] >> kept + k & 1) if row < len(numbers) else False

    words = [[bit] * len(upper) for bit in choice]
    return Cat(a[:kept], place_sum(m, upper, term, *words, carry=0 if carry is None else carry))
