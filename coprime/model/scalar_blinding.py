"""Blinding of scalars: k + r n in place of k, with a random r, on points of the order n.

Source: Coron, Resistance against differential power analysis for elliptic curve cryptosystems
(1999), section 5.1. What differs: the length of the result is the same for every r, and so are the
cycles of a multiple.

r has half as many bits as n. Where n is close to a power of two, r n has a run of equal bits, over
which those of k do not change; with that many none is left on any curve of the standards.
"""

from typing import Any


def random_bits(length: Any) -> Any:
    """Bits of r, for hardware and integers alike; the order is given to the engine with `length`
    bits."""
    return length + 1 >> 1


def ladder_bits(length: int) -> int:
    """Bits that a blinded ladder's scalar has beyond those of the order: of k + (1 + 4 r) n, and
    once or twice 2^(bits + 2) n, whichever has one bit more; without blinding k + n or k + 2 n.

    So no number that the ladder comes by, above its last two bits, is 0 or -1 modulo an order of
    eight bits or more: the factor of n is 1 modulo 4.
    """
    return int(random_bits(length)) + 2


def comb_bits(length: int) -> int:
    """The same of a comb's scalar, to which a multiple of n is added twice, once for each of two
    multiples that are compared."""
    return int(random_bits(length)) + 1
