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

from dataclasses import replace

from coprime.program.operands import KEYS, Context, Mode, Operand, Scratch
from coprime.program.steps import PASS, Step, StepKind, linear, multiply

from .banked import move
from .shared_steps import call
from .weierstrass import DRAWN, FROM_FORM, below, positive, zero

_ACC, _Q = Scratch.ACCUMULATOR, Context.Q
_SUM_0, _SUM_1, _BLINDING = Scratch.FORM_SUM, Scratch.FORM_SUM_1, Scratch.TERM


def shared_key() -> list[Step]:
    """Check d if the host has written it, else 1; and make others of the shares for s."""
    checked = [
        move(_ACC, Scratch.UNIT, _Q),
        _if_written(_ACC, Operand.SECRET, "d, if the host has written it, else 1"),
        below(_ACC, _Q),
        positive(_ACC, _Q, "d > 0?"),
    ]
    return [*checked, *_refreshed(*KEYS[0])]


def shares_of_check() -> list[Step]:
    """Make others of the shares for the check; ENTER was called for these alone."""
    return _refreshed(*KEYS[1])


def _if_written(destination: Scratch, x: Operand | Scratch, note: str) -> Step:
    return linear(StepKind.MOVE_WRITTEN, destination, x, Operand.M, _Q, note)


def _refreshed(first: Scratch, second: Scratch) -> list[Step]:
    """first - u and second + u, below 2 c n, of a random u; what they were is below 2 c n, too."""
    fits = "shares are below 2 c n"
    less = linear(StepKind.SUBTRACT, first, first, _ACC, _Q, f"{first.name} - u")
    more = linear(StepKind.ADD, second, second, _ACC, _Q, f"{second.name} + u")
    loaded = _if_written(second, _ACC, "0, if the host has written d")
    return [
        _if_written(first, Operand.SECRET, "d, if the host has written it"),
        zero(_ACC, _Q),
        call(loaded, DRAWN),
        replace(less, times_modulus=2, fits=fits),
        *_reduced(first),
        replace(more, fits=fits),
        *_reduced(second),
    ]


def _reduced(share: Scratch) -> list[Step]:
    """Below 2 c n, by two products."""
    return [
        multiply(share, share, Mode.ONE, _Q, f"{share.name} / R"),
        multiply(share, share, Scratch.POWER, _Q, f"{share.name}, below 2 c n"),
    ]


def sums_of_shares(pair: tuple[Scratch, Scratch]) -> list[Step]:
    """FORM_SUM and FORM_SUM_1, whose sum is z + r d modulo n, in Montgomery form.

    What the shares are multiplied by lies in ACCUMULATOR and in places of their own: neither is
    written over the other.
    """
    first, second = pair
    return [
        multiply(_ACC, first, Scratch.SQUARE_R, _Q, f"r {first.name}"),
        linear(StepKind.ADD, _SUM_0, _ACC, Scratch.FORM_Z, _Q, f"z + r {first.name}"),
        multiply(_SUM_1, second, Scratch.SQUARE_R, _Q, f"r {second.name}"),
    ]


def products_with_inverse() -> list[Step]:
    """ACCUMULATOR = (z + r d) / k, canonical."""
    inverse = Scratch.INVERSE
    return [
        multiply(_SUM_0, _SUM_0, inverse, _Q, "(z + r d_0) / k"),
        multiply(_ACC, _SUM_1, inverse, _Q, "r d_1 / k"),
        call(linear(StepKind.ADD, _ACC, _ACC, _SUM_0, _Q, "(z + r d) / k"), FROM_FORM),
    ]


def compared_blinded(form_s: list[Step], k: Scratch) -> list[Step]:
    """ACCUMULATOR = b (s k - (z + r d)), canonical, of a random b and the other pair of shares.

    The steps make s in Montgomery form.
    """
    drawn = call(replace(PASS, modulus=_Q, note="b"), DRAWN)
    less_0 = linear(StepKind.SUBTRACT, _ACC, _ACC, _SUM_0, _Q, "b s k - b (z + r d_0)")
    less_1 = linear(StepKind.SUBTRACT, _ACC, _ACC, _SUM_1, _Q, "b (s k - (z + r d))")
    return [
        *sums_of_shares(KEYS[1]),
        drawn,
        move(_BLINDING, _ACC, _Q),
        multiply(_SUM_0, _SUM_0, _BLINDING, _Q, "b (z + r d_0)"),
        multiply(_SUM_1, _SUM_1, _BLINDING, _Q, "b r d_1"),
        *form_s,
        multiply(_ACC, _ACC, _BLINDING, _Q, "b s"),
        multiply(_ACC, _ACC, k, _Q, "b s k"),
        replace(less_0, times_modulus=2),
        call(replace(less_1, times_modulus=2), FROM_FORM),
    ]
