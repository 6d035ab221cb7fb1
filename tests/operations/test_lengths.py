"""Lengths: what an engine holds, and how an error says what it does not."""

from types import SimpleNamespace

import pytest

from coprime.operations.lengths import Lengths

PLAIN = SimpleNamespace(max_length=1024, max_prime_length=600, checked=False)
CHECKED = SimpleNamespace(max_length=1024, max_prime_length=600, checked=True)
WITHOUT_PRIMES = SimpleNamespace(max_length=1024, max_prime_length=0, checked=False)


@pytest.mark.parametrize(
    ("lengths", "limits", "excess"),
    [
        (Lengths(1024, 600, 1024), PLAIN, ""),
        (Lengths(1025), PLAIN, "moduli of up to 1024 bits (not 1025)"),
        (Lengths(1024, 601), PLAIN, "primes of up to 600 bits (not 601)"),
        (Lengths(1024, 601), WITHOUT_PRIMES, ""),
        (Lengths(8, exponent=1025), PLAIN, "exponents of up to 1024 bits (not 1025)"),
        # A check holds the public exponent in a prime's place; a public operation does not.
        (Lengths(1024, 512, 600), CHECKED, ""),
        (Lengths(1024, 512, 601), CHECKED, "exponents of up to 600 bits (not 601)"),
        (Lengths(1024, exponent=1024), CHECKED, ""),
        (
            Lengths(2048, 1024),
            PLAIN,
            "moduli of up to 1024 bits (not 2048) and primes of up to 600 bits (not 1024)",
        ),
    ],
)
def test_excess(lengths, limits, excess):
    assert lengths.excess(limits) == excess
    assert lengths.fit(limits) == (not excess)
