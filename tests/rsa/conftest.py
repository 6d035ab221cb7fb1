"""The accelerators that RSA is tested on."""

from typing import Any

import pytest

from tests.integers import IntegerAccelerator

FAMILIES = ("fdfm", "karatsuba", "compact", "ring")
"""The families that everything runs on; each is a fixture with an accelerator for 2048 bits."""


@pytest.fixture(
    params=[
        "integers",
        *(
            pytest.param(name, marks=[pytest.mark.matrix, pytest.mark.xdist_group(name)])
            for name in FAMILIES
        ),
    ]
)
def accelerator(request: pytest.FixtureRequest) -> Any:
    """Whatever has load_public, public, load_private and private."""
    if request.param == "integers":
        return IntegerAccelerator()
    return request.getfixturevalue(request.param).accelerator
