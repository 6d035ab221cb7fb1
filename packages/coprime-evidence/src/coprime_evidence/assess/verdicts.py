"""What an attacker makes of wrong results of an operation on numbers."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from coprime.operations.operation import Numbers, Operation

from .another_key import difference_of_keys
from .nonces import KNOWN_BITS, key_follows
from .subject import Judgement, Outcome

_SIGNATURE_OF = ("z", "d", "gx", "gy", "a", "b", "p", "n")


@dataclass(frozen=True)
class Verdicts:
    """Of an operation without a secret that its results give away.

    Parameters
    ----------
    operation : what gives the results
    numbers, before : its inputs, and those of the operation before
    half_bits : the engine's
    """

    operation: Operation
    numbers: Numbers
    before: Numbers
    half_bits: int

    def is_right(self, value: int) -> bool:
        """Whether it is the right number, or one that random numbers can have led to."""
        return self.operation.accepts(self.numbers, self._outputs(value))

    def judge(self, value: int, last: int, others: Callable[[], Iterable[int]]) -> Judgement:
        """Of a result that differs from the one without a fault; `last` is that of the operation
        before, and `others` as of Subject."""
        return Judgement(reveals=self.reveals(value), another_input=self.is_of_another_input(value))

    def reveals(self, value: int) -> bool:
        """Whether a wrong result gives the key away."""
        return False

    def is_of_another_input(self, value: int) -> bool:
        """Whether a wrong result is right for an input nearly like this one."""
        return False

    def _outputs(self, value: int) -> dict[str, int]:
        return self.operation.encoding.decode(value, self.half_bits)


class RsaVerdicts(Verdicts):
    """Of RSA_PRIVATE."""

    def reveals(self, value: int) -> bool:
        """That is so if value^e - x has a factor in common with the modulus, but not all of it."""
        n = self.numbers["n"]
        return 1 < math.gcd(self._input_of(value) - self.numbers["x"], n) < n

    def is_of_another_input(self, value: int) -> bool:
        """They differ in no more than 32 bits beside each other, as after a fault in the input."""
        difference = self._input_of(value) ^ self.numbers["x"]
        return bool(difference) and difference // (difference & -difference) < 1 << 32

    def _input_of(self, value: int) -> int:
        return pow(value, self.numbers["e"], self.numbers["n"])


class SignatureVerdicts(Verdicts):
    """Of a signature of ECDSA with a nonce that is drawn: with any nonce it is as good, unless that
    one follows."""

    def judge(self, value: int, last: int, others: Callable[[], Iterable[int]]) -> Judgement:
        """As of Verdicts."""
        if not self.is_right(value):
            return super().judge(value, last, others)
        follows = self.nonce_follows(value, last) or self.key_follows(
            [value, *filter(self.is_right, others())]
        )
        return Judgement(reveals=True) if follows else Judgement(Outcome.RIGHT)

    def reveals(self, value: int) -> bool:
        """That is so if it is valid for another key, of which the difference can be found."""
        numbers = {name: self.numbers[name] for name in _SIGNATURE_OF}
        return difference_of_keys(self._signature(value), **numbers) is not None

    def nonce_follows(self, value: int, last: int) -> bool:
        """Whether a signature's nonce, or a part of it that a lattice needs, is no secret.

        That is so if its highest or its lowest 16 bits are all the same, and if it is that of the
        signature `last`, or its negative.
        """
        n = self.numbers["n"]
        nonce, before = self._nonce(self.numbers, value), self._nonce(self.before, last)
        length, ones = n.bit_length() - KNOWN_BITS, (1 << KNOWN_BITS) - 1
        ends = {number >> length for number in (nonce, n - nonce)} | {nonce & ones}
        return not ends.isdisjoint({0, ones}) or nonce in (before, n - before)

    def key_follows(self, values: Sequence[int]) -> bool:
        """Whether the private key follows from signatures, of one fault on different draws."""
        numbers = self.numbers
        return key_follows(
            [self._signature(value) for value in values], numbers["z"], numbers["d"], numbers["n"]
        )

    def _signature(self, value: int) -> tuple[int, int]:
        found = self._outputs(value)
        return found["r"], found["s"]

    def _nonce(self, numbers: Numbers, value: int) -> int:
        """Of a signature, by the private key."""
        (r, s), n = self._signature(value), numbers["n"]
        return (numbers["z"] + r * numbers["d"]) * pow(s, -1, n) % n


VERDICTS: Mapping[str, type[Verdicts]] = {
    "RSA_PRIVATE": RsaVerdicts,
    "ECDSA_SIGN": SignatureVerdicts,
}
"""By the operation's name; others have Verdicts."""
