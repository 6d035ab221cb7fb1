"""Every RSA file of Wycheproof, with software's paddings, on Python's integers and on devices."""

import pytest

from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from tests.integers import IntegerAccelerator
from tests.wycheproof import RSA_FILES, design_for, vectors


def check(accelerator, tests):
    """Every test as Wycheproof demands; what is acceptable may also be refused."""
    count = 0
    for vector in tests:
        accepted = vector.accepted_by(accelerator)
        assert vector.result == "acceptable" or accepted == vector.valid, vector.name
        count += 1
    assert count


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[pytest.mark.vectors] * ("_4096_" in file)) for file in RSA_FILES],
)
def test_some_of_each_file(file):
    tests = list(vectors(file, acceptable=True))
    check(IntegerAccelerator(), tests[:: len(tests) // 4])


@pytest.mark.vectors
@pytest.mark.parametrize("file", RSA_FILES)
def test_all_of_each_file(file):
    check(IntegerAccelerator(), vectors(file, acceptable=True))


@pytest.mark.xdist_group("compact, Wycheproof")
@pytest.mark.vectors
def test_one_of_each_hash_on_compact(compact):
    """The last signature of 2048 bits that is valid and the last that is not, for each hash."""
    chosen = {}
    for file in RSA_FILES:
        if "signature_2048" in file or "pss_2048" in file:
            chosen |= {(v.task, v.hash, v.valid): v for v in vectors(file)}
    compact.accelerator.forget()  # what other tests loaded, in another way
    check(compact.accelerator, chosen.values())
    assert len({name for _, name, _ in chosen}) == 11


@pytest.mark.vectors
@pytest.mark.parametrize("file", RSA_FILES)
def test_all_of_each_file_on_a_device(file):
    """`python -m bench.wycheproof` does the same and writes the table of docs/results.md."""
    tests = list(vectors(file, acceptable=True))
    with open_simulation(design_for(max(vector.n.bit_length() for vector in tests))) as device:
        check(Accelerator(device), tests)
