"""Lengths of combs: an exponent of four teeth, whose columns are scanned."""

COMB_TEETH = 4
"""Teeth of a comb."""


def tooth_of(columns: int, width: int, headroom: int) -> int:
    """Bits of a tooth, in digits of `width` bits, with at least so many columns.

    An engine finds a tooth's digits by the length of the exponent: the highest of them must have a
    bit of it. `headroom` is that of an operand, in bits.
    """
    while True:
        digits = -(-(COMB_TEETH * columns + headroom % width) // width)
        if -(-digits // COMB_TEETH) == -(-columns // width):
            return columns
        columns += 1


def tooth(length: int, width: int, headroom: int, blinding_bits: int = 0) -> int:
    """Bits of a tooth where moduli have `length` bits: all teeth have a bit more, and those of
    `scalar_blinding.comb_bits`."""
    return tooth_of(-(-(length + blinding_bits + 1) // COMB_TEETH), width, headroom)


def jacobian_tooth(n: int, length: int, width: int, headroom: int, blinding_bits: int = 0) -> int:
    """The same for additions that are special where numbers reach the order n; 0: there is none.

    With three teeth that are four bits shorter than n they do so in the last two columns only, if
    nothing is blinded.
    """
    found = tooth(length, width, headroom)
    if (COMB_TEETH - 1) * found + 4 > n.bit_length():
        return 0
    return tooth(length, width, headroom, blinding_bits)


def joint_tooth(n: int, length: int, width: int, headroom: int) -> int:
    """Bits of a tooth where each column is a signed bit of two numbers below n."""
    return tooth_of(max(n.bit_length() + 1, length // COMB_TEETH + 1), width, headroom)
