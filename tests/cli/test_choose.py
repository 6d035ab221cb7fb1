"""`coprime choose` for operations on curves; tests/explore has what it chooses by."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.command import run


def chosen(capsys, *words):
    status, out, err = run(capsys, "choose", "--target", "xc7", "--operation", *words)
    assert (status, err.count("\n")) == (0, 1), err
    lines = out.splitlines()
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


@pytest.mark.parametrize(
    ("operation", "bits", "setting"),
    [
        ("EC_MULTIPLY", 256, "curves=weierstrass"),
        ("EC_BASE_MULTIPLY", 384, "curves=weierstrass"),
        ("ECDSA_SIGN", 256, "nonce=random"),
        ("ECDSA_SIGN_WITH", 521, "curves=weierstrass"),
        ("ECDSA_VERIFY", 256, "curves=weierstrass"),
        ("X_MULTIPLY", 255, "curves=montgomery"),
        ("X_MULTIPLY", 448, "curves=montgomery"),
        ("ED_BASE_MULTIPLY", 255, "curves=edwards"),
        ("ED_FINISH", 255, "curves=edwards"),
        ("ED_VERIFY", 448, "curves=edwards"),
    ],
)
def test_every_operation_on_a_curve_has_designs(capsys, operation, bits, setting):
    found = chosen(capsys, operation, "--bits", bits)
    assert {what.split()[0] for what, _, _ in found} >= {"compact"}
    for what, area, command in found:
        assert " predicted cycles, constant time" in what
        assert area.strip().startswith("accelerator ")
        assert all(name in area for name in ("LUTs", "flip-flops", "DSP", "block RAM"))
        assert command.strip().startswith("coprime build ")
        assert f"-p {setting}" in command
    for what, _, _ in chosen(capsys, operation, "--bits", bits, "--max-dsp", 1):
        assert what.startswith("compact ")


@pytest.mark.parametrize(
    ("operation", "curve", "cycles"),
    [
        pytest.param("ECDSA_SIGN", "P-521", "7,887,060", marks=pytest.mark.slow),
        ("ED_VERIFY", "Ed448", "5,227,986"),
    ],
)
def test_cycles_of_the_curve(capsys, operation, curve, cycles):
    """Those that docs/curves.md has, as the accelerator counts them."""
    ((what, _, _),) = chosen(capsys, operation, "--curve", curve, "--max-dsp", 1)
    assert " max_bits=1024" in what
    assert f": {cycles} predicted cycles, constant time" in what
    assert what.endswith("result checked") is (operation == "ECDSA_SIGN")


@pytest.mark.slow
def test_a_curve_of_a_length_that_no_record_has(capsys):
    found = chosen(capsys, "ECDSA_VERIFY", "--curve", "brainpoolp320r1", "--max-dsp", 1)
    designs = {what.split(":")[0] for what, _, _ in found}
    assert designs == {"compact blinding=none curves=weierstrass max_bits=512"}


@pytest.mark.parametrize("target", ["xc7", "ecp5"])
def test_a_design_that_does_all_on_a_curve(capsys, target):
    operations = ["ECDSA_SIGN", "ECDSA_VERIFY", "EC_MULTIPLY", "EC_BASE_MULTIPLY"]
    words = ("--bits", "256", "--operation", ",".join(operations))
    status, out, err = run(capsys, "choose", "--target", target, *words)
    assert (status, err.count("\n")) == (0, 1), err
    lines = out.splitlines()
    designs = lines[:: len(operations) + 3]
    assert {design.split()[0] for design in designs} >= {"compact", "ring"}
    for start, design in enumerate(designs):
        assert design.endswith(": constant time")
        assert "nonce=random" in design
        each = lines[start * (len(operations) + 3) + 1 :][: len(operations)]
        assert [line.split(",")[0].strip() for line in each] == operations


def test_the_page_shows_what_is_printed(capsys):
    page = Path(__file__).parents[2].joinpath("docs", "ring.md").read_text("utf-8")
    ((command, printed),) = re.findall(r"^    \$ coprime (choose .*)\n((?:    .*\n)+)", page, re.M)
    status, out, _ = run(capsys, *shlex.split(command))
    assert status == 0
    assert "".join(f"    {line}\n" for line in out.splitlines()) == printed


def test_a_stamped_cluster_has_the_command_that_stamps_it(capsys):
    words = "choose --part cluster --bits 2048 --target ecp5".split()
    status, out, _ = run(capsys, *words)
    lines = out.splitlines()
    assert status == 0
    assert "stamped" in lines[0] and lines[-2].split()[:3] == ["coprime", "build", "cluster"]
    assert lines[-1].startswith("    coprime synth cluster ") and lines[-1].endswith(" --stamp")
