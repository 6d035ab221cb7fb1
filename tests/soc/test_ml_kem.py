"""ML-KEM by the real firmware on the simulated system: keys, ciphertexts, secrets, cycles."""

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose_calls
from coprime.soc.ml_kem import check_ml_kem, run_ml_kem


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("bus", "name"), [(Bus.AXI4_LITE, "ML-KEM-512"), (Bus.AXI4, "ML-KEM-1024")]
)
def test_firmware_uses_ml_kem(bus, name):
    done = run_ml_kem(choose_calls("lattice", {}), name, bus=bus)
    assert done.right, done.transcript
    for call, engine in done.predicted.items():
        assert engine < done.cycles[call]
    assert done.record()["cycles"]["decapsulation, engine"] == done.predicted["decapsulation"]


@pytest.mark.parametrize(
    ("family", "settings", "name", "message"),
    [
        ("shake", {}, "", "shake with these parameters has no ML_KEM_KEY_PAIR: name lattice"),
        ("lattice", {"schemes": "ml-dsa"}, "ML-DSA-44", "name lattice, with schemes=ml-kem"),
        ("lattice", {"secrets": "stay"}, "ML-KEM-512", "leave -p secrets=stay out"),
        ("lattice", {"sets": "ml-kem-512"}, "ML-KEM-768", "sets ML-KEM-512, not 'ML-KEM-768'"),
    ],
)
def test_refuses(family, settings, name, message):
    with pytest.raises(ValueError, match=message):
        check_ml_kem(choose_calls(family, settings), name)
