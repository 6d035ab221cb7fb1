"""A slot whose device is one simulated cluster of eight engines, which all threads share."""

import pytest

from coprime.catalog import choose
from coprime.token.build import build_device

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.clients]

CORES = 8
SETTINGS = {"engine": "ring", "tile": "kara95", "max_bits": "1024", "cores": str(CORES)}


def build_library(**settings):
    return build_device(choose("cluster", {**SETTINGS, **settings}))


@pytest.fixture(scope="module")
def library():
    return build_library()


@pytest.mark.parametrize(
    "test",
    ["fork", "threads 32", "end finalize", "end logout", "end close", "generation 64 1024 60"],
)
def test_check(sanitized, token, library, test):
    program, module = sanitized
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{library}@{CORES}"}
    token.run(program, module, *test.split(), environment=device)


@pytest.mark.xdist_group("token, cluster: thousands of uses")
def test_two_thousand_mixed_signatures(check, token):
    """By 16 threads with RSA, P-256 and Ed25519, on a cluster with curves: none lost, none wrong,
    none twice. docs/token.md has ten thousand."""
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{build_library(curves='all')}@{CORES}"}
    test = ("threads", 2_000, "mixed")
    token.run(check, token.module, *test, environment=device, timeout=7200)


def test_signatures_while_keys_are_generated(check, token, library):
    """None lost, none wrong, none twice, and nobody waits for the end of a generation."""
    device = {
        "COPRIME_TOKEN_DEVICE": f"sim:{library}@{CORES}",
        "COPRIME_TOKEN_KEYGEN": "device",
    }
    test = ("generation", 1_000, 1024, 60)
    print(token.run(check, token.module, *test, environment=device, timeout=3600))


def test_a_core_that_fails_is_not_asked_again(check, token, library, faulty):
    device = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}@{CORES}",
        "FAULTY_ENGINE": str(library),
        "FAULTY_CORE": "0",
    }
    assert token.run(check, token.module, "faults", 20, environment=device).split() == ["19", "1"]


def test_a_key_is_generated_on_a_core(token, library):
    device = {
        "COPRIME_TOKEN_DEVICE": f"sim:{library}@{CORES}",
        "COPRIME_TOKEN_KEYGEN": "device",
    }
    make = ("--login", "--pin", "123456", "--keypairgen", "--id", "01", "--key-type", "rsa:1024")
    assert "RSA 1024 bits" in token.tool(*make, environment=device)


def test_a_cluster_without_the_number_of_its_cores(check, token, library):
    device = {"COPRIME_TOKEN_DEVICE": f"sim:{library}", "COPRIME_TOKEN_DEBUG": "1"}
    said = token.run(check, token.module, "faults", 1, environment=device)
    assert f"{library} is a cluster: write @ and the number of its cores after it" in said
    assert said.startswith("0 1\n")
