"""Fixtures for the tests of the command line."""

from contextlib import nullcontext

import pytest

from coprime.cli import rsa
from coprime.rsa import keys
from tests.integers import IntegerAccelerator


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(keys.private_pem(keys.generate(1024, seed=1)))
    return path


@pytest.fixture
def integers(monkeypatch):
    """`coprime rsa` on Python's integers, whatever its device."""
    monkeypatch.setattr(rsa, "open_accelerator", lambda *_: nullcontext(IntegerAccelerator()))
