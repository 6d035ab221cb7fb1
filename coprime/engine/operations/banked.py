"""The operations of a lane of two banks: multiplicands left, multipliers right, products in place.

A product is written over its multiplicand, which the multiplier has read by then, so one place does
for ACCUMULATOR and NEXT. The right bank holds the table of a private operation and nothing else for
as long as that takes: what is a multiplier before or after is moved there in time, and what a
private operation needs again stays left.

RSA_PRIVATE checks its result with the public exponent before it can be read. A fault in one of the
two halves would otherwise give the key away (Boneh, DeMillo, Lipton 1997: the greatest common
divisor of M and result^E - X is a prime then).
"""

from dataclasses import replace

from coprime.exponentiators.fixed_window import windows
from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then, multiply
from coprime.exponentiators.table import enter

from .common import (
    REDUCE_BELOW_3M,
    Arithmetic,
    below_modulus,
    give,
    go,
    leave,
    prepare,
    reduced,
    test_modulus,
)

__all__ = ["modexp", "modmul", "rsa_private"]

_WRONG = "wrong"
"""Label: the result is wrong, and is wiped."""


def modmul(own: Arithmetic) -> list[Step]:
    """X * Y mod M."""
    whole = Context.WHOLE
    return [
        test_modulus(whole),
        below_modulus(Slot.X),
        below_modulus(Slot.Y),
        *_prepare(own, whole),
        multiply(Slot.ACCUMULATOR, Slot.X, Slot.M_POWER, whole, "X * R mod M"),
        give(
            own,
            multiply(Slot.ACCUMULATOR, Slot.ACCUMULATOR, Slot.Y, whole, "X * Y mod M"),
            REDUCE_BELOW_3M,
        ),
    ]


def modexp(own: Arithmetic) -> list[Step]:
    """X ^ E mod M, without the Chinese Remainder Theorem."""
    whole = Context.WHOLE
    base = multiply(Slot.WINDOW, Slot.X, Slot.M_POWER, whole, "T_1 = X")
    *steps, last = windows(whole, Slot.ACCUMULATOR)
    return [
        test_modulus(whole),
        below_modulus(Slot.X),
        *_prepare(own, whole),
        base,
        replace(base, destination=Slot.ACCUMULATOR, note="B = X"),
        _table(whole),
        _move(Slot.ACCUMULATOR, Slot.M_POWER, whole),
        multiply(Slot.ACCUMULATOR, Slot.ACCUMULATOR, Slot.ONE, whole, "C = 1"),
        *steps,
        give(own, last),
    ]


def rsa_private(own: Arithmetic) -> list[Step]:
    """X ^ D mod M, M = P * Q, checked."""
    return [
        *map(test_modulus, (Context.WHOLE, Context.P, Context.Q)),
        below_modulus(Slot.X),
        _move(Slot.KEPT_E, Slot.E, Context.EXPONENT),
        *_half(own, Context.Q, Slot.PART),
        *_half(own, Context.P, Slot.ACCUMULATOR),
        *_recombine(own),
        _move(Slot.SUM, Slot.ACCUMULATOR, Context.WHOLE),
        _move(Slot.SUM_COPY, Slot.ACCUMULATOR, Context.WHOLE),
        _move(Slot.KEPT_E, Slot.E, Context.EXPONENT),
        _move(Slot.FACTOR, Slot.X, Context.WHOLE),
        *_check(own, Context.Q),
        *_check(own, Context.P),
        *_release(),
        *_wipe(),
    ]


def _half(own: Arithmetic, prime: Context, result: Slot) -> list[Step]:
    """A prime's half: X ^ D_p modulo p, below 2p.

    What enters has a quotient as long as M, in two blocks, the second one T_1's. So 1 enters
    before there is a T_1, and waits in T_15's place until the base is not needed any more.
    """
    acc, one = Slot.ACCUMULATOR, Slot.T_15
    *steps, last = windows(prime, acc)
    return [
        _move(Slot.FACTOR, Slot.X, Context.WHOLE),
        *_prepare(own, prime),
        enter(prime, acc, Slot.ONE),
        _move(one, acc, prime),
        enter(prime, acc, Slot.FACTOR),
        _move(Slot.WINDOW, acc, prime),
        _table(prime),
        multiply(acc, acc, Slot.WINDOW, prime, "T_15 = B * T_14"),
        _move(Slot.QUOTIENT, one, prime),
        _move(Slot.T_15, acc, prime),
        _move(acc, Slot.QUOTIENT, prime),
        *steps,
        replace(leave(own, last), destination=result),
    ]


def _table(context: Context) -> Step:
    """T_2 and so on, from T_1 and the base in ACCUMULATOR: one step for all."""
    return multiply(
        Slot.ENTRY, Slot.ACCUMULATOR, Slot.WINDOW, context, "T_(k+1) = B * T_k", then=Then.ENTRY
    )


def _recombine(own: Arithmetic) -> list[Step]:
    """S = S_q + Z_p * (S_p - S_q) / R_p mod M: Garner's formula with the weight Z_p of S_p.

    Z_p is 1 modulo P and 0 modulo Q, so Z_q = 1 - Z_p is not needed. S_p is in ACCUMULATOR, S_q in
    PART.
    """
    p, whole = Context.P, Context.WHOLE
    q_as_factor = multiply(
        Slot.PART, Slot.P_POWER, Slot.FACTOR, p, "S_q modulo P, times R_p", outer=whole
    )
    difference = _linear(StepKind.SUBTRACT, Slot.ACCUMULATOR, Slot.ACCUMULATOR, Slot.PART, p)
    return [
        # S_q, below 2Q, as long as M.
        _clear(Slot.FACTOR),
        _move(Slot.FACTOR, Slot.PART, Context.Q),
        q_as_factor,
        leave(own, multiply(Slot.PART, Slot.PART, Slot.ONE, p, "S_q modulo P, below 2P")),
        # Below 4P, and not below 0.
        *[_linear(StepKind.ADD, Slot.ACCUMULATOR, Slot.ACCUMULATOR, Slot.P, p, "S_p + 2P")] * 2,
        replace(difference, note="S_p - S_q + 2P"),
        _move(Slot.TERM, Slot.ACCUMULATOR, p),
        _move(Slot.E, Slot.KEPT_E, Context.EXPONENT),
        *_prepare(own, whole),
        leave(
            own,
            multiply(
                Slot.ACCUMULATOR, Slot.CRT_P, Slot.TERM, whole, "Z_p * (S_p - S_q) mod M", outer=p
            ),
        ),
        _linear(
            StepKind.ADD, Slot.ACCUMULATOR, Slot.FACTOR, Slot.ACCUMULATOR, whole, "+ S_q: below 3M"
        ),
        *reduced(Slot.ACCUMULATOR, Slot.ACCUMULATOR, whole),
        *reduced(Slot.ACCUMULATOR, Slot.ACCUMULATOR, whole),
    ]


def _check(own: Arithmetic, prime: Context) -> list[Step]:
    """S ^ E = X modulo a prime, else to the label `wrong`.

    Square and multiply: E is public. Both sides are made canonical before they are compared.
    """
    name = prime.name.lower()
    square, done = f"check_square_{name}", f"check_done_{name}"
    acc = Slot.ACCUMULATOR
    return [
        *_prepare(own, prime),
        enter(prime, Slot.TERM, Slot.SUM),
        enter(prime, acc, Slot.ONE),
        Step(kind=StepKind.SCAN_PUBLIC, modulus=prime, target=done, note="from the highest 1 of E"),
        multiply(acc, acc, acc, prime, "C = C * C", then=Then.SQUARED, target=done, label=square),
        multiply(acc, acc, Slot.TERM, prime, "C = C * S", then=Then.MULTIPLIED, target=square),
        replace(
            leave(own, multiply(acc, acc, Slot.ONE, prime, f"C = S ^ E modulo {name}")), label=done
        ),
        *reduced(acc, acc, prime),
        enter(prime, Slot.PART, Slot.FACTOR),
        leave(own, multiply(Slot.PART, Slot.PART, Slot.ONE, prime, f"X modulo {name}")),
        *reduced(Slot.PART, Slot.PART, prime),
        _linear(StepKind.SUBTRACT, acc, acc, Slot.PART, prime, "S ^ E - X"),
        _zero(acc, prime),
    ]


def _release() -> list[Step]:
    """The copy of S becomes the result, if it is the S that was checked."""
    whole = Context.WHOLE
    return [
        _move(Slot.RESULT, Slot.SUM_COPY, whole),
        _linear(StepKind.SUBTRACT, Slot.SCALED, Slot.SUM, Slot.RESULT, whole, "S - the result"),
        _zero(Slot.SCALED, whole),
    ]


def _wipe() -> list[Step]:
    """No word of a wrong result stays."""
    first, *others = map(_clear, (Slot.RESULT, Slot.SUM, Slot.SUM_COPY))
    return [replace(first, label=_WRONG), *others[:-1], go(others[-1], "")]


def _prepare(own: Arithmetic, context: Context) -> list[Step]:
    return [replace(step, destination=Slot.SCALED) for step in prepare(own, context)]


def _move(destination: Slot, x: Slot, modulus: Context) -> Step:
    note = f"{destination.name} = {x.name}"
    return _linear(StepKind.MOVE, destination, x, Slot.M, modulus, note)


def _clear(destination: Slot) -> Step:
    note = f"{destination.name} = 0"
    return _linear(StepKind.SUBTRACT, destination, Slot.M, Slot.M, Context.WHOLE, note)


def _zero(y: Slot, modulus: Context) -> Step:
    note = f"{y.name} = 0?"
    return replace(_linear(StepKind.ZERO, y, y, y, modulus, note), target=_WRONG)


def _linear(
    kind: StepKind, destination: Slot, x: Slot, y: Slot, modulus: Context, note: str = ""
) -> Step:
    return Step(kind=kind, destination=destination, x=x, y=y, modulus=modulus, note=note)
