"""Keccak-f[1600] in two shares, whose sum is the state.

Source: Gross, Schaffenrath, Mangard, "Higher-Order Side-Channel Protected Implementations of
Keccak" (2017), for chi by domain-oriented products (Gross, Mangard, Korak 2016); Daemen, "Changing
of the Guards" (2017), for masks of products that are shares of other rows. What differs: guards of
two shares, where his have three; they pass from row to row, and from slice to slice, of a part of
the state that the hardware computes at once, and end in five fresh bits.

With q_i the share i of a bit of chi, of bits a, b, c of a row, and g a guard:

    q_0 = (a_0 + not b_0 c_0) + (not b_0 c_1 + g),  q_1 = (a_1 + b_1 c_1) + (b_1 c_0 + g)

What is in parentheses is a register in the hardware. The guard is share 0 of a bit of the next row,
at the same x, or a fresh bit. Both shares of the result are uniform if those of the state are: the
bit whose share is the guard is not in any earlier row, so that the shares of a result can be solved
for those of the state, row by row from the last one on.
"""

from collections.abc import Callable, Sequence

from coprime.model.keccak import LANE_BITS, LANES, ROUNDS, iota, pi, rho, theta

SHARES = 2
ROW_BITS = 5
"""Fresh bits for each part of the state that is computed at once."""

Shares = list[list[int]]
"""For each share the lanes of a state."""
_ONES = (1 << LANE_BITS) - 1


def combine(shares: Sequence[Sequence[int]]) -> list[int]:
    """The state."""
    return [first ^ second for first, second in zip(*shares, strict=True)]


def guards(lanes: Sequence[int], width: int, fresh: Sequence[int]) -> list[int]:
    """The guard of each bit, of share 0 of the state.

    Parameters
    ----------
    width : slices that are computed at once, from a multiple of it on
    fresh : for each of these parts its five bits, x = 0 the least significant
    """
    found = []
    ends = sum(1 << place for place in range(width - 1, LANE_BITS, width))
    for place in range(LANES):
        x, y = place % ROW_BITS, place // ROW_BITS
        if y < 4:
            found.append(lanes[place + ROW_BITS])
            continue
        # After the last row of a slice comes the first one of the next slice.
        guard = lanes[x] >> 1 & ~ends
        for part, bits in enumerate(fresh):
            guard |= (bits >> x & 1) << (part + 1) * width - 1
        found.append(guard)
    return found


def chi_terms(shares: Shares, masks: Sequence[int]) -> tuple[Shares, Shares]:
    """For each share what the hardware computes in it alone, and its products with the other one,
    of which each has a mask."""
    inner, cross = [], []
    for own, other, inverted in ((shares[0], shares[1], _ONES), (shares[1], shares[0], 0)):
        rows = [(place, place // 5 * 5) for place in range(LANES)]
        seconds = [own[row + (place + 1) % 5] ^ inverted for place, row in rows]
        thirds = [row + (place + 2) % 5 for place, row in rows]
        inner.append(
            [
                own[k] ^ seconds[k] & own[third]
                for k, third in zip(range(LANES), thirds, strict=True)
            ]
        )
        cross.append([seconds[k] & other[thirds[k]] ^ masks[k] for k in range(LANES)])
    return inner, cross


def permute(shares: Shares, width: int, fresh: Callable[[], int]) -> Shares:
    """Keccak-f[1600].

    Parameters
    ----------
    width : as of `guards`
    fresh : gives five bits each time
    """
    for number in range(ROUNDS):
        shares = [pi(rho(theta(share))) for share in shares]
        parts = [fresh() for _ in range(LANE_BITS // width)]
        inner, cross = chi_terms(shares, guards(shares[0], width, parts))
        shares = [combine(terms) for terms in zip(inner, cross, strict=True)]
        shares[0] = iota(shares[0], number)
    return shares
