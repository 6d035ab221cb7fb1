"""Widths of numbers in hardware, and the residues that software compares, in integers."""


def bits_for(number: int) -> int:
    """Bits of an unsigned signal that holds 0 to `number`; 1 for 0, as Amaranth's `bits_for`."""
    return max(1, number.bit_length())


def residue_width(digit_width: int) -> int:
    """V, the greatest divisor of a digit's width that is 31 at most: for a register of 32 bits."""
    return max(width for width in range(1, 32) if digit_width % width == 0)


def residue_modulus(digit_width: int) -> int:
    """2^V - 1."""
    return (1 << residue_width(digit_width)) - 1


def expected_residue(s: int, x: int, modulus: int, digit_width: int) -> int:
    """3 S - M + X modulo 2^V - 1, where S - M, below 0, is kept as if there was a borrow.

    A borrow is worth 2^(W*D), which is 1. S counts three times since software cuts off what S has
    above the modulus's length: with S - M, a bit there that M gets could be that of S + M, which
    would go unseen. Three times a power of two is no power of two modulo 2^V - 1, for V over 2.
    """
    return (3 * s - modulus + 1 + x) % residue_modulus(digit_width)


def expected_residue_of_pair(s: int, x: int, digit_width: int) -> int:
    """S + X modulo 2^V - 1, of operations whose S is two numbers, below their moduli."""
    return (s + x) % residue_modulus(digit_width)
