"""All engines of a suite, used by the real firmware on the simulated system."""

from dataclasses import replace

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import choose_suite
from coprime.flow.tool_errors import ToolError
from coprime.rsa import keys
from coprime.soc.firmware import find_toolchain
from coprime.soc.riscv import MODULE_NAME, system_verilog
from coprime.soc.suite import SuitePart, SuiteRun, check_suite, run_suite

ALL = {
    "compact.max_bits": "512",
    "compact.curves": "montgomery+weierstrass",
    "lattice.schemes": "both",
    "lattice.sets": "ml-kem-512+ml-dsa-44",
}
ENGINES = {"P-256": 0, "X25519": 0, "RSA": 0, "ML-KEM": 1, "ML-DSA": 1}
TOGETHER = "decryption and signature at the same time"


@pytest.fixture(scope="module")
def toolchain():
    try:
        find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))


@pytest.mark.clients
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("toolchain")
def test_firmware_uses_all_engines():
    done = run_suite(choose_suite(ALL), seed=3)
    assert done.right, done.transcript
    assert done.engines == ENGINES
    of = done.cycles
    for name, engine in done.expected.cycles.items():
        assert engine < of[name]
    assert max(of["decryption"], of["signature"]) < of[TOGETHER]
    assert of[TOGETHER] < of["decryption"] + of["signature"]
    assert done.record()["engines"] == ENGINES


@pytest.mark.clients
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("toolchain")
def test_engines_in_another_order_on_axi4():
    """Three cores, of which the firmware finds those that it uses; no curves, and no ML-DSA."""
    settings = {"engines": "shake+lattice+compact", "lattice.sets": "ml-kem-768"}
    done = run_suite(
        choose_suite({**settings, "compact.max_bits": "256"}),
        keys.generate(256, seed=5),
        "Hi.",
        bus=Bus.AXI4,
    )
    assert done.right, done.transcript
    assert done.engines == {"ML-KEM": 1, "RSA": 2}
    assert TOGETHER not in done.cycles


@pytest.mark.matrix
def test_verilog_is_whole():
    choice = choose_suite({"engines": "compact+shake", "compact.max_bits": "64"})
    verilog = system_verilog(choice, divisor=4)
    for module in (MODULE_NAME, choice.module_name, *choice.modules, "picorv32"):
        assert verilog.count(f"\nmodule {module}(") + verilog.count(f"\nmodule {module} ") == 1


@pytest.mark.parametrize(
    ("settings", "bits", "message"),
    [
        ({"engines": "shake+shake"}, 512, "no engine of the suite has RSA_PRIVATE, ML-KEM or"),
        (
            {"lattice.schemes": "ml-dsa", "lattice.verify_only": "1", "engines": "shake+lattice"},
            512,
            "no engine of the suite has RSA_PRIVATE",
        ),
        (
            {"engines": "compact+lattice+lattice", "lattice.secrets": "stay"},
            512,
            "leave -p lattice.secrets=stay out",
        ),
        ({"compact.max_bits": "256"}, 512, "compact with these parameters takes moduli of up to"),
    ],
)
def test_refuses(settings, bits, message):
    with pytest.raises(ValueError, match=message):
        check_suite(choose_suite(settings), keys.generate(bits, seed=1).lengths)


TRANSCRIPT = """engines: 2
P-256: 9 cycles
P-256: engine 0
known answer: P-256
ML-KEM: engine 1
ek: 01
RSA: engine 0
decryption: 8 cycles
decryption, engine: 5 cycles
message: Hi.
ML-DSA: engine 1
signature: 02
an altered signature is refused
decryption and signature at the same time: 12 cycles
signature: 02
message: Hi.
end
"""


def fabricated(transcript):
    expected = SuitePart((), {"P-256": 0}) + SuitePart(
        *((1, 2), {"RSA": 0, "ML-KEM": 1, "ML-DSA": 1}),
        {"ek": b"\1", "signature": b"\2"},
        {"decryption": 5},
    )
    assert expected.job == (1, 2)
    choice = choose_suite({})
    return SuiteRun(choice, Bus.AXI4_LITE, "gcc", 100, transcript, 1000, expected, "Hi.")


def test_the_table():
    table = fabricated(TRANSCRIPT).table()
    assert "ML-KEM    lattice" in table
    assert "decryption" + 44 * " " + "8          5" in table


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ek: 01", "ek: 02"),
        ("RSA: engine 0", "RSA: engine 1"),
        ("engine: 5", "engine: 6"),
        ("known answer: P-256\n", ""),
        ("message: Hi.\nend", "message: Ho.\nend"),
        ("signature: 02\nan", "signature: 03\nan"),
        ("signature: 02\nmessage", "signature: 03\nmessage"),
        ("signature: 02\nmessage", "message"),
        ("an altered signature is refused\n", ""),
    ],
)
def test_whatever_is_wrong_is_noticed(old, new):
    right = fabricated(TRANSCRIPT)
    assert right.right
    assert TRANSCRIPT.count(old) == 1
    assert not replace(right, transcript=TRANSCRIPT.replace(old, new)).right
