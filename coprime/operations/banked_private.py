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

from coprime.exponentiators.table import enter
from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder
from coprime.program.operands import Context, Core, Entry, Mode, Operand, Reference, Scratch
from coprime.program.steps import Step, StepKind

from .banked import POWER, REDUCE_ONCE, Banked, clear, fill_table, prepare_banked
from .operation import Machine

_ACC, _WHOLE = Core.ACCUMULATOR, Context.WHOLE


def rsa_private_banked(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    lanes = [_leading_lane, _second_lane] if machine.lanes == 2 else [_alone]
    return [lane(machine.multiplication) for lane in lanes]


def _alone(multiplication: Multiplication) -> list[Step]:
    """On one lane: Q's half, then P's."""
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    with code.each_modulus("primes"):
        code.current.check_modulus()
    code.move(Core.KEPT_E, Operand.E)
    with code.each_modulus("half"):
        _half(code.current, multiplication)
        clear(code, Banked.FACTOR)
    code.q.move(Banked.FACTOR, Core.PART)  # S_q, below 2Q, as long as M
    code.move(Operand.E, Core.KEPT_E)
    _recombine(code, multiplication)
    _claim(code, Core.RESULT, Operand.X)
    with code.each_modulus("check"):
        _check(code.current, multiplication)
    code.move(Core.RESULT, Core.SUM_COPY)
    code.finish()
    return code.steps


def _leading_lane(multiplication: Multiplication) -> list[Step]:
    """The first of two lanes, which has P."""
    code = Builder()
    code.check_modulus()
    code.check_below(Operand.X)
    code.q.check_modulus()
    code.p.check_modulus()
    code.meet()
    _half(code.current, multiplication)
    clear(code, Banked.FACTOR)
    code.meet()
    code.q.move(Banked.FACTOR, Mode.OTHER, below=2)
    code.move(Operand.E, Mode.OTHER)
    _recombine(code, multiplication)
    code.meet()
    _claim(code, Core.RESULT, Operand.X)
    _check(code.current, multiplication)
    code.meet()
    code.move(Core.RESULT, Core.SUM_COPY)
    code.finish()
    return code.steps


def _second_lane(multiplication: Multiplication) -> list[Step]:
    """The second of two lanes, which has Q."""
    code = Builder()
    code.barrier()
    code.move(Core.KEPT_E, Operand.E)
    _half(code.current, multiplication)
    code.barrier()
    code.q.move(_ACC, _ACC, "S_q, for the other lane", below=2)
    code.move(Operand.E, Core.KEPT_E)
    code.meet()
    _claim(code, Mode.OTHER, Mode.OTHER)
    _check(code.current, multiplication)
    code.barrier()
    code.finish()
    return code.steps


def _half(code: Builder, multiplication: Multiplication) -> None:
    """A prime's half: X ^ D_p modulo p, below 2p.

    Where the quotient is in memory, that of what enters may be as long as M, in two blocks, the
    second one T_1's. So 1 enters before there is a T_1, and waits in the place of T_15 until the
    base is not needed any more.
    """
    overlaps = multiplication.overlaps
    one = Entry.T_0 if overlaps else Entry.T_15
    code.whole.move(Banked.FACTOR, Operand.X)
    prepare_banked(code, multiplication)
    if not overlaps:
        enter(code, one, Mode.ONE)
    enter(code, _ACC, Banked.FACTOR)
    code.move(Mode.WINDOW, _ACC)
    fill_table(code, Entry.T_1 if overlaps else None)
    if overlaps:
        enter(code, one, Mode.ONE)
    else:  # T_15, in whose place there is the 1 to begin with
        kept = Core.QUOTIENT
        code.multiply(_ACC, _ACC, Mode.WINDOW, "T_15 = B * T_14")
        code.move(kept, one)
        code.move(Entry.T_15, _ACC)
        code.move(_ACC, kept)
    code.call(POWER)


def _recombine(code: Builder, multiplication: Multiplication) -> None:
    """RESULT = S = S_q + Z_p * (S_p - S_q) / R_p mod M: Garner's formula, the weight Z_p of S_p.

    Z_p is 1 modulo P and 0 modulo Q, so Z_q = 1 - Z_p is not needed. S_p is in ACCUMULATOR, S_q in
    FACTOR, as long as M. The sum is below 3M.
    """
    weigh(code, multiplication)
    code.call(REDUCE_ONCE)
    code.reduce(Core.RESULT, _ACC)


def weigh(code: Builder, multiplication: Multiplication) -> None:
    """The sum, in ACCUMULATOR."""
    p, whole, part, term = code.p, code.whole, Core.PART, Banked.TERM
    scaled = multiplication.scaled
    negative(p, part)
    p.multiply(part, part, Banked.FACTOR, "-S_q, times R_p", outer=_WHOLE)
    p.multiply(part, part, Mode.ONE, "-S_q modulo P, below 2P", descale=scaled)
    p.add(term, _ACC, part, "S_p - S_q, below 4P")
    prepare_banked(whole, multiplication)
    note = "Z_p * (S_p - S_q) mod M, below 2M"
    whole.multiply(_ACC, Operand.CRT_P, term, note, outer=Context.P, descale=scaled)
    whole.add(_ACC, Banked.FACTOR, _ACC, "... + S_q")


def negative(code: Builder, part: Scratch) -> None:
    """-R R_p mod p: what multiplies a number as long as M to have its negative, times R_p."""
    code.subtract(part, code.context.modulus, code.context.power, "-R R_p mod p")


def _claim(code: Builder, s: Reference, x: Reference) -> None:
    """S, which is to be checked, and X."""
    code.move(Core.SUM, s)
    # From here on a fault may spoil the check, but S is right; before, S, but not the check.
    code.do(StepKind.CHECK_REDUCED, "S < M?", x=Core.SUM, y=Operand.M)
    code.move(Core.SUM_COPY, Core.SUM)
    code.move(Banked.FACTOR, x)


def _check(code: Builder, multiplication: Multiplication) -> None:
    """S ^ E = X modulo a prime, or everything is wiped.

    Square and multiply: E is public. S ^ E - X is made in Montgomery form: below 2cp are S ^ E, and
    -X. So one product leaves that form, which a product may do whose factors are below 4cp and 1.
    """
    square, done, part = "check_square", "check_done", Core.PART
    prepare_banked(code, multiplication)
    enter(code, Banked.TERM, Core.SUM)
    if not multiplication.overlaps:
        enter(code, _ACC, Mode.ONE)
    scan_public(code, done)
    if multiplication.overlaps:  # C = S for the highest 1, in place of a square of 1 and a product
        code.move(_ACC, Banked.TERM, "C = S")
        code.next_bit(square)  # E has more bits, or not
        code.whole.rest()
        code.jump(done)
    with code.each_bit(square):
        code.multiply(_ACC, _ACC, _ACC, "C = C * C")
        code.if_bit(done)
        code.multiply(_ACC, _ACC, Banked.TERM, "C = C * S")
    code.label(done)
    negative(code, part)
    code.multiply(part, part, Banked.FACTOR, "-X", outer=_WHOLE)
    code.add(_ACC, _ACC, part, "S ^ E - X, below 4cp")
    code.multiply(_ACC, _ACC, Mode.ONE, "S ^ E - X, below 2p", descale=multiplication.scaled)
    code.reduce(_ACC, _ACC)
    code.check_zero(_ACC, "S ^ E - X = 0?")


def scan_public(code: Builder, target: str) -> None:
    """Begin with E, whatever the modulus; to the target if E is 0."""
    code.scan(StepKind.SCAN_PUBLIC, "from the highest 1 of E", target)
