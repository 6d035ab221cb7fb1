"""Measured designs on a curve that they were not measured with."""

from dataclasses import replace

import pytest

from coprime.ec.samples import curve_for
from coprime.engine.contract import Command
from coprime.explore.choose import choose
from coprime.explore.on_curve import on_curve
from coprime.explore.shipped import shipped_points

VERIFY = Command.ECDSA_VERIFY
COMPACT = [
    point
    for point in shipped_points()
    if (point.family, point.operation, point.target) == ("compact", "ECDSA_VERIFY", "xc7")
    and point.parameters["curves"] == "weierstrass"
    and "ecdsa" not in point.parameters  # it is the host's
]
SHORT, LONG = (
    [point for point in COMPACT if point.parameters["max_bits"] == bits] for bits in (512, 1024)
)


def cycles(points):
    (found,) = {point.predicted_cycles for point in points}
    return found


@pytest.mark.matrix
def test_the_first_curve_of_a_length_is_that_of_the_records():
    found = on_curve(SHORT, VERIFY, curve_for(VERIFY, "P-256"))
    recorded = [point for point in SHORT if point.bits == 256]
    assert cycles(found) == cycles(recorded)
    assert {(point.part, point.lut, point.bits) for point in found} == {
        (point.part, point.lut, 256) for point in recorded
    }


def test_another_curve_takes_other_cycles():
    """Numbers modulo p have one digit more than those of P-256."""
    p_256, other = (
        cycles(on_curve(SHORT, VERIFY, curve_for(VERIFY, name)))
        for name in ("P-256", "brainpoolP256r1")
    )
    assert other > p_256


def test_designs_that_are_too_short_are_left_out():
    p_521 = curve_for(VERIFY, "P-521")
    found = on_curve(COMPACT, VERIFY, p_521)
    assert {point.parameters["max_bits"] for point in found} == {1024}
    assert cycles(found) == cycles(LONG)
    with pytest.raises(ValueError, match="no measured design that does ECDSA_VERIFY holds P-521"):
        on_curve(SHORT, VERIFY, p_521)


def test_time_follows_from_the_measured_clock():
    (point, *_) = SHORT
    routed = replace(
        point, fmax_mhz=100.0, milliseconds=1.0, bits=384, part="accelerator", device=None
    )
    curve = curve_for(VERIFY, "P-256")
    (found,) = on_curve([routed], VERIFY, curve)
    assert found.milliseconds == pytest.approx(found.predicted_cycles / 100_000)
    (best,) = choose([found], wanted={"ECDSA_VERIFY": 256}, target="xc7")
    assert best.time.startswith("compact blinding=none curves=weierstrass max_bits=512: ")
    assert f"{100e6 / found.predicted_cycles:.3g} a second" in best.time
    assert best.security == "constant time"


def test_other_operations_and_failed_points_do_not_count():
    (point, *_) = SHORT
    others = [
        replace(point, operation="EC_MULTIPLY"),
        replace(point, status="failed", reason="too large"),
    ]
    assert on_curve(others, VERIFY, curve_for(VERIFY, "P-256")) == []
