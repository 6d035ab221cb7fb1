"""The simulated accelerator that the tests of Weierstrass curves share."""

import pytest

from tests.benches import open_bench


@pytest.fixture(scope="session")
def weierstrass():
    """The driver; mark tests with xdist_group("weierstrass"), so that one worker builds it."""
    bench = open_bench("compact", max_bits=1024, curves="weierstrass")
    yield bench.accelerator
    bench.device.close()


@pytest.fixture
def on_small_curves(weierstrass):
    """The same for curves of tests/ec/small_curves.py.

    Scalars of fewer bits than MIN_LENGTH fill fewer digits than the engine compares with n, so what
    a longer curve has left in the others is wiped.
    """
    weierstrass.wipe()
    return weierstrass
