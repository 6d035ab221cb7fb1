"""Several kinds of curves in one engine: every operation in hardware, beside RSA; settings."""

import pytest

from coprime.catalog import choose, settings_for
from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Command, Error
from coprime.engine.curve_settings import ALL_CURVES, CURVES, KINDS, CurveSettings
from coprime.model.curve_points import is_signature
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers
from tests.benches import open_bench, run_in_both_orders

TOGETHER = [one for one in CURVES if "+" in one]
EVERY = TOGETHER[-1]
DESIGNS = [
    *[(name, EVERY) for name in ("compact", "ring")],
    *[("compact", one) for one in TOGETHER if one != EVERY],
]


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "curves"), DESIGNS)
def test_every_operation(name, curves):
    bench = open_bench(name, max_bits="256", curves=curves)
    commands = [one for one in Command if one in bench.design.capabilities.required]
    kinds = {one.operation.setting[1] for one in commands if one.operation.encoding.form}
    assert kinds == set(curves.split("+"))
    run_in_both_orders(bench, commands)
    bench.device.close()


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_drawn_nonces(family):
    command = Command.ECDSA_SIGN
    bench = open_bench(family, max_bits=256, curves=EVERY, ecdsa="drawn")
    numbers = random_numbers(command, 64, seed=7)
    driver = Accelerator(bench.device)  # the bench's own compares results with the prediction
    found = driver.operate(command, numbers)
    assert is_signature((found.outputs["r"], found.outputs["s"]), **numbers)
    assert found.cycles == predict_operation(bench.design, command, numbers).cycles
    bench.device.close()


@pytest.mark.parametrize(
    ("family", "most"), [("compact", 0), pytest.param("ring", 0.05, marks=pytest.mark.matrix)]
)
def test_none_takes_longer_beside_the_others(family, most):
    """But for the cycle of a jump or two, since commands branch where their programs differ; and
    numbers of the Montgomery curves have two bits more, and may have a digit more.

    On `ring` what a sum waits for depends on which numbers share a place.
    """
    together = choose(family, {"max_bits": "1056", "curves": EVERY}).core.design
    for kind in KINDS:
        alone = choose(family, {"max_bits": "1056", "curves": kind}).core.design
        own = [each.capabilities for each in (alone, together)]
        bits = next(n for n in range(64, 0, -1) if own[0].digits(n) == own[1].digits(n))
        for command in own[0].required:
            if command.operation.encoding.form:
                numbers = random_numbers(command, bits, seed=7)
                predicted = [predict_operation(one, command, numbers) for one in (alone, together)]
                cycles = [one.cycles for one in predicted]
                assert abs(cycles[1] - cycles[0]) <= max(2, most * cycles[0])
                assert predicted[0].error is predicted[1].error is Error.NONE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none", "none"),
        ("edwards", "edwards"),
        (ALL_CURVES, "montgomery+weierstrass+edwards"),
        ("edwards+weierstrass", "weierstrass+edwards"),
        ("edwards,montgomery", "montgomery+edwards"),
        ("weierstrass+weierstrass", "weierstrass"),
    ],
)
def test_kinds_in_any_order(text, value):
    assert choose("compact", {"curves": text}).core.design.capabilities == (
        choose("compact", {"curves": value}).core.design.capabilities
    )
    assert choose("compact", {"curves": text}).values.get("curves", "none") == value


@pytest.mark.parametrize("text", ["", "+", "none+edwards", "edward", "weierstrass+", "all+none"])
def test_what_is_no_kind(text):
    with pytest.raises(ValueError, match=r"curves must be none, all, or some of .*joined by \+"):
        choose("compact", {"curves": text})


@pytest.mark.parametrize("profile", ["drawn", "hardened"])
def test_a_profile_is_of_the_kind_that_has_signatures_with_a_nonce(profile):
    assert CurveSettings("montgomery+weierstrass", profile).draws
    for curves in ("none", "montgomery", "edwards", "montgomery+edwards"):
        with pytest.raises(ValueError, match=f"ecdsa={profile} is for curves=weierstrass, alone"):
            CurveSettings(curves, profile)


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        (Command.ECDSA_VERIFY, {"curves": "montgomery"}, "needs curves=weierstrass, and curves is"),
        (Command.ECDSA_SIGN, {"ecdsa": "host"}, "ECDSA_SIGN needs ecdsa=drawn, and ecdsa is host"),
    ],
)
def test_settings_without_an_operation(command, settings, message):
    with pytest.raises(ValueError, match=message):
        settings_for("compact", settings, command)


def test_settings_with_an_operation():
    found = settings_for("compact", {"curves": "all"}, Command.ECDSA_SIGN)
    assert found == {"curves": "all", "ecdsa": "drawn"}
    hardened = {"curves": "all", "ecdsa": "hardened"}
    assert settings_for("compact", hardened, Command.ECDSA_SIGN) == hardened
