"""Stands in for an accelerator where tests are about what software does around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error


@dataclass(frozen=True)
class IntegerResult:
    value: int
    cycles: int = 1
    outputs: Mapping[str, int] = field(default_factory=dict)


class IntegerAccelerator:
    """Python's pow, and RFC 8017's Chinese Remainder Theorem."""

    def modexp(
        self, x: int, e: int, m: int, *, exponent_length: int | None = None
    ) -> IntegerResult:
        assert 0 <= x < m
        assert exponent_length is None or e.bit_length() <= exponent_length
        return IntegerResult(pow(x, e, m))

    def load_public(self, n: int, e: int) -> None:
        self._n, self._e = n, e

    def public(self, x: int) -> IntegerResult:
        assert 0 <= x < self._n
        return IntegerResult(pow(x, self._e, self._n))

    def load_private(self, key: Any) -> None:
        self._key = key

    def private(self, x: int) -> IntegerResult:
        key = self._key
        assert 0 <= x < key.n
        result_q = pow(x, key.dq, key.q)
        difference = (pow(x, key.dp, key.p) - result_q) * key.qinv % key.p
        return IntegerResult(result_q + key.q * difference)


class IntegerCurves:
    """The operations on elliptic curves."""

    def operate(
        self, command: Command, numbers: Mapping[str, int], *, exponent_length: int | None = None
    ) -> IntegerResult:
        try:
            return IntegerResult(0, outputs=command.operation.results(numbers))
        except ValueError:
            wrong = command in (Command.ECDSA_VERIFY, Command.ED_VERIFY)
            raise EngineError(Error.SIGNATURE if wrong else Error.OPERAND_RANGE) from None
