"""Packages that several tests look at."""

import pytest

from coprime.cells.target import Target
from coprime.package.package import package
from tests.package.designs import described


@pytest.fixture(scope="package", params=[*Target, "cluster"], ids=str)
def contents(request):
    """The files of a small package: an accelerator for each target, and a cluster."""
    if request.param == "cluster":
        return package(described("cluster"))
    return package(described("fdfm", request.param))
