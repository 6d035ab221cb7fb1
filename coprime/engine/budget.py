"""Choosing the fastest design that so many DSP slices are enough for."""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from coprime.parameters import BudgetParameter

if TYPE_CHECKING:
    from .design import Design

Values = Mapping[str, int | str]


@dataclass(frozen=True)
class Candidate:
    """A design within a budget.

    Parameters
    ----------
    values : each of its parameters
    slices : its DSP slices
    cycles : those of RSA_PRIVATE with a modulus of max_bits, and two primes of half that length
    """

    values: Values
    slices: int
    cycles: int


@dataclass(frozen=True)
class SliceBudget:
    """The most DSP slices of a design, in place of some of its parameters.

    Parameters
    ----------
    parameter : its name, its range, and which parameters it stands for
    choices : values of each of these that are looked at
    slices : DSP slices of a design, from the values of all its parameters
    """

    parameter: BudgetParameter
    choices: Mapping[str, tuple[int | str, ...]]
    slices: Callable[..., int]

    def candidates(
        self, design: "Callable[..., Design]", values: Values, given: Collection[str], limit: int
    ) -> list[Candidate]:
        """Designs of at most `limit` DSP slices, the fastest first; of equal ones, the smallest.

        Parameters
        ----------
        design : makes the engine's design
        values : each parameter of it
        given : those that the user has set: they stay
        limit : the most DSP slices, at least 1

        Raises ValueError if none has so few, or if none of these takes two primes of half the
        length of its longest modulus.
        """
        designs = list(self._designs(design, values, given))
        within = [parameters for parameters in designs if self.slices(**parameters) <= limit]
        if not within:
            least = min((self.slices(**parameters) for parameters in designs), default=None)
            hint = "it takes other values" if least is None else f"the smallest has {least}"
            raise ValueError(f"no such design has {limit} DSP slices or less; {hint}")
        found = [
            Candidate(parameters, self.slices(**parameters), cycles)
            for parameters in within
            if (cycles := _private_cycles(design, tuple(parameters.items()))) is not None
        ]
        if not found:
            raise ValueError(
                "no such design takes primes of half the length of max_bits; set a larger max_bits,"
                " or leave blinding out"
            )
        return sorted(found, key=lambda candidate: (candidate.cycles, candidate.slices))

    def _designs(
        self, design: "Callable[..., Design]", values: Values, given: Collection[str]
    ) -> Iterator[Values]:
        """Every combination of choices that there is a design with."""
        names = [name for name in self.choices if name not in given]
        for chosen in itertools.product(*(self.choices[name] for name in names)):
            combined = {**values, **dict(zip(names, chosen, strict=True))}
            with contextlib.suppress(ValueError):  # a tile may be too small for so long a modulus
                design(**combined)
                yield combined


@lru_cache(maxsize=256)
def _private_cycles(
    design: "Callable[..., Design]", values: tuple[tuple[str, int | str], ...]
) -> int | None:
    """Cycles of RSA_PRIVATE, as predicted, with the longest modulus of two equally long primes.

    None if the design refuses two primes of half that length, as one for short moduli does where
    it blinds exponents.

    Any numbers will do for a design in constant time. 0 to any power is 0, however it is blinded,
    so that the primes need not be prime, and the result passes its check with any exponents.
    """
    from .capabilities import Error

    own = design(**dict(values))
    engine = own.capabilities
    bits = min(engine.max_length, 2 * engine.max_prime_length)
    (command,) = engine.private
    encoded = command.operation.encoding.encode(_numbers_of_length(bits), engine)
    predicted = own.predict(command, encoded.among(engine.required[command]), encoded.lengths)
    if predicted.error is Error.LENGTH_OVER:
        return None
    assert predicted.error is Error.NONE
    return predicted.cycles


def _numbers_of_length(bits: int) -> dict[str, int]:
    """Two coprime odd numbers in place of primes, and all-ones exponents; the message is 0."""
    long, short = (bits + 1) // 2, bits // 2
    dp, dq = (1 << long) - 1, (1 << short) - 1
    p, q = dp, dq - 2 * (long == short)  # 2^k - 1 and 2^(k-1) - 1 are coprime
    return {
        "x": 0,
        "n": p * q,
        "d": (1 << bits) - 1,
        "e": 65537,
        "p": p,
        "q": q,
        "dp": dp,
        "dq": dq,
    }
