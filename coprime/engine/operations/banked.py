"""The operations of a lane of two banks: multiplicands left, multipliers right, products in place.

A product is written over its multiplicand, which the multiplier has read by then, so one place does
for ACCUMULATOR and NEXT. The right bank holds the table of a private operation and nothing else for
as long as that takes: what is a multiplier before or after is moved there in time, and what a
private operation needs again stays left.

RSA_PRIVATE checks its result with the public exponent before it can be read. A fault in one of the
two halves would otherwise give the key away (Boneh, DeMillo, Lipton 1997: the greatest common
divisor of M and result^E - X is a prime then). What is read is a copy of S, and the lane compares
it with the S that was checked as it is read (`BankedLane`).

With `Blinding.BASE` the base of a half is r^E * X in place of X, with a random r. Its power is
multiplied by r^(E - 1) * X in the end, and the exponent is less by 1 for that: no inverse is
needed, and nothing of r is kept. As E and D_p are odd, one less is a lowest bit of 0.

    (r^E * X)^(D_p - 1) * r^(E - 1) * X = r^(1 - E) * X^(D_p - 1) * r^(E - 1) * X = X^D_p

With `Blinding.EXPONENT` the exponent is D_p + k (P - 1), with a random k.

All of it is one list, in which the commands share what they can, and both primes everything: with
at most 63 steps a bit of the program memory is a LUT.
"""

from dataclasses import replace

from coprime.exponentiators.fixed_window import windows
from coprime.exponentiators.names import Blinding
from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then, multiply
from coprime.exponentiators.table import enter
from coprime.multipliers.contract import Multiplication

from .common import (
    REDUCE,
    REDUCE_BELOW_3M,
    below_modulus,
    go,
    leave,
    prepare,
    reduced,
    test_modulus,
)

__all__ = ["operations"]

_ACC = Slot.ACCUMULATOR
_WHOLE, _P, _TURN = Context.WHOLE, Context.P, Context.TURN

_PRIMES, _HALF, _SCAN, _LAST, _CHECK = "primes", "half", "scan", "last", "check"
_NOT_PRIVATE, _MODMUL = "not_private", "modmul"
"""Labels."""


def operations(own: Multiplication, blinding: Blinding = Blinding.NONE) -> list[Step]:
    """MODMUL, MODEXP, RSA_PUBLIC and RSA_PRIVATE, all from the first step on."""
    return [
        test_modulus(_WHOLE),
        _unless_private(below_modulus(Slot.X), _NOT_PRIVATE),
        _next_turn(replace(test_modulus(_TURN), label=_PRIMES), _PRIMES),
        # The table of a blinded half leaves E its place.
        *([] if blinding else [_move(Slot.KEPT_E, Slot.E, _WHOLE)]),
        *_half(own, blinding),
        *_recombine(own, blinding),
        *_canonical(),
        _move(Slot.SUM, _ACC, _WHOLE),
        _move(Slot.SUM_COPY, _ACC, _WHOLE),
        _move(Slot.FACTOR, Slot.X, _WHOLE),
        *_check(own),
        go(_move(Slot.RESULT, Slot.SUM_COPY, _WHOLE), ""),
        *_not_private(own),
    ]


def _half(own: Multiplication, blinding: Blinding) -> list[Step]:
    """A prime's half: X ^ D_p modulo p, below 2p. From SCAN on, it is MODEXP modulo M, too.

    What enters has a quotient as long as M, in two blocks, the second one T_1's. So 1 enters before
    there is a T_1, and waits in T_15's place until the base is not needed any more.
    """
    one = Slot.T_15
    scan, square, product, last = windows(_TURN, _ACC)
    base = Blinding.BASE in blinding
    steps = [
        *(_blind_exponent() if Blinding.EXPONENT in blinding else []),
        _move(Slot.FACTOR, Slot.X, _WHOLE),
        *_prepare(own, _TURN),
        *(_draw_random() if base else []),
        enter(_TURN, _ACC, Slot.ONE),
        _move(one, _ACC, _TURN),
        *(_blind_base() if base else [enter(_TURN, _ACC, Slot.FACTOR)]),
        _move(Slot.WINDOW, _ACC, _TURN),
        _table(_TURN),
        *(_start(one) if blinding else _last_entry(one)),
        replace(scan, label=_SCAN),
        replace(square, drops_last=base),
        product,
        *(_unblind() if base else []),
        replace(_next_turn(leave(own, last), _HALF), destination=Slot.HALF, label=_LAST),
    ]
    return [replace(steps[0], label=_HALF), *steps[1:]]


def _last_entry(one: Slot) -> list[Step]:
    """T_15, in whose place there is the 1 to begin with."""
    return [
        multiply(_ACC, _ACC, Slot.WINDOW, _TURN, "T_15 = B * T_14"),
        _move(Slot.QUOTIENT, one, _TURN),
        _move(Slot.T_15, _ACC, _TURN),
        *_start(Slot.QUOTIENT),
    ]


def _start(one: Slot) -> list[Step]:
    return [_move(_ACC, one, _TURN)]


def _blind_exponent() -> list[Step]:
    """BLINDED = D_p + k (P - 1): for each bit of k a double of P - 1, which is added or not."""
    again = "blind_exponent"
    doubles = _linear(
        StepKind.ADD, Slot.MULTIPLE, Slot.MULTIPLE, Slot.MULTIPLE, _WHOLE, "twice of it"
    )
    return [
        _clear(Slot.BLINDED),
        _move(Slot.BLINDED, Slot.DP, _TURN),
        _clear(Slot.MULTIPLE),
        _linear(StepKind.EVEN, Slot.MULTIPLE, Slot.P, Slot.M, _TURN, "P - 1"),
        replace(
            _linear(
                StepKind.ADD_DRAWN,
                Slot.BLINDED,
                Slot.BLINDED,
                Slot.MULTIPLE,
                _WHOLE,
                "D_p + k_i 2^i (P - 1)",
            ),
            label=again,
        ),
        replace(doubles, then=Then.DRAWN, target=again),
    ]


def _draw_random() -> list[Step]:
    """RANDOM = r, which is as good in Montgomery form as it is drawn; below 2p, as any factor."""
    random = Slot.RANDOM
    return [
        _linear(StepKind.DRAW, random, random, Slot.M, _TURN, "r is drawn"),
        multiply(_ACC, Slot.P_POWER, random, _TURN, "... below 2p"),
        _move(random, _ACC, _TURN),
    ]


def _blind_base() -> list[Step]:
    """ACCUMULATOR = r^E * X, UNBLINDING = r^(E - 1) * X. There is 1 in ACCUMULATOR, r in RANDOM."""
    square, done, random = "blind_square", "blind_done", Slot.RANDOM
    squares = multiply(
        _ACC, _ACC, _ACC, _TURN, "C = C * C", then=Then.SQUARED, target=done, label=square
    )
    return [
        Step(kind=StepKind.SCAN_PUBLIC, modulus=_TURN, target=done, note="from the highest 1 of E"),
        replace(squares, drops_last=True),
        multiply(_ACC, _ACC, random, _TURN, "C = C * r", then=Then.MULTIPLIED, target=square),
        replace(_move(Slot.TERM, _ACC, _TURN), label=done, note="r^(E - 1)"),
        enter(_TURN, _ACC, Slot.FACTOR),
        multiply(_ACC, _ACC, Slot.TERM, _TURN, "r^(E - 1) * X"),
        _move(Slot.UNBLINDING, _ACC, _TURN),
        multiply(_ACC, _ACC, random, _TURN, "r^E * X"),
    ]


def _unblind() -> list[Step]:
    """The power of r^E * X becomes that of X, in a private operation."""
    return [
        _unless_private(_move(Slot.FACTOR, Slot.UNBLINDING, _TURN), _LAST),
        multiply(_ACC, _ACC, Slot.FACTOR, _TURN, "C * r^(E - 1) * X"),
    ]


def _table(context: Context) -> Step:
    """T_2 and so on, from T_1 and the base in ACCUMULATOR: one step for all."""
    return multiply(Slot.ENTRY, _ACC, Slot.WINDOW, context, "T_(k+1) = B * T_k", then=Then.ENTRY)


def _recombine(own: Multiplication, blinding: Blinding) -> list[Step]:
    """S = S_q + Z_p * (S_p - S_q) / R_p mod M: Garner's formula with the weight Z_p of S_p.

    Z_p is 1 modulo P and 0 modulo Q, so Z_q = 1 - Z_p is not needed. S_p is in ACCUMULATOR, S_q in
    PART. The sum is below 3M.
    """
    q_modulo_p = multiply(
        Slot.PART, Slot.P_POWER, Slot.FACTOR, _P, "S_q modulo P, times R_p", outer=_WHOLE
    )
    plus_p = _linear(StepKind.ADD, _ACC, _ACC, Slot.P, _P, "S_p + 2P")
    weighed = multiply(
        _ACC, Slot.CRT_P, Slot.TERM, _WHOLE, "Z_p * (S_p - S_q) mod M, below 2M", outer=_P
    )
    return [
        # S_q, below 2Q, as long as M.
        _unless_private(_clear(Slot.FACTOR), REDUCE),
        _move(Slot.FACTOR, Slot.PART, Context.Q),
        q_modulo_p,
        leave(own, multiply(Slot.PART, Slot.PART, Slot.ONE, _P, "S_q modulo P, below 2P")),
        plus_p,
        plus_p,
        _linear(StepKind.SUBTRACT, Slot.TERM, _ACC, Slot.PART, _P, "S_p - S_q + 2P, below 4P"),
        *([] if blinding else [_move(Slot.E, Slot.KEPT_E, _WHOLE)]),
        *_prepare(own, _WHOLE),
        leave(own, weighed),
        _linear(StepKind.ADD, _ACC, Slot.FACTOR, _ACC, _WHOLE, "... + S_q"),
    ]


def _canonical() -> list[Step]:
    """RESULT, which is where ACCUMULATOR is, from what is below 2M or 3M, as the labels tell."""
    first, *others, last = [
        *reduced(_ACC, _ACC, _WHOLE, REDUCE_BELOW_3M),
        *reduced(Slot.RESULT, _ACC, _WHOLE, REDUCE),
    ]
    return [first, *others, _unless_private(last, "")]


def _check(own: Multiplication) -> list[Step]:
    """S ^ E = X modulo either prime, or everything is wiped.

    Square and multiply: E is public. Both sides are made canonical before they are compared.
    """
    square, done = "check_square", "check_done"
    return [
        *[replace(step, label=_CHECK) for step in _prepare(own, _TURN)],
        enter(_TURN, Slot.TERM, Slot.SUM),
        enter(_TURN, _ACC, Slot.ONE),
        Step(kind=StepKind.SCAN_PUBLIC, modulus=_TURN, target=done, note="from the highest 1 of E"),
        multiply(
            _ACC, _ACC, _ACC, _TURN, "C = C * C", then=Then.SQUARED, target=done, label=square
        ),
        multiply(_ACC, _ACC, Slot.TERM, _TURN, "C = C * S", then=Then.MULTIPLIED, target=square),
        replace(leave(own, multiply(_ACC, _ACC, Slot.ONE, _TURN, "C = S ^ E")), label=done),
        *reduced(_ACC, _ACC, _TURN),
        enter(_TURN, Slot.PART, Slot.FACTOR),
        leave(own, multiply(Slot.PART, Slot.PART, Slot.ONE, _TURN, "X modulo the prime")),
        *reduced(Slot.PART, Slot.PART, _TURN),
        _linear(StepKind.SUBTRACT, _ACC, _ACC, Slot.PART, _TURN, "S ^ E - X"),
        _next_turn(_zero(_ACC, _TURN), _CHECK),
    ]


def _not_private(own: Multiplication) -> list[Step]:
    """X * Y mod M, and X ^ E mod M up to where its exponent is scanned."""
    enters = multiply(
        _ACC, Slot.X, Slot.M_POWER, _WHOLE, "X * R mod M", then=Then.IF_MODMUL, target=_MODMUL
    )
    one = multiply(_ACC, _ACC, Slot.ONE, _WHOLE, "C = 1")
    product = multiply(_ACC, _ACC, Slot.Y, _WHOLE, "X * Y mod M, below 3M")
    return [
        *[replace(step, label=_NOT_PRIVATE) for step in _prepare(own, _WHOLE)],
        enters,
        _move(Slot.WINDOW, _ACC, _WHOLE),
        _table(_WHOLE),
        _move(_ACC, Slot.M_POWER, _WHOLE),
        go(one, _SCAN),
        replace(below_modulus(Slot.Y), label=_MODMUL),
        go(leave(own, product), REDUCE_BELOW_3M),
    ]


def _next_turn(step: Step, target: str) -> Step:
    return replace(step, then=Then.NEXT_TURN, target=target)


def _unless_private(step: Step, target: str) -> Step:
    return replace(step, then=Then.UNLESS_PRIVATE, target=target)


def _prepare(own: Multiplication, context: Context) -> list[Step]:
    return [replace(step, destination=Slot.SCALED) for step in prepare(own, context)]


def _move(destination: Slot, x: Slot, modulus: Context) -> Step:
    note = f"{destination.name} = {x.name}"
    return _linear(StepKind.MOVE, destination, x, Slot.M, modulus, note)


def _clear(destination: Slot) -> Step:
    note = f"{destination.name} = 0"
    return _linear(StepKind.SUBTRACT, destination, Slot.M, Slot.M, _WHOLE, note)


def _zero(y: Slot, modulus: Context) -> Step:
    return _linear(StepKind.ZERO, y, y, y, modulus, f"{y.name} = 0?")


def _linear(
    kind: StepKind, destination: Slot, x: Slot, y: Slot, modulus: Context, note: str
) -> Step:
    return Step(kind=kind, destination=destination, x=x, y=y, modulus=modulus, note=note)
