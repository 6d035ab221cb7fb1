"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest

from tests.benches import Bench, open_bench


@pytest.fixture(scope="session")
def fdfm() -> Iterator[Bench]:
    """The fdfm accelerator, simulated."""
    bench = open_bench("fdfm")
    yield bench
    bench.device.close()


@pytest.fixture(scope="session")
def karatsuba() -> Iterator[Bench]:
    """The karatsuba accelerator with its default parameters, simulated."""
    bench = open_bench("karatsuba")
    yield bench
    bench.device.close()


@pytest.fixture(scope="session")
def compact() -> Iterator[Bench]:
    """The compact accelerator for 2048 bits, simulated."""
    bench = open_bench("compact", max_bits=2048)
    yield bench
    bench.device.close()
