"""What a multiplier computes, and in how many cycles: without hardware."""

from abc import ABC, abstractmethod
from fractions import Fraction

from coprime.model.montgomery import reduced, scaled_product

from .bounds import Bound

READ_LATENCY = 3
"""Cycles from asking a port for a digit to its data: slot and index, address, block RAM."""
WRITES_LATER = READ_LATENCY + 2
"""Cycles from the request for a digit of each summand to the request to write their sum's digit."""


class Multiplication(ABC):
    """Value and cycles of a multiplier's operation: a frozen dataclass, without hardware.

    Attributes
    ----------
    digit_width (int): bits of a digit
    canonical (bool): factors and result are below the modulus. Else below twice the modulus.
    prepares (bool): needs `prepare` before the first multiplication modulo another modulus
    montgomery (bool): divides by 2^(bits a round takes * rounds), modulo an odd modulus. Else by
        nothing.
    aligned (bool): the highest bit of the modulus must be the highest bit of its digits
    scaled (bool): works modulo c * M with c = -M^-1 modulo C = 2^W, or a power of that, so factors
        and results are below 2 * c * M; but with `descale`, the result is below 2M if the
        multiplier is 1, and below 5/2 M if it is below 1/2 R / C, with a multiplicand below M * (1
        + c)
    interleaved (bool): serves two lanes, which start it in the same cycle with the same lengths, or
        the first lane alone. The second lane's ports are the interface `other`.
    banked (bool): reads two banks of memory, with the ports of `BankedMultiplierSignature`
    two_streams (bool): has the port `b_multiplier` of `MultiplierSignature`
    overlaps (bool): accepts a product before the previous one has ended, with
        `OverlappingMultiplierSignature`
    chains (bool): of one memory: a product may follow the previous one before that has ended, with
        the ports of `MultiplierSignature` for it
    """

    digit_width: int
    canonical: bool
    prepares: bool
    montgomery: bool = True
    aligned: bool = False
    scaled: bool = False
    interleaved: bool = False
    banked: bool = False
    two_streams: bool = False
    overlaps: bool = False

    @property
    def chains(self) -> bool:
        """No product begins before the previous one has ended."""
        return False

    @property
    def round_bits(self) -> int:
        """Bits of the multiplier that a round takes: 1 or a digit."""
        return self.digit_width

    @property
    @abstractmethod
    def headroom(self) -> int:
        """Bits that an operand has beyond the modulus's length."""

    @abstractmethod
    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication of a multiplicand of `inner` digits, in `rounds` rounds."""

    @abstractmethod
    def products(self, inner: int, rounds: int) -> int:
        """Cycles of these in which a product that the algorithm needs enters the multiplier."""

    @property
    def scale_bits(self) -> int:
        """Bits of c where the multiplier works modulo c * M; else 0."""
        return 0

    @property
    def modulus_mask_bits(self) -> int:
        """Bits that operands have for a random multiple of the modulus in M'; 0 without masks.

        With k up to 2^(modulus_mask_bits - 1), M' + k M is the scaled modulus of c + 2^scale_bits k
        in place of c.
        """
        return 0

    @property
    def keeps_scaled_modulus(self) -> bool:
        """A preparation writes M' to the memory, as a number that steps may read."""
        return False

    def scaled_modulus(self, modulus: int) -> int:
        """M' = (c * M + 1) / 2^scale_bits with c = -M^-1 modulo that, of an odd M."""
        radix = 1 << self.scale_bits
        return (-pow(modulus, -1, radix) % radix * modulus + 1) // radix

    @property
    def most_multiplicand(self) -> int:
        """How many times the modulus a multiplicand may be, where the multiplier is not scaled."""
        return 1 if self.canonical else 2

    @property
    def usual_bound(self) -> Bound:
        """Of a product of factors that have this bound."""
        return Bound.times(0, scaled=2) if self.scaled else Bound.times(1 if self.canonical else 2)

    def share_of_r(self, number: Bound | None, *, short: bool = False) -> Fraction:
        """Upper bound of the number / R, with the R of its own modulus; 1 if nothing is known.

        `short`: R is as long as c = 1 requires.
        """
        if number is None:
            return Fraction(1)
        scale_bits = self.scale_bits + self.modulus_mask_bits
        slack = Fraction(1, 1 << (self.headroom - scale_bits))  # c * M / R, at most
        longer = 0 if short else scale_bits
        return number.plain * slack / (1 << longer) + number.scaled * slack

    def bound(
        self, x: Bound | None, share: Fraction, *, descale: bool = False, least: int = 1
    ) -> Bound | None:
        """Of a product; `share` is at most the multiplier / R. None: only its digits are known.

        c is `least` or more.

        (X * Y + q * c * M) / R with q < R is below X * share + c * M. With `descale` the highest
        digit of q is one modulo M, so that q * c * M / R is below (2 - 2 / C) M with c < C.

        Raises ValueError if the multiplicand is greater than it may be.
        """
        most = self.most_multiplicand
        if not self.scaled and x is not None and x.plain > most:
            raise ValueError(f"a multiplicand may be {x}, and not only {most} M")
        if not self.montgomery or self.canonical or x is None:
            return None if x is None and self.montgomery else self.usual_bound
        if not self.scaled:
            return Bound(x.plain * share + 1)
        radix = 1 << self.scale_bits
        if descale:
            most = radix << self.modulus_mask_bits
            return Bound(x.plain * share + x.scaled * share * most + 2 - Fraction(2, radix))
        # M is at most c * M / least, so that factors below 2 c M have a product below 2 c M.
        scaled = (x.plain / least + x.scaled) * share + 1
        if scaled <= self.usual_bound.scaled:
            return Bound(Fraction(0), scaled)
        return Bound(x.plain * share, x.scaled * share + 1)

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of preparing for a modulus of `inner` digits."""
        raise NotImplementedError

    def chained_cycles(self, inner: int, rounds: int) -> int:
        """Cycles from the end of a product to that of the one that follows it, where they chain."""
        raise NotImplementedError

    def product(self, x: int, y: int, modulus: int, rounds: int, *, descale: bool = False) -> int:
        """X * Y mod M; or (X * Y + q * M) / R with the q below R that makes it an integer.

        R is 2^(bits a round takes * rounds). Of a scaled multiplication c * M takes the place of M,
        but with `descale` in the last round, or in as many as c has digits.
        """
        if not self.montgomery:
            return x * y % modulus
        if not self.scaled:
            result = reduced(x * y, modulus, self.round_bits * rounds)
            return result % modulus if self.canonical else result
        width, ahead = self.digit_width, max(1, self.scale_bits // self.digit_width)
        return scaled_product(x, y, modulus, width, rounds, descale=descale, ahead=ahead)
