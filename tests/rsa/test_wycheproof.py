"""Every RSA file of Wycheproof, with software's paddings, on Python's integers and on devices."""

from functools import cache

import pytest

from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from tests.integers import IntegerAccelerator
from tests.wycheproof import RSA_FILES, design_for, vectors

BITS = (2048, 4096, 8192)
"""Of the designs that tests run on."""


def check(accelerator, tests):
    """Every test as Wycheproof demands; what is acceptable may also be refused."""
    count = 0
    for vector in tests:
        accepted = vector.accepted_by(accelerator)
        assert vector.result == "acceptable" or accepted == vector.valid, vector.name
        count += 1
    assert count


@pytest.mark.vectors(quick=8)
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


@cache
def of_each_kind():
    """For each task: a test of each comment and of each pair of hashes, with the shortest modulus
    that has it, and a valid and an invalid test of each length."""
    chosen = {}
    for vector in (one for file in RSA_FILES for one in vectors(file, acceptable=True)):
        bits, comment = vector.n.bit_length(), vector.name.split(" ", 2)[2]
        for kind in (comment, (vector.hash, vector.mgf_hash), (bits, vector.valid)):
            known = chosen.get((vector.task, kind))
            if known is None or bits < known.n.bit_length():
                chosen[vector.task, kind] = vector
    return {one.name: one for one in chosen.values()}.values()


@pytest.mark.vectors
@pytest.mark.parametrize(
    "bits", [pytest.param(bits, marks=pytest.mark.xdist_group(f"RSA, {bits}")) for bits in BITS]
)
def test_each_kind_on_a_device(bits):
    """`python -m bench.wycheproof` runs all, and writes the table of docs/results.md."""
    tests = [one for one in of_each_kind() if bits // 2 < max(one.n.bit_length(), 1025) <= bits]
    with open_simulation(design_for(bits)) as device:
        check(Accelerator(device), tests)
