"""The private key of ECDSA in two shares: only steps of the first signature read the key itself.

Sources: additive masks, Chari, Jutla, Rao, Rohatgi (1999); for the equation that is checked, a
random factor, like Kocher's of a base (1996).

    KEY_0 + KEY_1 = d modulo n          for s
    CHECKED_KEY_0 + CHECKED_KEY_1 = d   for its check

Each share is random, and each signature renews both of a pair: a random number is subtracted from
one, and added to the other. After the host has written d, the first signature begins with d and 0
as shares. z + r d is in two shares as well, and s is a sum of two products:

    s = (z + r KEY_0) / k + r KEY_1 / k
    b s k = b (z + r CHECKED_KEY_0) + b r CHECKED_KEY_1     b is random

A fault in one pair of shares leaves the other one: then the check fails, in this signature or in
the next one. What both are renewed with (the modulus's multiples and R^2) is computed for each: the
first pair is renewed as a signature begins, the second one in its check, after ENTER has brought
these again. With the same wrong multiple in both, both would be shares of d + 2^i.
"""

from coprime.program.builder import Builder
from coprime.program.operands import KEYS, Core, Mode, Operand, Scratch
from coprime.program.steps import StepKind

from .banked import Banked
from .ecdsa_routines import EcdsaNumber
from .weierstrass import DRAWN, FROM_FORM

_ACC = Core.ACCUMULATOR
_SUM_0, _SUM_1, _BLINDING = EcdsaNumber.FORM_SUM, EcdsaNumber.FORM_SUM_1, Banked.TERM


def share_key(code: Builder) -> None:
    """Check d if the host has written it, else 1; and make others of the shares for s."""
    code.move(_ACC, Banked.UNIT)
    _move_written(code, _ACC, Operand.SECRET, "d, if the host has written it, else 1")
    code.check_below(_ACC, _ACC)
    code.check_positive(_ACC, "d > 0?")
    _refresh(code, *KEYS[0])


def share_key_for_check(code: Builder) -> None:
    """Make others of the shares for the check; ENTER was called for these alone."""
    _refresh(code, *KEYS[1])


def _move_written(code: Builder, destination: Scratch, x: Operand | Scratch, note: str) -> None:
    code.linear(StepKind.MOVE_WRITTEN, destination, x, Operand.M, note)


def _refresh(code: Builder, first: Scratch, second: Scratch) -> None:
    """first - u and second + u, below 2 c n, of a random u; what they were is below 2 c n, too."""
    fits = "shares are below 2 c n"
    _move_written(code, first, Operand.SECRET, "d, if the host has written it")
    code.zero(_ACC)
    _move_written(code, second, _ACC, "0, if the host has written d")
    code.call(DRAWN)
    code.subtract(first, first, _ACC, f"{first.name} - u", times_modulus=2, fits=fits)
    _reduce(code, first)
    code.add(second, second, _ACC, f"{second.name} + u", fits=fits)
    _reduce(code, second)


def _reduce(code: Builder, share: Scratch) -> None:
    """Below 2 c n, by two products."""
    code.multiply(share, share, Mode.ONE, f"{share.name} / R")
    code.multiply(share, share, Banked.POWER, f"{share.name}, below 2 c n")


def sum_of_shares(code: Builder, pair: tuple[Scratch, Scratch]) -> None:
    """FORM_SUM and FORM_SUM_1, whose sum is z + r d modulo n, in Montgomery form.

    What the shares are multiplied by lies in ACCUMULATOR and in places of their own: neither is
    written over the other.
    """
    first, second = pair
    code.multiply(_ACC, first, EcdsaNumber.SQUARE_R, f"r {first.name}")
    code.add(_SUM_0, _ACC, EcdsaNumber.FORM_Z, f"z + r {first.name}")
    code.multiply(_SUM_1, second, EcdsaNumber.SQUARE_R, f"r {second.name}")


def multiply_by_inverse(code: Builder) -> None:
    """ACCUMULATOR = (z + r d) / k, canonical."""
    inverse = EcdsaNumber.INVERSE
    code.multiply(_SUM_0, _SUM_0, inverse, "(z + r d_0) / k")
    code.multiply(_ACC, _SUM_1, inverse, "r d_1 / k")
    code.add(_ACC, _ACC, _SUM_0, "(z + r d) / k")
    code.call(FROM_FORM)


def blind_sum(code: Builder) -> None:
    """FORM_SUM and FORM_SUM_1, of the other pair of shares, times a random b, which is in TERM."""
    sum_of_shares(code, KEYS[1])
    code.rest("b")
    code.call(DRAWN)
    code.move(_BLINDING, _ACC)
    code.multiply(_SUM_0, _SUM_0, _BLINDING, "b (z + r d_0)")
    code.multiply(_SUM_1, _SUM_1, _BLINDING, "b r d_1")


def compare_blinded(code: Builder, k: Scratch) -> None:
    """ACCUMULATOR = b (s k - (z + r d)), canonical, of s in Montgomery form and that sum."""
    code.multiply(_ACC, _ACC, _BLINDING, "b s")
    code.multiply(_ACC, _ACC, k, "b s k")
    code.subtract(_ACC, _ACC, _SUM_0, "b s k - b (z + r d_0)", times_modulus=2)
    code.subtract(_ACC, _ACC, _SUM_1, "b (s k - (z + r d))", times_modulus=2)
    code.call(FROM_FORM)
