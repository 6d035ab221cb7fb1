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
