"""The generator against NIST's vectors."""

import pytest

from coprime.model.hash_drbg import MOST_BYTES, HashDrbg
from tests.random.cavp import CASES, RESEEDED


def test_outputs_are_nist_s():
    assert len(CASES) == 720
    tried = 0
    for case in CASES:
        if not case.supported:
            continue
        generator = HashDrbg(case.material)
        found = b""
        for again in case.again:
            if again is not None:
                generator.reseed(again)
            found = generator.generate(len(case.output))
        assert found == case.output
        tried += 1
    assert tried == 480


@pytest.mark.parametrize("case", RESEEDED)
def test_outputs_after_a_reseed_are_nist_s(case):
    generator = HashDrbg(case.material)
    generator.reseed(case.again[0])
    generator.generate(len(case.output))
    assert generator.generate(len(case.output)) == case.output


def test_a_request_has_a_limit():
    generator = HashDrbg(bytes(48))
    assert len(generator.generate(MOST_BYTES)) == MOST_BYTES
    with pytest.raises(ValueError, match="65536"):
        generator.generate(MOST_BYTES + 1)
