"""RSA_PRIVATE: the four steps of decryption by the Chinese Remainder Theorem.

Source: FDFM, section 4 (equations 4 to 6). What differs:

* Step 1 is the exponentiation's entry into Montgomery form: a multiplication of as many rounds as M
  has, modulo a prime, reduces C at once, whatever the lengths of the two primes.
* In step 3 a residue takes as many rounds as its prime has: one multiplication a prime, with the
  weight Z_p * R_p mod M stored, instead of three.
* With two lanes each has a prime, as BITSERIAL assumes (section 3.3).
"""

from fractions import Fraction

from coprime.multipliers.multiplication import Multiplication
from coprime.program.builder import Builder
from coprime.program.operands import Context, Core, Mode, Operand, Reference, Scratch
from coprime.program.steps import Step

from .banked_private import rsa_private_banked
from .encodings.rsa_key import RsaKey, private_power
from .masked_private import masked_private
from .operation import Arithmetic, Input, Key, Machine, Operation, Output
from .shared_steps import (
    REDUCE_BELOW_3M,
    REDUCE_BELOW_4M,
    check_normalized,
    prepare,
)


def rsa_private(machine: Machine) -> list[list[Step]]:
    """X ^ D mod M, M = P * Q, on one lane or on two: a list for each."""
    code, second = Builder(), Builder()
    contexts = (code, code.p, code.q)
    for context in contexts:
        context.check_modulus()
    code.check_below(Operand.X)
    for context in contexts:
        check_normalized(context, machine.multiplication)
    for prime in (code.p, code.q):
        machine.exponentiation.check(prime)
    if machine.lanes == 1:
        share(code.q, machine, Core.PART)
        share(code.p, machine, Core.BASE)
        step_4_add(code, machine.multiplication, Core.PART)
        return [code.steps]
    code.barrier()
    share(code.p, machine, Core.BASE)
    code.barrier()
    step_4_add(code, machine.multiplication, Mode.OTHER_PART)
    second.barrier()
    share(second.q, machine, Core.PART)
    second.barrier()
    second.finish()
    return [code.steps, second.steps]


def share(code: Builder, machine: Machine, destination: Scratch) -> None:
    """A prime's share of the result."""
    multiplication, prime = machine.multiplication, code.context
    name, scaled = prime.name.lower(), multiplication.scaled
    # Step 1: C_p = C mod p; step 2: P_p = C_p ^ D_p mod p.
    prepare(code, multiplication)
    machine.exponentiation.power(code)
    code.amend(descale=scaled)
    # If not canonical, below 5/4 M since P_p * 4 < R_p; below 2M where it was descaled.
    prepare(code.whole, multiplication)
    note = f"step 3: S_{name} = P_{name} * Z_{name} mod M"
    code.whole.multiply(
        destination, prime.weight, Core.ACCUMULATOR, note, outer=prime, descale=scaled
    )


def step_4_add(code: Builder, multiplication: Multiplication, part: Reference) -> None:
    """Step 4: P = S_p + S_q; below 3M or 4M and to be made canonical, or canonical at once."""
    base, result, scaled = Core.BASE, Core.RESULT, multiplication.scaled
    if not multiplication.canonical:
        code.add(Core.ACCUMULATOR, part, base, "step 4: P = S_p + S_q")
        if isinstance(part, Mode):  # the other lane's
            code.amend(below=2 if scaled else Fraction(5, 4))
        code.jump(REDUCE_BELOW_4M if scaled else REDUCE_BELOW_3M)
        return
    # S_q - (M - S_p), and M put back where that is below 0: no sum is longer than M.
    code.subtract(base, Operand.M, base, "M - S_p")
    code.subtract(result, part, base, "step 4: P = S_q - (M - S_p)", below=1)
    code.restore(result, result, Operand.M, "... + M, where it was below 0")
    code.finish()


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
    encoding_of=RsaKey,
    formula="x^d mod n from two primes (CRT), recombined in hardware: decrypt, sign",
    key=Key.PRIVATE,
    inputs=(Input(name="x", operand=Operand.X, meaning="message"),),
    outputs=(Output(name="power", meaning="the message to the power d modulo n"),),
    result=private_power,
    reads=operands,
    uses_up=frozenset({Operand.Y, Operand.M_POWER}),
    moduli=(Context.Q, Context.P),
    lanes=rsa_private,
    banked=on_two_banks,
)
