"""Which lane's word a butterfly takes, and gives, where both of its words are at one address.

Two addresses are two rows of words, a word in each lane. The first half of the lanes has the
butterflies of the first row, the second half those of the second one. Of butterfly k of a row,
whose words are 2^distance lanes apart, the lower one is in lane `lower(k)`.
"""

from collections.abc import Sequence

from amaranth.hdl import Array, Value


def lower(k: int, distance: int) -> int:
    """k with a bit that is 0 inserted in the place `distance`."""
    low = k & ((1 << distance) - 1)
    return (k >> distance) << distance + 1 | low


def butterfly(lane: int, distance: int) -> int:
    """The butterfly, in its row, that a lane's word is of."""
    low = lane & ((1 << distance) - 1)
    return lane >> distance + 1 << distance | low


def taken(
    first: Sequence[Value], second: Sequence[Value], lane: int, distance: Value
) -> tuple[Value, Value]:
    """The lower and the upper word of a lane's butterfly, of both rows."""
    half = len(first) // 2
    row, k = (first, lane) if lane < half else (second, lane - half)
    distances = range(len(first).bit_length() - 1)
    lowers = [lower(k, each) for each in distances]
    return (
        Array(row[place] for place in lowers)[distance],
        Array(row[place | 1 << each] for each, place in enumerate(lowers))[distance],
    )


def given(
    sums: Sequence[Value], others: Sequence[Value], lane: int, distance: Value
) -> tuple[Value, Value]:
    """A lane's words of both rows, from what the lanes' butterflies give."""
    half = len(sums) // 2
    rows = []
    for row in range(2):
        found = []
        for each in range(len(sums).bit_length() - 1):
            source = others if lane >> each & 1 else sums
            found.append(source[butterfly(lane, each) + row * half])
        rows.append(Array(found)[distance])
    return rows[0], rows[1]
