"""Widths of numbers in hardware, in integers."""


def bits_for(number: int) -> int:
    """Bits of an unsigned signal that holds 0 to `number`; 1 for 0, as Amaranth's `bits_for`."""
    return max(1, number.bit_length())


def residue_width(digit_width: int) -> int:
    """V, the greatest divisor of a digit's width that is 31 at most: for a register of 32 bits."""
    return max(width for width in range(1, 32) if digit_width % width == 0)


def residue_modulus(digit_width: int) -> int:
    """2^V - 1, modulo which software compares RESIDUE."""
    return (1 << residue_width(digit_width)) - 1
