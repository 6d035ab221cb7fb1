"""The accelerators that RSA is tested on."""

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class IntegerResult:
    value: int


class IntegerAccelerator:
    """Stands in for an accelerator: Python's pow, and RFC 8017's Chinese Remainder Theorem."""

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


FAMILIES = ("fdfm", "karatsuba", "compact")
"""The families that everything runs on; each is a fixture with an accelerator for 2048 bits."""


@pytest.fixture(
    params=["integers", *(pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES)]
)
def accelerator(request: pytest.FixtureRequest) -> Any:
    """Whatever has load_public, public, load_private and private."""
    if request.param == "integers":
        return IntegerAccelerator()
    return request.getfixturevalue(request.param).accelerator
