"""Packages that several tests look at."""

import pytest

from coprime.cells.target import Target
from coprime.package.package import package
from tests.package.designs import described, of_group


@pytest.fixture(
    scope="package", params=[of_group(one, f"files, {one}") for one in (*Target, "cluster")]
)
def contents(request):
    """The files of a small package: an accelerator for each target, and a cluster."""
    if request.param == "cluster":
        return package(described("cluster"))
    return package(described("fdfm", request.param))
