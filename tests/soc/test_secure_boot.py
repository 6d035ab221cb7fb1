"""Secure boot on the simulated system: a signed image starts, and another one does not."""

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose_calls
from coprime.cli.arguments import soc
from coprime.flow.tool_errors import ToolError
from coprime.soc import secure_boot
from coprime.soc.firmware import find_toolchain
from coprime.soc.secure_boot import check_secure_boot, run_secure_boot

VERIFY_ONLY = {"schemes": "ml-dsa", "verify_only": "1", "sets": "ml-dsa-87"}
WRONG_SIGNATURE = "the signature is wrong"
REFUSED = {
    "image": WRONG_SIGNATURE,
    "signature": WRONG_SIGNATURE,
    "key": WRONG_SIGNATURE,
    "version": "the image is older than allowed",
}


@pytest.fixture(scope="module")
def toolchain():
    try:
        find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))


def boot(settings=VERIFY_ONLY, name="ML-DSA-87", **given):
    return run_secure_boot(choose_calls("lattice", settings), name, **given)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("settings", "name", "bus"),
    [
        (VERIFY_ONLY, "ML-DSA-87", Bus.AXI4_LITE),
        (VERIFY_ONLY, "ML-DSA-87", Bus.AXI4),
        ({"schemes": "ml-dsa", "verify_only": "1"}, "ML-DSA-44", Bus.AXI4_LITE),
    ],
)
@pytest.mark.usefixtures("toolchain")
def test_a_signed_image_starts(settings, name, bus):
    done = boot(settings, name, bus=bus, seed=3)
    assert done.right, done.transcript
    assert done.started
    assert done.refused == ""
    assert done.cycles["verification"] > done.cycles["verification, engine"] == done.predicted


@pytest.mark.matrix
@pytest.mark.parametrize("altered", REFUSED)
@pytest.mark.usefixtures("toolchain")
def test_another_image_does_not_start(altered):
    done = boot(altered=altered)
    assert done.right, done.transcript
    assert not done.started
    assert done.refused == REFUSED[altered]
    assert done.record()["predicted_engine"] is None


def test_the_command_line_alters_the_same():
    assert soc.ALTERED == secure_boot.ALTERED
    assert set(soc.ALTERED) == {"nothing", *REFUSED}


@pytest.mark.parametrize(
    ("family", "settings", "name", "message"),
    [
        ("lattice", {}, "ML-KEM-512", "lattice with these parameters has no ML_DSA_VERIFY"),
        ("shake", {}, "", "shake with these parameters has no ML_DSA_VERIFY"),
        ("lattice", VERIFY_ONLY, "ML-DSA-44", "sets ML-DSA-87, not 'ML-DSA-44'"),
    ],
)
def test_refuses(family, settings, name, message):
    with pytest.raises(ValueError, match=message):
        check_secure_boot(choose_calls(family, settings), name)
