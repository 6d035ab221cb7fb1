"""The numbers of an operation from a seed, with a modulus, a key or a curve of a length.

Data and arithmetic only; `execution` simulates and predicts.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coprime.ec.samples import AnyCurve, curve_numbers, curve_of_length, curves_of
from coprime.engine.contract import Command
from coprime.operations.encodings.edwards import EdwardsPairs
from coprime.operations.encodings.modular import Modular
from coprime.operations.encodings.montgomery import Montgomery
from coprime.operations.encodings.rsa_key import RsaKey, key_numbers
from coprime.operations.encodings.weierstrass import WeierstrassPairs
from coprime.operations.lengths import Lengths
from coprime.operations.operation import Encoding, Numbers
from coprime.rsa import keys
from coprime.rsa.primes import next_prime


@dataclass(frozen=True)
class _Draw:
    """What a domain is drawn from: a generator, unless there is a seed of a key, or a modulus."""

    generator: random.Random
    seed: int | None
    modulus: int | None


def _modulus(command: Command, bits: int, draw: _Draw) -> Numbers:
    """With its top bit set, and a prime where it must be."""
    if draw.modulus is not None:
        return {"m": draw.modulus}
    m = draw.generator.getrandbits(bits) | 1 << (bits - 1) | 1
    return {"m": next_prime(m) if command.operation.encoding.prime else m}


def _key(command: Command, bits: int, draw: _Draw) -> Numbers:
    seed = draw.generator.getrandbits(64) if draw.seed is None else draw.seed
    return key_numbers(keys.generate(bits, seed=seed))


def _curve(command: Command, bits: int, draw: _Draw) -> Numbers:
    return curve_of_length(command, bits).domain


_DOMAINS: Mapping[type[Encoding], Callable[[Command, int, _Draw], Numbers]] = {
    Modular: _modulus,
    Montgomery: _modulus,
    RsaKey: _key,
    WeierstrassPairs: _curve,
    EdwardsPairs: _curve,
}


def random_key_lengths(bits: int) -> Lengths:
    """Of a key that `random_numbers` makes. ValueError as `random_lengths`."""
    return random_lengths(Command.RSA_PRIVATE, bits)


def random_lengths(command: Command, bits: int) -> Lengths:
    """Of the numbers that `random_numbers` makes, without making them.

    Raises ValueError for a length outside 2..65535 bits, under 64 for a key.
    """
    encoding = command.operation.encoding
    if not encoding.least_bits <= bits <= keys.MAX_BITS:
        raise ValueError(f"bits must be in {encoding.least_bits}..{keys.MAX_BITS}, not {bits}")
    if _DOMAINS[type(encoding)] is _curve:  # whose order may be longer
        return curve_of_length(command, bits).lengths
    return encoding.lengths_of(bits)


def sizes_of(command: Command, lengths: Sequence[int]) -> Sequence[int]:
    """Of these lengths of a modulus, or of the fields of the curves that an operation works on."""
    if _DOMAINS[type(command.operation.encoding)] is not _curve:
        return lengths
    return sorted({curve.p.bit_length() for curve in curves_of(command)})


def domain_of(
    command: Command,
    bits: int,
    generator: random.Random,
    *,
    seed: int | None = None,
    modulus: int | None = None,
) -> Numbers:
    """A modulus, a key or a curve; of a key, from the seed if there is one."""
    encoding = command.operation.encoding
    return _DOMAINS[type(encoding)](command, bits, _Draw(generator, seed, modulus))


def random_numbers(
    command: Command,
    bits: int,
    seed: int,
    *,
    exponents: str = "random",
    modulus: int | None = None,
    checked: bool = False,
) -> dict[str, int]:
    """All inputs of an operation from a seed: with a modulus of a length, or a key.

    The key of a seed is no secret: for measurements only.

    Parameters
    ----------
    command : one that has a result
    bits : length of the modulus
    seed : what everything is drawn from
    exponents : one of EXPONENTS; "worst" makes a secret exponent all ones
    modulus : the modulus to use, of `bits` bits; None draws one
    checked : the engine checks private operations, in constant time: a valid key is its worst case

    Raises ValueError as `random_lengths`, and for a length that is not the modulus's.
    """
    random_lengths(command, bits)  # checks them
    if modulus is not None and modulus.bit_length() != bits:
        raise ValueError(f"the modulus has {modulus.bit_length()} bits, and not {bits}")
    generator = random.Random(seed)
    domain = domain_of(command, bits, generator, seed=seed, modulus=modulus)
    worst = exponents == "worst" and not (checked and command.operation.has_check)
    return command.operation.encoding.drawn(domain, generator, worst=worst)


def numbers_on(command: Command, curve: AnyCurve, seed: int) -> dict[str, int]:
    """Inputs of an operation on a curve from a seed, for measurements only."""
    return curve_numbers(command, curve, random.Random(seed))
