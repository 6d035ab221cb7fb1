"""The simulated accelerators that tests of curves share."""

import pytest

from tests.benches import open_bench


@pytest.fixture(scope="session")
def weierstrass():
    """The driver; mark tests with xdist_group("weierstrass"), so that one worker builds it."""
    bench = open_bench("compact", max_bits=1024, curves="weierstrass")
    yield bench.accelerator
    bench.device.close()


@pytest.fixture(scope="session")
def edwards():
    """The same of Edwards curves, with xdist_group("edwards")."""
    bench = open_bench("compact", max_bits=1024, curves="edwards", base_multiple="once")
    yield bench.accelerator
    bench.device.close()
