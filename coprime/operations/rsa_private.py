"""RSA_PRIVATE: the four steps of decryption by the Chinese Remainder Theorem.

Source: FDFM, section 4 (equations 4 to 6). What differs:

* Step 1 is the exponentiation's entry into Montgomery form: a multiplication of as many rounds as M
  has, modulo a prime, reduces C at once, whatever the lengths of the two primes.
* In step 3 a residue takes as many rounds as its prime has: one multiplication a prime, with the
  weight Z_p * R_p mod M stored, instead of three.
* With two lanes each has a prime, as BITSERIAL assumes (section 3.3).
"""

from dataclasses import replace
from fractions import Fraction

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import Context, Mode, Operand, Reference, Scratch
from coprime.program.steps import BARRIER, Step, StepKind, linear, multiply

from .banked_private import rsa_private_banked
from .masked_private import masked_private
from .operation import Arithmetic, Input, Key, Machine, Operation
from .shared_steps import (
    REDUCE_BELOW_3M,
    REDUCE_BELOW_4M,
    check_below_modulus,
    check_modulus,
    check_normalized,
    descale,
    jump,
    prepare,
)


def rsa_private(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    multiplication, power = machine.multiplication, machine.exponentiation
    contexts = (Context.WHOLE, Context.P, Context.Q)
    checks = [
        *map(check_modulus, contexts),
        check_below_modulus(Operand.X),
        *check_normalized(multiplication, *contexts),
        *power.checks(Context.P, Context.Q),
    ]
    p_share = share(multiplication, Context.P, Scratch.BASE, power)
    q_share = share(multiplication, Context.Q, Scratch.PART, power)
    if machine.lanes == 1:
        return [[*checks, *q_share, *p_share, *step_4_add(multiplication, Scratch.PART)]]
    return [
        [*checks, BARRIER, *p_share, BARRIER, *step_4_add(multiplication, Mode.OTHER_PART)],
        [BARRIER, *q_share, jump(BARRIER, "")],
    ]


def share(
    multiplication: Multiplication, prime: Context, destination: Scratch, power: Exponentiation
) -> list[Step]:
    """A prime's share of the result."""
    return [
        *prepare(multiplication, prime),
        *steps_1_and_2_residue(multiplication, prime, power),
        *prepare(multiplication, Context.WHOLE),
        descale(multiplication, step_3_weigh(prime, destination)),
    ]


def steps_1_and_2_residue(
    multiplication: Multiplication, prime: Context, power: Exponentiation
) -> list[Step]:
    """Step 1: C_p = C mod p; step 2: P_p = C_p ^ D_p mod p."""
    *steps, last = power.steps(prime)
    return [*steps, descale(multiplication, last)]


def step_3_weigh(prime: Context, destination: Scratch) -> Step:
    """Step 3: S_p = P_p * Z_p mod M.

    If not canonical, below 5/4 M since P_p * 4 < R_p; below 2M where it was descaled.
    """
    return multiply(
        destination,
        prime.weight,
        Scratch.ACCUMULATOR,
        Context.WHOLE,
        f"step 3: S_{prime.name.lower()} = P_{prime.name.lower()} * Z_{prime.name.lower()} mod M",
        outer=prime,
    )


def step_4_add(multiplication: Multiplication, part: Reference) -> list[Step]:
    """Step 4: P = S_p + S_q; below 3M or 4M and to be made canonical, or canonical at once."""
    whole = Context.WHOLE
    if not multiplication.canonical:
        total = linear(
            StepKind.ADD, Scratch.ACCUMULATOR, part, Scratch.BASE, whole, "step 4: P = S_p + S_q"
        )
        if isinstance(part, Mode):  # the other lane's
            total = replace(total, below=2 if multiplication.scaled else Fraction(5, 4))
        return [jump(total, REDUCE_BELOW_4M if multiplication.scaled else REDUCE_BELOW_3M)]
    # S_q - (M - S_p), and M put back where that is below 0: no sum is longer than M.
    base, result = Scratch.BASE, Scratch.RESULT
    restored = "... + M, where it was below 0"
    difference = linear(StepKind.SUBTRACT, result, part, base, whole, "step 4: P = S_q - (M - S_p)")
    return [
        linear(StepKind.SUBTRACT, base, Operand.M, base, whole, "M - S_p"),
        replace(difference, below=1),
        jump(linear(StepKind.RESTORE, result, result, Operand.M, whole, restored), ""),
    ]


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """In two banks for each lane, with masks of all secret numbers or without."""
    if machine.exponentiation.blinded:
        return masked_private(machine)
    return rsa_private_banked(machine)


def operands(arithmetic: Arithmetic) -> frozenset[Operand]:
    """X, M, and the numbers of the primes.

    An engine that is `checked` takes one weight, and the public exponent.
    """
    found = {Operand.X, Operand.M}
    if arithmetic.inverses:
        found.add(Operand.M_INVERSE)
    for prime in (Context.P, Context.Q):
        found |= {prime.modulus, prime.power, prime.exponent, prime.weight}
        if arithmetic.inverses:
            found.add(prime.inverse)
    if arithmetic.checked:
        found = found - {Operand.CRT_Q} | {Operand.E}
    return frozenset(found)


RSA_PRIVATE = Operation(
    name="RSA_PRIVATE",
    code=4,
    doc="X ** D mod M from the Chinese Remainder Theorem's half-length exponents.",
    formula="x^d mod n from two primes (CRT), recombined in hardware: decrypt, sign",
    key=Key.PRIVATE,
    inputs=(Input(name="x", operand=Operand.X, meaning="message"),),
    reads=operands,
    uses_up=frozenset({Operand.Y, Operand.M_POWER}),
    moduli=(Context.Q, Context.P),
    lanes=rsa_private,
    banked=on_two_banks,
)
