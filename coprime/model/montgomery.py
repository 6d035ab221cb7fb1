"""What the host computes in advance for Montgomery's multiplication, in integers.

R of a modulus is 2^exponent: a multiplication divides by it, round by round. The exponent follows
from the modulus's length and from the multiplier; it is 0 for one that does not divide. A constant
that does not exist, since the modulus is 0 or even or the primes share a factor, is 0: software
passes it to the hardware all the same, which then reports its own error.
"""

from functools import lru_cache


def digits(length: int, width: int, headroom: int) -> int:
    """Digits of `width` bits of an operand of `length` bits with `headroom` bits above it.

    0 for length 0. Ranges: length >= 0, width >= 1, headroom >= 0 bits.
    """
    return -(-(length + headroom) // width) if length else 0


@lru_cache(maxsize=8)
def inverse(modulus: int, width: int) -> int:
    """-modulus^-1 mod 2^width, in [0, 2^width); 0 if the modulus is even.

    Those of the last moduli are kept, since each product of an exponentiation asks for the same.
    """
    radix = 1 << width
    return -pow(modulus, -1, radix) % radix if modulus & 1 else 0


def reduced(value: int, modulus: int, bits: int) -> int:
    """(value + q * modulus) / 2^bits with the q below 2^bits that makes it an integer.

    It is value * 2^-bits mod modulus, not fully reduced: below value / 2^bits + modulus. Ranges:
    value >= 0; modulus odd, above 0; bits >= 0.
    """
    q = value * inverse(modulus, bits) & (1 << bits) - 1
    return (value + q * modulus) >> bits


def scaled_product(
    x: int, y: int, modulus: int, width: int, rounds: int, *, descale: bool = False, ahead: int = 1
) -> int:
    """x * y * 2^-(width * rounds) modulo c * modulus with c = -modulus^-1 mod 2^(width * ahead).

    It is not fully reduced: below x * y / 2^(width * rounds) + c * modulus. With `descale` the last
    `ahead` rounds are modulo the modulus. Ranges: x, y >= 0; modulus odd, above 0; ahead >= 1.
    """
    scaling = width * ahead
    whole = inverse(modulus, scaling) * modulus
    s = reduced(x * y, whole, width * rounds - (scaling if descale else 0))
    return reduced(s, modulus, scaling) if descale else s


def modulus_power(modulus: int, exponent: int) -> int:
    """R^2 mod modulus for R = 2^exponent: brings an operand into Montgomery form."""
    return prime_power(modulus, exponent, exponent)


def prime_power(prime: int, exponent: int, prime_exponent: int) -> int:
    """R * R_p mod prime for R = 2^exponent and R_p = 2^prime_exponent; 0 if the prime is 0.

    Brings a message into Montgomery form modulo the prime, and reduces it on the way: the message
    is as long as the modulus, so its multiplications divide by R.
    """
    return pow(2, exponent + prime_exponent, prime) if prime else 0


def crt_factor(prime: int, other: int, modulus: int, prime_exponent: int) -> int:
    """(other^-1 mod prime) * other * 2^prime_exponent mod modulus; 0 if that does not exist.

    With the modulus prime * other, it is R_p = 2^prime_exponent modulo one prime and 0 modulo the
    other: a result modulo `prime` times this factor, in a multiplication that divides by R_p,
    is that prime's part of the recombined result.
    """
    if modulus < 1 or prime < 2:
        return 0
    try:
        coefficient = pow(other, -1, prime)
    except ValueError:
        return 0
    return coefficient * other * pow(2, prime_exponent, modulus) % modulus
