"""Fixtures for the tests of the command line."""

import pytest

from coprime.rsa import keys


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key.pem"
    path.write_bytes(keys.private_pem(keys.generate(1024, seed=1)))
    return path
