"""RSA_PRIVATE: the four steps of decryption by the Chinese Remainder Theorem.

Source: FDFM, section 4 (equations 4 to 6). What differs:

* Step 1 is the exponentiation's entry into Montgomery form: a multiplication of as many rounds as M
  has, modulo a prime, reduces C at once, whatever the lengths of the two primes.
* In step 3 a residue takes as many rounds as its prime has: one multiplication a prime, with the
  weight Z_p * R_p mod M stored, in place of three.
* With two lanes each has a prime, as BITSERIAL assumes (section 3.3).
"""

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.exponentiators.steps import MEET, Context, Slot, Step, StepKind, multiply
from coprime.multipliers.contract import Multiplication

from .common import (
    REDUCE_BELOW_3M,
    REDUCE_BELOW_4M,
    below_modulus,
    go,
    leave,
    normalized,
    prepare,
    test_modulus,
)

__all__ = ["rsa_private"]


def rsa_private(own: Multiplication, lanes: int, power: Exponentiation) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    contexts = (Context.WHOLE, Context.P, Context.Q)
    checks = [
        *map(test_modulus, contexts),
        below_modulus(Slot.X),
        *normalized(own, *contexts),
        *power.checks(Context.P, Context.Q),
    ]
    p_share = share(own, Context.P, Slot.BASE, power)
    q_share = share(own, Context.Q, Slot.PART, power)
    if lanes == 1:
        return [[*checks, *q_share, *p_share, *step_4_add(own, Slot.PART)]]
    return [
        [*checks, MEET, *p_share, MEET, *step_4_add(own, Slot.OTHER_PART)],
        [MEET, *q_share, go(MEET, "")],
    ]


def share(
    own: Multiplication, prime: Context, destination: Slot, power: Exponentiation
) -> list[Step]:
    """A prime's share of the result."""
    return [
        *prepare(own, prime),
        *steps_1_and_2_residue(own, prime, power),
        *prepare(own, Context.WHOLE),
        leave(own, step_3_weigh(prime, destination)),
    ]


def steps_1_and_2_residue(own: Multiplication, prime: Context, power: Exponentiation) -> list[Step]:
    """Step 1: C_p = C mod p; step 2: P_p = C_p ^ D_p mod p."""
    *steps, last = power.steps(prime)
    return [*steps, leave(own, last)]


def step_3_weigh(prime: Context, destination: Slot) -> Step:
    """Step 3: S_p = P_p * Z_p mod M.

    If not canonical, below 5/4 M since P_p * 4 < R_p; below 2M where it left a scaled modulus.
    """
    return multiply(
        destination,
        Slot.crt(prime),
        Slot.ACCUMULATOR,
        Context.WHOLE,
        f"step 3: S_{prime.name.lower()} = P_{prime.name.lower()} * Z_{prime.name.lower()} mod M",
        outer=prime,
    )


def step_4_add(own: Multiplication, part: Slot) -> list[Step]:
    """Step 4: P = S_p + S_q; below 3M or 4M and to be made canonical, or canonical at once."""
    if not own.canonical:
        total = Step(
            kind=StepKind.ADD,
            destination=Slot.ACCUMULATOR,
            x=part,
            y=Slot.BASE,
            note="step 4: P = S_p + S_q",
        )
        return [go(total, REDUCE_BELOW_4M if own.scaled else REDUCE_BELOW_3M)]
    # S_q - (M - S_p), and M put back where that is below 0: no sum is longer than M.
    return [
        Step(
            kind=StepKind.SUBTRACT,
            destination=Slot.BASE,
            x=Slot.M,
            y=Slot.BASE,
            note="M - S_p",
        ),
        Step(
            kind=StepKind.SUBTRACT,
            destination=Slot.RESULT,
            x=part,
            y=Slot.BASE,
            note="step 4: P = S_q - (M - S_p)",
        ),
        go(
            Step(
                kind=StepKind.RESTORE,
                destination=Slot.RESULT,
                x=Slot.RESULT,
                y=Slot.M,
                note="... + M, where it was below 0",
            ),
            "",
        ),
    ]
