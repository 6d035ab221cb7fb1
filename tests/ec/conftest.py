"""The simulated accelerators that tests of curves share."""

import pytest

from tests.benches import open_bench

FAMILIES = ["compact", pytest.param("ring", marks=pytest.mark.matrix)]


@pytest.fixture(scope="session", params=FAMILIES)
def weierstrass(request):
    """The driver; mark tests with xdist_group("weierstrass"), so that one worker builds it."""
    bench = open_bench(request.param, max_bits=1024, curves="weierstrass")
    yield bench.accelerator
    bench.device.close()


@pytest.fixture(scope="session", params=FAMILIES)
def edwards(request):
    """The same of Edwards curves, with xdist_group("edwards")."""
    # ED_VERIFY of Ed448 has an exponent of 1,788 bits.
    bench = open_bench(
        request.param, max_bits=1024 if request.param == "compact" else 1400, curves="edwards"
    )
    yield bench.accelerator
    bench.device.close()


@pytest.fixture(scope="session", params=FAMILIES)
def montgomery(request):
    """A bench of Montgomery curves, with xdist_group("montgomery")."""
    bench = open_bench(request.param, max_bits=512, curves="montgomery")
    yield bench
    bench.device.close()
