"""A slot whose device is a simulated suite: engines of both sorts on one bus, in many threads."""

import os

import pytest

from coprime.catalog import choose_suite
from coprime.token.build import build_device
from tests.token.cryptoki import DEVICE_ERROR

pytestmark = pytest.mark.xdist_group("token, suite")

SETTINGS = {
    "engines": "ring+lattice",
    "ring.tile": "kara95",
    "ring.max_bits": "1024",
    "ring.curves": "all",
    "lattice.schemes": "both",
}
FUNCTION_FAILED = 6
USES = int(os.environ.get("COPRIME_SUITE_USES", "200"))


@pytest.fixture(scope="module")
def library():
    return build_device(choose_suite(SETTINGS))


@pytest.mark.clients
@pytest.mark.timeout(7200 + 5 * USES)
def test_uses_of_keys_of_every_kind(check, token, library):
    """RSA, P-256, Ed25519, ML-KEM and ML-DSA by 16 threads, without software: none lost, none
    wrong, none twice."""
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{library}"}
    test = ("threads", USES, "all")
    token.run(check, token.module, *test, environment=device, timeout=7200 + 5 * USES)


@pytest.mark.clients
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("test", ["threads 16 all", "fork", "end finalize", "end logout"])
def test_check(sanitized, token, library, test):
    program, module = sanitized
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{library}"}
    token.run(program, module, *test.split(), environment=device, timeout=3600)


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["p256", "ed25519", "ml-kem", "ml-dsa"])
def test_a_suite_that_errs_gives_nothing_wrong(check, token, library, faulty, kind):
    """A right signature or secret, or CKR_DEVICE_ERROR; accesses that select a core err, too."""
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(library),
        "FAULTY_SEED": "1",
        "FAULTY_RATE": "2000",
    }
    count = 40
    said = token.run(check, token.module, "faults", count, kind, environment=engine, timeout=3600)
    right, wrong = map(int, said.split())
    assert right + wrong == count
    assert min(right, wrong) > 0


def refusal(check, token, device):
    """What the module says of a device, and which error its first use has."""
    said = token.run(
        *(check, token.module, "threads", 1, "ml-kem"),
        environment={"COPRIME_TOKEN_DEVICE": device, "COPRIME_TOKEN_DEBUG": "1"},
        check=False,
    )
    for error in (DEVICE_ERROR, FUNCTION_FAILED):
        if f"gives {error:#x}, not 0" in said:
            return error, said
    raise AssertionError(said)


def test_a_name_that_is_no_suite(check, token):
    error, said = refusal(check, token, "sim:suite,compact.curves=all")
    assert error == FUNCTION_FAILED
    assert "`compact.curves=all` is no device" in said
    error, said = refusal(check, token, "sim:suite")
    assert error == DEVICE_ERROR
    assert "no library of a simulated device: suite: cannot open" in said
    error, said = refusal(check, token, f"sim:{token.module}")
    assert error == DEVICE_ERROR
    assert f"{token.module} is no simulated device: `coprime token simulation` writes one" in said


@pytest.mark.clients
def test_a_suite_has_no_number_of_cores_in_its_name(check, token, library):
    error, said = refusal(check, token, f"sim:{library}@2")
    assert error == DEVICE_ERROR
    assert f"{library} is no cluster that has room for so many cores as follow the @" in said
