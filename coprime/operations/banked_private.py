"""RSA_PRIVATE on lanes of two banks, checked with the public exponent before it can be read.

A fault in one of the two halves would otherwise reveal the key (Boneh, DeMillo, Lipton 1997: the
greatest common divisor of M and result^E - X is then a prime). The result is a copy of S, and as it
is read the lane compares it with the S that was checked (`BankedLane`).

During an exponentiation the right bank holds only the quotient and the table: factors needed there
before or after are moved in time, and numbers needed again stay in the left bank.

Of two lanes, the first one has P and the second one Q, for the powers and for the check. They
synchronize where one takes a number of the other: S_q, and E, which the second lane keeps; then S,
and X, since software gets the residue of the leading lane's X.
"""

from dataclasses import replace

from coprime.exponentiators.table import enter
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import (
    BARRIER,
    PASS,
    Next,
    Step,
    StepKind,
    linear,
    multiply,
    scan,
    times,
)

from .banked import (
    POWER,
    REDUCE_ONCE,
    canonical_result,
    clear,
    fill_table,
    move,
    prepare_banked,
)
from .operation import Machine
from .shared_steps import (
    call,
    check_below_modulus,
    check_modulus,
    descale,
    jump,
    reduced,
)

_ACC = Scratch.ACCUMULATOR
_WHOLE, _P, _CURRENT = Context.WHOLE, Context.P, Context.CURRENT

_PRIMES, _HALF, _CHECK = "primes", "half", "check"
"""Labels."""


def rsa_private_banked(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    if machine.lanes == 2:
        return [leading_lane(machine.multiplication), second_lane(machine.multiplication)]
    return [alone(machine.multiplication)]


def alone(multiplication: Multiplication) -> list[Step]:
    """On one lane: Q's half, then P's."""
    first, *half = _half(multiplication)
    prepared, *check, compared = _check(multiplication)
    return [
        check_modulus(_WHOLE),
        check_below_modulus(Operand.X),
        for_each_prime(replace(check_modulus(_CURRENT), label=_PRIMES), _PRIMES),
        _keep_e(),
        replace(first, label=_HALF),
        *half,
        # S_q, below 2Q, as long as M.
        for_each_prime(clear(Scratch.FACTOR), _HALF),
        move(Scratch.FACTOR, Scratch.PART, Context.Q),
        _restore_e(),
        *_recombine(multiplication),
        *_claim(Scratch.RESULT, Operand.X),
        replace(prepared, label=_CHECK),
        *check,
        for_each_prime(compared, _CHECK),
        _give_result(),
    ]


def leading_lane(multiplication: Multiplication) -> list[Step]:
    """The first of two lanes, which has P."""
    *check, compared = _check(multiplication)
    *recombined, result = _recombine(multiplication)
    return [
        check_modulus(_WHOLE),
        check_below_modulus(Operand.X),
        check_modulus(Context.Q),
        meet(check_modulus(Context.P)),
        *_half(multiplication),
        meet(clear(Scratch.FACTOR)),
        replace(move(Scratch.FACTOR, Mode.OTHER, Context.Q), below=2),
        move(Operand.E, Mode.OTHER, _WHOLE),
        *recombined,
        meet(result),
        *_claim(Scratch.RESULT, Operand.X),
        *check,
        meet(compared),
        _give_result(),
    ]


def second_lane(multiplication: Multiplication) -> list[Step]:
    """The second of two lanes, which has Q."""
    return [
        BARRIER,
        _keep_e(),
        *_half(multiplication),
        BARRIER,
        replace(move(_ACC, _ACC, Context.Q), note="S_q, for the other lane", below=2),
        meet(_restore_e()),
        *_claim(Mode.OTHER, Mode.OTHER),
        *_check(multiplication),
        jump(BARRIER, ""),
    ]


def _half(multiplication: Multiplication) -> list[Step]:
    """A prime's half: X ^ D_p modulo p, below 2p.

    Where the quotient is in memory, that of what enters may be as long as M, in two blocks, the
    second one T_1's. So 1 enters before there is a T_1, and waits in the place of T_15 until the
    base is not needed any more.
    """
    overlaps = multiplication.overlaps
    one = Scratch.T_0 if overlaps else Scratch.T_15
    one_enters = enter(_CURRENT, one, Mode.ONE)
    steps = [
        move(Scratch.FACTOR, Operand.X, _WHOLE),
        *prepare_banked(multiplication, _CURRENT),
        *([] if overlaps else [one_enters]),
        enter(_CURRENT, _ACC, Scratch.FACTOR),
        move(Mode.WINDOW, _ACC, _CURRENT),
        fill_table(_CURRENT, Scratch.T_1 if overlaps else None),
        *([one_enters] if overlaps else _last_entry(one)),
    ]
    return [*steps[:-1], call(steps[-1], POWER)]


def _last_entry(one: Scratch) -> list[Step]:
    """T_15, in whose place there is the 1 to begin with."""
    kept = Scratch.QUOTIENT
    return [
        multiply(_ACC, _ACC, Mode.WINDOW, _CURRENT, "T_15 = B * T_14"),
        move(kept, one, _CURRENT),
        move(Scratch.T_15, _ACC, _CURRENT),
        move(_ACC, kept, _CURRENT),
    ]


def _recombine(multiplication: Multiplication) -> list[Step]:
    """RESULT = S = S_q + Z_p * (S_p - S_q) / R_p mod M: Garner's formula, the weight Z_p of S_p.

    Z_p is 1 modulo P and 0 modulo Q, so Z_q = 1 - Z_p is not needed. S_p is in ACCUMULATOR, S_q in
    FACTOR, as long as M. The sum is below 3M.
    """
    *weighed, total = weigh(multiplication)
    return [*weighed, call(total, REDUCE_ONCE), *canonical_result()]


def weigh(multiplication: Multiplication) -> list[Step]:
    """The sum, in ACCUMULATOR."""
    part = Scratch.PART
    minus_q = multiply(part, part, Mode.ONE, _P, "-S_q modulo P, below 2P")
    weighed = multiply(
        _ACC, Operand.CRT_P, Scratch.TERM, _WHOLE, "Z_p * (S_p - S_q) mod M, below 2M", outer=_P
    )
    total = linear(StepKind.ADD, _ACC, Scratch.FACTOR, _ACC, _WHOLE, "... + S_q")
    return [
        negative(part, _P),
        multiply(part, part, Scratch.FACTOR, _P, "-S_q, times R_p", outer=_WHOLE),
        descale(multiplication, minus_q),
        linear(StepKind.ADD, Scratch.TERM, _ACC, part, _P, "S_p - S_q, below 4P"),
        *prepare_banked(multiplication, _WHOLE),
        descale(multiplication, weighed),
        total,
    ]


def negative(part: Scratch, context: Context) -> Step:
    """-R R_p mod p: what multiplies a number as long as M to have its negative, times R_p."""
    power, modulus = context.power, context.modulus
    return linear(StepKind.SUBTRACT, part, modulus, power, context, "-R R_p mod p")


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

    Square and multiply: E is public. S ^ E - X is made in Montgomery form: below 2cp are S ^ E, and
    -X. So one product leaves that form, which a product may do whose factors are below 4cp and 1.
    """
    square, done, part = "check_square", "check_done", Scratch.PART
    overlaps = multiplication.overlaps
    return [
        *prepare_banked(multiplication, _CURRENT),
        enter(_CURRENT, Scratch.TERM, Scratch.SUM),
        *([] if overlaps else [enter(_CURRENT, _ACC, Mode.ONE)]),
        scan_public(done),
        *(_from_the_highest_one(square, done) if overlaps else []),
        times(_ACC, _CURRENT, "C = C * C", into=_ACC, next=Next.IF_BIT, target=done, label=square),
        times(Scratch.TERM, _CURRENT, "C = C * S", into=_ACC, next=Next.NEXT_BIT, target=square),
        replace(negative(part, _CURRENT), label=done),
        multiply(part, part, Scratch.FACTOR, _CURRENT, "-X", outer=_WHOLE),
        linear(StepKind.ADD, _ACC, _ACC, part, _CURRENT, "S ^ E - X, below 4cp"),
        descale(multiplication, times(Mode.ONE, _CURRENT, "S ^ E - X, below 2p", into=_ACC)),
        *reduced(_ACC, _ACC, _CURRENT),
        linear(StepKind.CHECK_ZERO, _ACC, _ACC, _ACC, _CURRENT, "S ^ E - X = 0?"),
    ]


def _from_the_highest_one(square: str, done: str) -> list[Step]:
    """C = S for the highest 1, in place of a square of 1 and a product. E has more bits, or not."""
    highest = replace(move(_ACC, Scratch.TERM, _CURRENT), note="C = S")
    return [
        replace(highest, next=Next.NEXT_BIT, target=square),
        jump(PASS, done),
    ]


def scan_public(target: str) -> Step:
    """The step that begins with E, whatever the modulus; to the target if E is 0."""
    return scan(StepKind.SCAN_PUBLIC, _CURRENT, "from the highest 1 of E", target=target)


def _keep_e() -> Step:
    return move(Scratch.KEPT_E, Operand.E, _WHOLE)


def _restore_e() -> Step:
    return move(Operand.E, Scratch.KEPT_E, _WHOLE)


def for_each_prime(step: Step, target: str) -> Step:
    """The step, followed by the target with the next prime, or after the last one goes on."""
    return replace(step, next=Next.EACH_MODULUS, target=target)


def meet(step: Step) -> Step:
    """The linear step, after which the lane waits for the other one."""
    return replace(step, next=Next.BARRIER)


def _give_result() -> Step:
    return jump(move(Scratch.RESULT, Scratch.SUM_COPY, _WHOLE), "")
