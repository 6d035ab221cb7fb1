"""RSA_PRIVATE: the four steps of decryption by the Chinese Remainder Theorem.

Source: FDFM, section 4 (equations 4 to 6). What differs:

* Step 1 is the exponentiation's entry into Montgomery form: a multiplication of d rounds modulo a
  prime reduces the d digits of C at once, whatever the lengths of the two primes.
* In step 3 a residue of d_p digits needs d_p rounds: one multiplication a prime, with the weight
  Z_p * 2^(W*d_p) mod M stored, in place of three.
"""

from collections.abc import Callable

from coprime.exponentiators.steps import Context, Slot, Step, StepKind, multiply

from .common import REDUCE_BELOW_3M, below_modulus, go, test_modulus

__all__ = ["rsa_private"]


def rsa_private(exponentiator: Callable[[Context], list[Step]]) -> list[Step]:
    """X ^ D mod M, M = P * Q."""
    return [
        test_modulus(Context.WHOLE),
        test_modulus(Context.P),
        test_modulus(Context.Q),
        below_modulus(Slot.X),
        *steps_1_and_2_residue(exponentiator, Context.P),
        step_3_weigh(Context.P, Slot.PART),
        *steps_1_and_2_residue(exponentiator, Context.Q),
        step_3_weigh(Context.Q, Slot.BASE),
        step_4_add(),
    ]


def steps_1_and_2_residue(
    exponentiator: Callable[[Context], list[Step]], prime: Context
) -> list[Step]:
    """Step 1: C_p = C mod p; step 2: P_p = C_p ^ D_p mod p."""
    return exponentiator(prime)


def step_3_weigh(prime: Context, destination: Slot) -> Step:
    """Step 3: S_p = P_p * Z_p mod M, below 5/4 M since P_p * 4 < 2^(W*d_p)."""
    return multiply(
        destination,
        Slot.crt(prime),
        Slot.ACCUMULATOR,
        Context.WHOLE,
        f"step 3: S_{prime.name.lower()} = P_{prime.name.lower()} * Z_{prime.name.lower()} mod M",
        outer=prime,
    )


def step_4_add() -> Step:
    """Step 4: P = S_p + S_q, below 5/2 M, then canonical."""
    return go(
        Step(
            kind=StepKind.ADD,
            destination=Slot.ACCUMULATOR,
            x=Slot.BASE,
            y=Slot.PART,
            note="step 4: P = S_p + S_q",
        ),
        REDUCE_BELOW_3M,
    )
