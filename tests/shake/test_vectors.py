"""NIST's vectors for byte-oriented SHA-3 and SHAKE, through the simulated accelerator.

From the `cryptography_vectors` package, which has those of the Cryptographic Algorithm Validation
Program as NIST publishes them: short and long messages, SHAKE's outputs of many lengths, and the
Monte Carlo tests (The Secure Hash Algorithm 3 Validation System, 2016, sections 6.2.3 and 6.3.3).
"""

import re
from pathlib import Path

import cryptography_vectors
import pytest

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.shake.interface import INTERFACE

FOLDER = Path(cryptography_vectors.__file__).parent / "hashes"
DIGESTS = ("SHA3_224", "SHA3_256", "SHA3_384", "SHA3_512")
SHAKES = ("SHAKE128", "SHAKE256")
each_digest = pytest.mark.parametrize("name", DIGESTS)
each_shake = pytest.mark.parametrize("name", SHAKES)


@pytest.fixture(scope="module")
def hashed():
    """What the accelerator computes, whose cycles are those of the prediction."""
    choice = choose_calls("shake", {})
    with open_simulation(choice) as device:
        driver = CallAccelerator(device, INTERFACE, predict=choice.design.predict)

        def run(name, message, length=0):
            values = {"message": message}
            if length:
                values["output_bytes"] = length.to_bytes(4, "little")
            result = driver.call(name, values)
            assert result.cycles == result.predicted_cycles
            return result.outputs["output"]

        yield run


def entries(name, kind):
    """The fields of each example of a file; those in brackets hold for all after them."""
    folder = "SHAKE" if name in SHAKES else "SHA3"
    text = (FOLDER / folder / f"{name}{kind}.rsp").read_text()
    common, found = {}, []
    for block in text.split("\n\n"):
        common |= dict(re.findall(r"^\[(.+) = (\w+)\]$", block, re.MULTILINE))
        fields = dict(re.findall(r"^(\w+) = (\w+)$", block, re.MULTILINE))
        if fields:
            found.append({**common, **fields})
    return found


def message_of(fields):
    """The message; one of no bytes is written as 00."""
    size = int(fields["Len"]) // 8 if "Len" in fields else len(fields["Msg"]) // 2
    return bytes.fromhex(fields["Msg"])[:size]


KINDS = ["ShortMsg", pytest.param("LongMsg", marks=pytest.mark.vectors)]


@pytest.mark.parametrize("kind", KINDS)
@each_digest
def test_digests(hashed, name, kind):
    examples = entries(name, kind)
    rate = 200 - int(examples[0]["L"]) // 4
    assert len(examples) == (rate + 1 if kind == "ShortMsg" else 100)
    for fields in examples:
        assert hashed(name, message_of(fields)).hex() == fields["MD"]


@pytest.mark.parametrize("kind", KINDS)
@each_shake
def test_outputs(hashed, name, kind):
    examples = entries(name, kind)
    rate = {"SHAKE128": 168, "SHAKE256": 136}[name]
    assert len(examples) == (2 * rate + 1 if kind == "ShortMsg" else 100)
    for fields in examples:
        length = int(fields["Outputlen"]) // 8
        assert hashed(name, message_of(fields), length).hex() == fields["Output"]


@pytest.mark.vectors  # a thousand outputs
@each_shake
def test_outputs_of_many_lengths(hashed, name):
    examples = entries(name, "VariableOut")
    assert len(examples) == {"SHAKE128": 1126, "SHAKE256": 1246}[name]
    for fields in examples:
        length = int(fields["Outputlen"]) // 8
        assert hashed(name, message_of(fields), length).hex() == fields["Output"]


@pytest.mark.vectors  # 100,000 digests in a row
@each_digest
def test_monte_carlo_digests(hashed, name):
    first, *examples = entries(name, "Monte")
    digest = bytes.fromhex(first["Seed"])
    assert len(examples) == 100
    for fields in examples:
        for _ in range(1000):
            digest = hashed(name, digest)
        assert digest.hex() == fields["MD"]


@pytest.mark.vectors  # 100,000 outputs in a row
@each_shake
def test_monte_carlo_outputs(hashed, name):
    first, *examples = entries(name, "Monte")
    least, most = (
        int(first[f"{which} Output Length (bits)"]) // 8 for which in ("Minimum", "Maximum")
    )
    output, length = bytes.fromhex(first["Msg"]), most
    assert len(examples) == 100
    for fields in examples:
        for _ in range(1000):
            output = hashed(name, output[:16].ljust(16, b"\0"), length)
            last = length
            length = least + int.from_bytes(output[-2:], "big") % (most - least + 1)
        assert (output.hex(), 8 * last) == (fields["Output"], int(fields["Outputlen"]))
