"""Fixtures for the tests of the command line."""

from contextlib import nullcontext

import pytest

from coprime.cli import open_devices
from coprime.rsa import keys
from tests.integers import IntegerAccelerator


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(keys.private_pem(keys.generate(1024, seed=1)))
    return path


@pytest.fixture
def on(monkeypatch):
    """Makes an accelerator every simulated device of `coprime rsa`."""
    return lambda one: monkeypatch.setattr(
        open_devices, "open_simulated", lambda *_: nullcontext(one)
    )


@pytest.fixture
def integers(on):
    """Python's integers in place of simulated devices."""
    on(IntegerAccelerator())
