"""What the host computes in advance for Montgomery's multiplication, in integers.

W is the digit's width in bits; a modulus of d digits has R = 2^(W*d). A constant that does not
exist, since the modulus is 0 or even or the primes share a factor, is 0: software hands it to the
hardware all the same, which then answers with its own error.
"""

__all__ = ["crt_factor", "digits", "inverse", "modulus_power", "prime_power"]


def digits(length: int, width: int, headroom: int) -> int:
    """Digits of `width` bits of an operand of `length` bits with `headroom` bits above it.

    0 for length 0. Ranges: length >= 0, width >= 1, headroom >= 0 bits.
    """
    return -(-(length + headroom) // width) if length else 0


def inverse(modulus: int, width: int) -> int:
    """-modulus^-1 mod 2^W, in [0, 2^W); 0 if the modulus is even."""
    radix = 1 << width
    return -pow(modulus, -1, radix) % radix if modulus & 1 else 0


def modulus_power(modulus: int, width: int, count: int) -> int:
    """R^2 mod modulus for R = 2^(W * count): brings an operand into Montgomery form."""
    return _power_of_two(2 * width * count, modulus)


def prime_power(prime: int, width: int, count: int, prime_count: int) -> int:
    """2^(W * (count + prime_count)) mod prime.

    Brings a message of `count` digits into Montgomery form modulo a prime of `prime_count` digits,
    and reduces it on the way.
    """
    return _power_of_two(width * (count + prime_count), prime)


def crt_factor(prime: int, other: int, modulus: int, width: int, prime_count: int) -> int:
    """(other^-1 mod prime) * other * 2^(W * prime_count) mod modulus; 0 if that does not exist.

    With the modulus prime * other, it is 2^(W * prime_count) modulo the one prime and 0 modulo the
    other: a result modulo `prime` times this factor, in Montgomery's multiplication over
    `prime_count` digits, is that prime's part of the recombined result.
    """
    if modulus < 1 or prime < 2:
        return 0
    try:
        coefficient = pow(other, -1, prime)
    except ValueError:
        return 0
    return coefficient * other * pow(2, width * prime_count, modulus) % modulus


def _power_of_two(exponent: int, modulus: int) -> int:
    return pow(2, exponent, modulus) if modulus else 0
