"""`coprime choose` for operations on curves; tests/explore has what it chooses by."""

import re
import shlex
from pathlib import Path

import pytest

from coprime.ec.samples import curve_for, curves_of
from coprime.engine.contract import Command
from coprime.explore import curve_prediction, on_curve
from coprime.explore.shipped import shipped_points
from tests.cli.command import run, run_json


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
        ("ECDSA_SIGN", 256, "ecdsa=drawn"),
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
        name, value = setting.split("=")
        (built,) = re.findall(rf"-p {name}=(\S+)", command)
        assert value in built.split("+")
    for what, _, _ in chosen(capsys, operation, "--bits", bits, "--max-dsp", 1):
        assert what.startswith("compact ")


@pytest.mark.parametrize(
    ("operation", "curve", "cycles"),
    [
        pytest.param("ECDSA_SIGN", "P-521", "7,895,260", marks=pytest.mark.matrix),
        ("ED_VERIFY", "Ed448", "5,231,430"),
    ],
)
def test_cycles_of_the_curve(capsys, operation, curve, cycles):
    """Those that docs/curves.md has, as the accelerator counts them; of the smallest design."""
    *_, (what, _, _) = chosen(capsys, operation, "--curve", curve, "--max-dsp", 1)
    assert f": {cycles} predicted cycles, constant time" in what
    assert what.endswith("result checked") is (operation == "ECDSA_SIGN")


@pytest.mark.matrix
def test_a_curve_of_a_length_that_no_record_has(capsys):
    found = chosen(capsys, "ECDSA_VERIFY", "--curve", "brainpoolp320r1", "--max-dsp", 1)
    designs = {what.split(":")[0] for what, _, _ in found}
    lengths = (512, 1024)
    assert designs == {f"compact blinding=none curves=weierstrass max_bits={n}" for n in lengths}


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
        assert "ecdsa=drawn" in design
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


WANTED = ("RSA_PRIVATE,ECDSA_SIGN,ED_BASE_MULTIPLY,X_MULTIPLY", "--bits", "2048")
CURVES = "P-256,P-384,Ed25519,X25519"


def test_rsa_with_all_curves_that_people_ask_for(capsys):
    """An operation for each curve, of which one may have two."""
    words = ("--target", "xc7", "--operation", *WANTED, "--curve", CURVES, "--clock", "150")
    found = run_json(capsys, "choose", *words)
    assert {one["family"] for one in found["designs"]} == {"compact", "ring"}
    assert "measurements that come with Coprime" in found["source"]
    for design in found["designs"]:
        each = [(one["operation"], one["bits"]) for one in design["operations"]]
        assert each == [
            ("RSA_PRIVATE", 2048),
            ("ECDSA_SIGN", 256),
            ("ECDSA_SIGN", 384),
            ("ED_BASE_MULTIPLY", 255),
            ("X_MULTIPLY", 255),
        ]
        for one in design["operations"]:
            assert (one["clock_mhz"], one["clock_assumed"]) == (150.0, True)
            assert one["milliseconds"] == pytest.approx(one["cycles"] / 150_000)
        assert set(design["area"]) == {"part", "lut", "ff", "dsp", "bram"}
        assert design["command"].startswith(f"coprime build {design['family']} ")


def test_calls_on_byte_strings_have_parameter_sets(capsys):
    words = ("ML_KEM_KEY_PAIR,ML_KEM_DECAPSULATE", "--set", "ML-KEM-768,ML-KEM-1024")
    found = run_json(capsys, "choose", "--target", "xc7", "--operation", *words)["designs"]
    assert {design["family"] for design in found} == {"lattice"}
    for design in found:
        each = design["operations"]
        assert [(one["operation"], one["parameter_set"]) for one in each] == [
            (name, parameter_set)
            for name in ("ML_KEM_KEY_PAIR", "ML_KEM_DECAPSULATE")
            for parameter_set in ("ML-KEM-768", "ML-KEM-1024")
        ]
        assert design["constant_time"] and design["other_area"]["part"] == "engine"
    fastest = [design["operations"][0]["cycles"] for design in found]
    assert fastest == sorted(fastest)


def test_a_limit_of_cycles_and_area_selects_slices(capsys):
    """Of Keccak's state in a cycle: more of them take more LUTs and fewer cycles."""
    words = ("choose", "--target", "xc7", "--operation", "SHAKE256", "--bits", "8192")
    found = run_json(capsys, *words)["designs"]
    assert [design["parameters"]["slices"] for design in found] == ["64", "8", "4"]
    found = run_json(capsys, *words, "--max-cycles", 3000, "--max-lut", 2000)["designs"]
    assert [design["parameters"]["slices"] for design in found] == ["8"]
    status, out, err = run(capsys, *words, "--max-cycles", 100, "--clock", "150")
    assert (status, out) == (2, "")
    assert "SHAKE256 of 8192 bits on xc7 is within 100 cycles; the nearest is shake" in err


def test_no_design_does_numbers_and_byte_strings(capsys):
    words = ("--operation", "RSA_PRIVATE,ML_KEM_KEY_PAIR", "--bits", 2048, "--set", "ML-KEM-768")
    status, out, err = run(capsys, "choose", "--target", "xc7", *words)
    assert (status, out) == (2, "")
    assert "ML_KEM_KEY_PAIR with ML-KEM-768 is done by" in err and "all by none" in err


def test_the_clock_decides_what_is_in_time(capsys):
    words = ("choose", "--target", "xc7", "--bits", "2048", "--max-ms", "80")
    status, out, _ = run(capsys, *words, "--clock", "150", "--max-dsp", "1")
    assert status == 0 and " MHz, assumed, constant time" in out
    status, out, err = run(capsys, *words, "--clock", "100", "--max-dsp", "1")
    assert status == 2 and not out and "within 1 DSP, 80 ms; the nearest is" in err


def test_nothing_is_predicted_that_was_measured(capsys, monkeypatch):
    """Neither on the curve of the measurement, nor of designs that lack one of the operations."""
    monkeypatch.setattr(curve_prediction, "predict_operation", None)
    words = ("choose", "--target", "xc7", "--operation", *WANTED, "--curve", CURVES)
    status, out, _ = run(capsys, *words)
    assert status == 0 and "compact " in out and "ring " in out


def test_cycles_on_other_curves_come_with_coprime(capsys, monkeypatch):
    monkeypatch.setattr(curve_prediction, "predict_operation", None)
    for target in ("xc7", "ecp5"):
        words = ("--target", target, "--operation", "EC_MULTIPLY", "--curve", "secp256k1")
        status, out, _ = run(capsys, "choose", *words)
        assert status == 0 and "compact " in out and "ring " in out


def test_every_shipped_design_has_its_cycles_on_every_curve():
    missing = [
        (point.family, point.parameters, point.operation, curve.name)
        for point in shipped_points()
        if point.status == "ok" and point.operation in Command.__members__
        for curve in curves_of(Command[point.operation])
        if Command[point.operation].operation.on_curve
        and (on_curve.design_of(point), point.operation, curve.name) not in KNOWN
    ]
    assert not missing


KNOWN = {
    (on_curve.design_of(point), point.operation, curve.name)
    for point in shipped_points()
    if point.operation in Command.__members__ and Command[point.operation].operation.on_curve
    for curve in curves_of(Command[point.operation])
    if on_curve.measured_with(point, curve)
} | {
    (design, operation, curve)
    for (design, operation), cycles in on_curve.shipped_cycles().items()
    for curve in cycles
}


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("operation", "curve"), [("ECDSA_VERIFY", "secp256k1"), ("EC_CHECK", "brainpoolP512r1")]
)
def test_shipped_cycles_are_those_that_are_predicted(operation, curve):
    """Of one design; -m slow compares all."""
    compare(
        (design, name)
        for design, name in on_curve.shipped_cycles()
        if name == operation and design == COMPACT
    )
    assert (COMPACT, operation, curve) in KNOWN


COMPACT = ("compact", (("blinding", "none"), ("curves", "weierstrass"), ("max_bits", 512)))


@pytest.mark.matrix
def test_all_shipped_cycles_are_those_that_are_predicted():
    compare(on_curve.shipped_cycles())


def compare(rows):
    rows = list(rows)
    assert rows
    for design, name in rows:
        command = Command[name]
        for curve, cycles in on_curve.shipped_cycles()[design, name].items():
            assert (
                curve_prediction.predicted_cycles(design, command, curve_for(command, curve))
                == cycles
            )


def test_a_prediction_is_kept(capsys, monkeypatch, tmp_path):
    """Of designs of other people's sweeps."""
    monkeypatch.setenv("COPRIME_CACHE", str(tmp_path))
    monkeypatch.setattr(on_curve, "shipped_cycles", dict)
    points = [
        point
        for point in shipped_points()
        if (on_curve.design_of(point), point.operation) == (COMPACT, "EC_CHECK")
    ]
    curve = curve_for(Command.EC_CHECK, "brainpoolP256r1")
    first = on_curve.on_curve(points, Command.EC_CHECK, curve)
    monkeypatch.setattr(curve_prediction, "predict_operation", None)
    assert on_curve.on_curve(points, Command.EC_CHECK, curve) == first
    assert first[0].predicted_cycles > 0
