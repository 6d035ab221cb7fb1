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

Of two lanes, the first one has P and the second one Q, for the powers and for the check. They meet
where one takes what the other one has: S_q, and E, which the second lane keeps; then S, and X
beside it, as it is the leading lane's that software has the residue of.

All of it is one list, in which the commands share what they can, and both primes everything: with
at most 63 steps a bit of the program memory is a LUT.
"""

from dataclasses import replace

from coprime.exponentiators.fixed_window import windows
from coprime.exponentiators.names import Blinding
from coprime.exponentiators.table import enter
from coprime.multipliers.contract import Multiplication
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import (
    BARRIER,
    PASS,
    Next,
    Step,
    StepKind,
    exponent_blinding_bits,
    linear,
    multiply,
    scan,
    times,
)

from .operation import Machine
from .shared_steps import (
    REDUCE,
    REDUCE_BELOW_3M,
    check_below_modulus,
    check_modulus,
    descale,
    jump,
    prepare,
    reduced,
)

PRIVATE, POWER = "private", "power"
"""Flags: the operation is private; it is a power of X, and no product, and not private."""

_ACC = Scratch.ACCUMULATOR
_WHOLE, _P, _CURRENT = Context.WHOLE, Context.P, Context.CURRENT

_WITHOUT_OPERANDS = (
    *(StepKind.PREPARE, StepKind.SCAN_PUBLIC, StepKind.SCAN_WINDOWS, StepKind.PASS),
)

_PRIMES, _HALF, _SCAN, _LAST, _CHECK = "primes", "half", "scan", "last", "check"
_UNBLIND = "unblind"
_NOT_PRIVATE, _PRODUCT = "not_private", "product"
"""Labels."""


def on_each_lane(machine: Machine) -> list[list[Step]]:
    """The list of the leading lane, which MODMUL, MODEXP, RSA_PUBLIC and RSA_PRIVATE share."""
    if machine.lanes == 2:
        return [leading_lane(machine.multiplication)]
    return [operations(machine.multiplication, machine.exponentiation.blinding)]


def with_primes(machine: Machine) -> list[list[Step]]:
    """The same, and that of the second lane, which has a part in RSA_PRIVATE only."""
    second = [second_lane(machine.multiplication)] if machine.lanes == 2 else []
    return [*on_each_lane(machine), *second]


def operations(multiplication: Multiplication, blinding: Blinding = Blinding.NONE) -> list[Step]:
    """MODMUL, MODEXP, RSA_PUBLIC and RSA_PRIVATE, all from the first step on."""
    *half, last = _half(multiplication, blinding)
    *check, compared = _check(multiplication)
    return [
        check_modulus(_WHOLE),
        _unless_private(check_below_modulus(Operand.X), _NOT_PRIVATE),
        _for_each_prime(replace(check_modulus(_CURRENT), label=_PRIMES), _PRIMES),
        # The table of a blinded half leaves E its place.
        *([] if blinding else [_keep_e()]),
        *half,
        replace(_for_each_prime(last, _HALF), destination=Mode.HALF),
        # S_q, below 2Q, as long as M.
        _unless_private(_clear(Scratch.FACTOR), REDUCE),
        move(Scratch.FACTOR, Scratch.PART, Context.Q),
        *([] if blinding else [_restore_e()]),
        *_recombine(multiplication),
        *_canonical(),
        *_claim(Scratch.RESULT, Operand.X),
        *check,
        _for_each_prime(compared, _CHECK),
        _give_result(),
        *_not_private(multiplication),
    ]


def leading_lane(multiplication: Multiplication) -> list[Step]:
    """The same for the first of two lanes, which has P in a private operation."""
    *half, last = _half(multiplication)
    *check, compared = _check(multiplication)
    return [
        check_modulus(_WHOLE),
        _unless_private(check_below_modulus(Operand.X), _NOT_PRIVATE),
        check_modulus(Context.Q),
        _meet(check_modulus(Context.P)),
        *half,
        _unless_private(last, REDUCE),
        _meet(_clear(Scratch.FACTOR)),
        replace(move(Scratch.FACTOR, Mode.OTHER, Context.Q), below=2),
        move(Operand.E, Mode.OTHER, _WHOLE),
        *_recombine(multiplication),
        *_canonical(),
        BARRIER,
        *_claim(Scratch.RESULT, Operand.X),
        *check,
        _meet(compared),
        _give_result(),
        *_not_private(multiplication),
    ]


def second_lane(multiplication: Multiplication) -> list[Step]:
    """RSA_PRIVATE's steps modulo Q for the second of two lanes."""
    return [
        BARRIER,
        _keep_e(),
        *_half(multiplication),
        BARRIER,
        replace(move(_ACC, _ACC, Context.Q), note="S_q, for the other lane", below=2),
        _meet(_restore_e()),
        *_claim(Mode.OTHER, Mode.OTHER),
        *_check(multiplication),
        jump(BARRIER, ""),
    ]


def without_operands(step: Step) -> Step:
    """A step that reads no number has M in its place, since X, which it is else, would be read."""
    if step.kind in _WITHOUT_OPERANDS:
        return replace(step, x=Operand.M, y=Operand.M)
    return step


def _half(multiplication: Multiplication, blinding: Blinding = Blinding.NONE) -> list[Step]:
    """A prime's half: ACCUMULATOR = X ^ D_p modulo p, below 2p. From SCAN on, MODEXP modulo M, too.

    What enters may have a quotient as long as M, in two blocks, the second one T_1's. So 1 enters
    before there is a T_1, and waits in the place of T_15, or is T_0, until the base is not needed
    any more.
    """
    overlaps = multiplication.overlaps
    one = Scratch.T_0 if overlaps else Scratch.T_15
    windows_of_exponent, square, product, last = windows(_CURRENT, _ACC)
    base = Blinding.BASE in blinding
    steps = [
        *(_blind_exponent(multiplication) if Blinding.EXPONENT in blinding else []),
        move(Scratch.FACTOR, Operand.X, _WHOLE),
        *prepare_banked(multiplication, _CURRENT),
        *(_draw_random() if base else []),
        *_enter_one(one),
        *([move(_ACC, one, _CURRENT)] if base and overlaps else []),
        *(_blind_base() if base else [enter(_CURRENT, _ACC, Scratch.FACTOR)]),
        move(Mode.WINDOW, _ACC, _CURRENT),
        _table(_CURRENT, Scratch.T_1 if overlaps else None),
        *([] if overlaps else [move(_ACC, one, _CURRENT)] if blinding else _last_entry(one)),
        replace(windows_of_exponent, label=_SCAN),
        *(_first_window(square.label, base) if overlaps else []),
        replace(square, even_exponent=base),
        product,
        *(_unblind() if base else []),
        replace(descale(multiplication, last), label=_LAST),
    ]
    return [replace(steps[0], label=_HALF), *steps[1:]]


def _enter_one(place: Scratch) -> list[Step]:
    """1 in Montgomery form: T_0 at once, but into a place of compact's quotient by a MOVE."""
    if place is Scratch.T_0:
        return [enter(_CURRENT, place, Mode.ONE)]
    return [enter(_CURRENT, _ACC, Mode.ONE), move(place, _ACC, _CURRENT)]


def _first_window(square: str, base: bool) -> list[Step]:
    """C = T_window for the highest window, in place of as many squares of 1, and a product.

    It ends the scan if there is no other window.
    """
    end = _UNBLIND if base else _LAST
    bits = Step(kind=StepKind.PASS, modulus=_CURRENT, note="each bit of the highest window")
    power = replace(move(_ACC, Mode.WINDOW, _CURRENT), note="C = T_window")
    return [
        replace(bits, next=Next.IF_WINDOW, even_exponent=base),
        replace(power, next=Next.NEXT_BIT, target=square),
        jump(PASS, end),
    ]


def _last_entry(one: Scratch) -> list[Step]:
    """T_15, in whose place there is the 1 to begin with."""
    kept = Scratch.QUOTIENT
    return [
        multiply(_ACC, _ACC, Mode.WINDOW, _CURRENT, "T_15 = B * T_14"),
        move(kept, one, _CURRENT),
        move(Scratch.T_15, _ACC, _CURRENT),
        move(_ACC, kept, _CURRENT),
    ]


def _blind_exponent(multiplication: Multiplication) -> list[Step]:
    """BLINDED = D_p + k (P - 1): for each bit of k a double of P - 1, which is added or not."""
    again, bits = "blind_exponent", exponent_blinding_bits(multiplication.digit_width)
    fits = "primes are shorter than the modulus by as many digits as k has"
    doubles = linear(
        StepKind.ADD, Scratch.MULTIPLE, Scratch.MULTIPLE, Scratch.MULTIPLE, _WHOLE, "twice of it"
    )
    return [
        _clear(Scratch.BLINDED),
        move(Scratch.BLINDED, Operand.DP, _CURRENT),
        _clear(Scratch.MULTIPLE),
        linear(StepKind.MAKE_EVEN, Scratch.MULTIPLE, Operand.P, Operand.M, _CURRENT, "P - 1"),
        replace(
            linear(
                StepKind.ADD_IF_DRAWN,
                Scratch.BLINDED,
                Scratch.BLINDED,
                Scratch.MULTIPLE,
                _WHOLE,
                "D_p + k_i 2^i (P - 1)",
            ),
            label=again,
            fits=fits,
        ),
        replace(doubles, fits=fits, next=Next.LOOP, times=bits, target=again),
    ]


def _draw_random() -> list[Step]:
    """RANDOM = r, which is as good in Montgomery form as it is drawn; below 2p, as any factor."""
    random = Scratch.RANDOM
    return [
        linear(StepKind.DRAW, random, random, Operand.M, _CURRENT, "r is drawn"),
        multiply(_ACC, Operand.P_POWER, random, _CURRENT, "... below 2p"),
        move(random, _ACC, _CURRENT),
    ]


def _blind_base() -> list[Step]:
    """ACCUMULATOR = r^E * X, UNBLINDING = r^(E - 1) * X. There is 1 in ACCUMULATOR, r in RANDOM."""
    square, done, random = "blind_square", "blind_done", Scratch.RANDOM
    squares = multiply(
        _ACC, _ACC, _ACC, _CURRENT, "C = C * C", next=Next.IF_BIT, target=done, label=square
    )
    return [
        _scan_public(done),
        replace(squares, even_exponent=True),
        multiply(_ACC, _ACC, random, _CURRENT, "C = C * r", next=Next.NEXT_BIT, target=square),
        replace(move(Scratch.TERM, _ACC, _CURRENT), label=done, note="r^(E - 1)"),
        # X enters through a product with what is random, and never alone.
        multiply(_ACC, Operand.P_POWER, Scratch.TERM, _CURRENT, "r^(E - 1), to enter X with"),
        multiply(_ACC, _ACC, Scratch.FACTOR, _CURRENT, "r^(E - 1) * X", outer=_WHOLE),
        move(Scratch.UNBLINDING, _ACC, _CURRENT),
        multiply(_ACC, _ACC, random, _CURRENT, "r^E * X"),
    ]


def _unblind() -> list[Step]:
    """The power of r^E * X becomes that of X, in a private operation."""
    kept = replace(move(Scratch.FACTOR, Scratch.UNBLINDING, _CURRENT), label=_UNBLIND)
    return [
        _unless_private(kept, _LAST),
        multiply(_ACC, _ACC, Scratch.FACTOR, _CURRENT, "C * r^(E - 1) * X"),
    ]


def _table(context: Context, base: Scratch | None) -> Step:
    """T_2 and so on, from T_1 and the base in ACCUMULATOR: one step for all.

    Where products overlap ACCUMULATOR becomes each power in turn, and B lies in `base`.
    """
    factor = base or Mode.WINDOW
    note = "T_(k+1) = T_k * B" if base else "T_(k+1) = B * T_k"
    return multiply(Mode.ENTRY, _ACC, factor, context, note, next=Next.EACH_ENTRY)


def _recombine(multiplication: Multiplication) -> list[Step]:
    """S = S_q + Z_p * (S_p - S_q) / R_p mod M: Garner's formula with the weight Z_p of S_p.

    Z_p is 1 modulo P and 0 modulo Q, so Z_q = 1 - Z_p is not needed. S_p is in ACCUMULATOR, S_q in
    FACTOR, as long as M. The sum is below 3M.
    """
    part = Scratch.PART
    q_modulo_p = multiply(
        part, Operand.P_POWER, Scratch.FACTOR, _P, "S_q modulo P, times R_p", outer=_WHOLE
    )
    plus_p = linear(StepKind.ADD, _ACC, _ACC, Operand.P, _P, "S_p + 2P")
    weighed = multiply(
        _ACC, Operand.CRT_P, Scratch.TERM, _WHOLE, "Z_p * (S_p - S_q) mod M, below 2M", outer=_P
    )
    return [
        q_modulo_p,
        descale(
            multiplication,
            multiply(Scratch.PART, Scratch.PART, Mode.ONE, _P, "S_q modulo P, below 2P"),
        ),
        plus_p,
        plus_p,
        linear(StepKind.SUBTRACT, Scratch.TERM, _ACC, Scratch.PART, _P, "S_p - S_q + 2P, below 4P"),
        *prepare_banked(multiplication, _WHOLE),
        descale(multiplication, weighed),
        linear(StepKind.ADD, _ACC, Scratch.FACTOR, _ACC, _WHOLE, "... + S_q"),
    ]


def _canonical() -> list[Step]:
    """RESULT, which is where ACCUMULATOR is, from what is below 2M or 3M, as the labels tell."""
    first, *others, last = [
        *reduced(_ACC, _ACC, _WHOLE, REDUCE_BELOW_3M),
        *reduced(Scratch.RESULT, _ACC, _WHOLE, REDUCE),
    ]
    return [first, *others, _unless_private(last, "")]


def _claim(s: Reference, x: Reference) -> list[Step]:
    """S, which is to be checked, and X."""
    return [
        move(Scratch.SUM, s, _WHOLE),
        # From here on a fault may spoil the check, but S is right; before, S, but not the check.
        Step(kind=StepKind.CHECK_REDUCED, x=Scratch.SUM, y=Operand.M, note="S < M?"),
        move(Scratch.SUM_COPY, Scratch.SUM, _WHOLE),
        move(Scratch.FACTOR, x, _WHOLE),
    ]


def _check(multiplication: Multiplication) -> list[Step]:
    """S ^ E = X modulo a prime, or everything is wiped.

    Square and multiply: E is public. What is compared is canonical.
    """
    square, done = "check_square", "check_done"
    overlaps = multiplication.overlaps
    first, *compare = (_compare_in_form if overlaps else _compare)(multiplication)
    return [
        *[replace(step, label=_CHECK) for step in prepare_banked(multiplication, _CURRENT)],
        enter(_CURRENT, Scratch.TERM, Scratch.SUM),
        *([] if overlaps else [enter(_CURRENT, _ACC, Mode.ONE)]),
        _scan_public(done),
        *(_from_the_highest_one(square, done) if overlaps else []),
        times(_ACC, _CURRENT, "C = C * C", into=_ACC, next=Next.IF_BIT, target=done, label=square),
        times(Scratch.TERM, _CURRENT, "C = C * S", into=_ACC, next=Next.NEXT_BIT, target=square),
        replace(first, label=done),
        *compare,
        _zero(_ACC, _CURRENT),
    ]


def _compare(multiplication: Multiplication) -> list[Step]:
    """ACCUMULATOR = S ^ E - X: both out of Montgomery form, and canonical."""
    part = Scratch.PART
    return [
        descale(multiplication, times(Mode.ONE, _CURRENT, "C = S ^ E", into=_ACC)),
        *reduced(_ACC, _ACC, _CURRENT),
        enter(_CURRENT, part, Scratch.FACTOR),
        descale(multiplication, multiply(part, part, Mode.ONE, _CURRENT, "X modulo the prime")),
        *reduced(part, part, _CURRENT),
        linear(StepKind.SUBTRACT, _ACC, _ACC, part, _CURRENT, "S ^ E - X"),
    ]


def _compare_in_form(multiplication: Multiplication) -> list[Step]:
    """ACCUMULATOR = S ^ E - X, which is made in Montgomery form: below 2cp are S ^ E, and -X.

    So one product leaves that form, which a product may do whose factors are below 4cp and 1.
    """
    part = Scratch.PART
    power = _CURRENT.power
    return [
        linear(StepKind.SUBTRACT, part, _CURRENT.modulus, power, _CURRENT, "-R R_p mod p"),
        multiply(part, part, Scratch.FACTOR, _CURRENT, "-X", outer=_WHOLE),
        linear(StepKind.ADD, _ACC, _ACC, part, _CURRENT, "S ^ E - X, below 4cp"),
        descale(multiplication, times(Mode.ONE, _CURRENT, "S ^ E - X, below 2p", into=_ACC)),
        *reduced(_ACC, _ACC, _CURRENT),
    ]


def _from_the_highest_one(square: str, done: str) -> list[Step]:
    """C = S for the highest 1, in place of a square of 1 and a product. E has more bits, or not."""
    highest = replace(move(_ACC, Scratch.TERM, _CURRENT), note="C = S")
    return [
        replace(highest, next=Next.NEXT_BIT, target=square),
        jump(PASS, done),
    ]


def _not_private(multiplication: Multiplication) -> list[Step]:
    """X * Y mod M, and X ^ E mod M up to where its exponent is scanned."""
    enters = multiply(
        _ACC,
        Operand.X,
        Operand.M_POWER,
        _WHOLE,
        "X * R mod M",
        next=Next.JUMP_UNLESS,
        target=_PRODUCT,
    )
    enters = replace(enters, flag=POWER)
    one = multiply(_ACC, _ACC, Mode.ONE, _WHOLE, "C = 1")
    base = Scratch.BASE if multiplication.overlaps else None
    product = multiply(_ACC, _ACC, Operand.Y, _WHOLE, "X * Y mod M, below 3M")
    return [
        *[replace(step, label=_NOT_PRIVATE) for step in prepare_banked(multiplication, _WHOLE)],
        enters,
        move(Mode.WINDOW, _ACC, _WHOLE),
        *([move(base, _ACC, _WHOLE)] if base else []),
        _table(_WHOLE, base),
        move(_ACC, Operand.M_POWER, _WHOLE),
        *_scan_from(one, multiplication),
        replace(check_below_modulus(Operand.Y), label=_PRODUCT),
        jump(descale(multiplication, product), REDUCE_BELOW_3M),
    ]


def _scan_from(one: Step, multiplication: Multiplication) -> list[Step]:
    """1 in ACCUMULATOR, and as T_0 where it is needed, then the exponent."""
    if multiplication.overlaps:
        return [jump(replace(one, destination=Scratch.T_0), _SCAN)]
    return [jump(one, _SCAN)]


def _scan_public(target: str) -> Step:
    return scan(StepKind.SCAN_PUBLIC, _CURRENT, "from the highest 1 of E", target=target)


def _keep_e() -> Step:
    return move(Scratch.KEPT_E, Operand.E, _WHOLE)


def _restore_e() -> Step:
    return move(Operand.E, Scratch.KEPT_E, _WHOLE)


def _give_result() -> Step:
    return jump(move(Scratch.RESULT, Scratch.SUM_COPY, _WHOLE), "")


def _for_each_prime(step: Step, target: str) -> Step:
    return replace(step, next=Next.EACH_MODULUS, target=target)


def _meet(step: Step) -> Step:
    return replace(step, next=Next.BARRIER)


def _unless_private(step: Step, target: str) -> Step:
    return replace(step, next=Next.JUMP_UNLESS, flag=PRIVATE, target=target)


def prepare_banked(multiplication: Multiplication, context: Context) -> list[Step]:
    """Hand the context's modulus to the multiplier, if that keeps it; the window becomes 1."""
    return [replace(step, destination=Scratch.SCALED) for step in prepare(multiplication, context)]


def move(destination: Reference, x: Reference, modulus: Context) -> Step:
    """A number of as many digits as the modulus has, from one place to another."""
    note = f"{destination.name} = {x.name}"
    return linear(StepKind.MOVE, destination, x, Operand.M, modulus, note)


def _clear(destination: Reference) -> Step:
    note = f"{destination.name} = 0"
    return linear(StepKind.SUBTRACT, destination, Operand.M, Operand.M, _WHOLE, note)


def _zero(y: Reference, modulus: Context) -> Step:
    return linear(StepKind.CHECK_ZERO, y, y, y, modulus, f"{y.name} = 0?")
