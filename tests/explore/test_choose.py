"""Choosing under a budget, among points that were made up."""

import pytest

from coprime.explore.choose import Budget, choose
from coprime.explore.points import Point


def point(name, ms=1.0, lut=100, dsp=1, **changes):
    columns = {
        "family": name,
        "paper": "",
        "parameters": {},
        "bits": 1024,
        "operation": "RSA_PRIVATE",
        "exponents": "worst",
        "seed": 1,
        "target": "ecp5",
        "device": "LFE5U-85F-6 CABGA381",
        "part": "accelerator",
        "lut": lut,
        "ff": 50,
        "dsp": dsp,
        "bram": 1.0,
        "cycles": 1000,
        "milliseconds": ms,
        "fmax_mhz": ms and 1 / ms,
        "status": "ok",
        "tools": {},
        "command": f"coprime build {name}",
        "key": name,
    }
    return Point(**columns | changes)


POINTS = [
    point("slow", 9.0, 100, 1),
    point("fast", 1.0, 900, 20),
    point("middle", 3.0, 400, 5),
    point("beaten", 4.0, 500, 5),
    point("lean", 9.5, 400, 0),
]


PRIVATE = {"RSA_PRIVATE": 1024}


def names(points=POINTS, *, bits=1024, target="ecp5", operation="RSA_PRIVATE", **limits):
    found = choose(points, wanted={operation: bits}, target=target, budget=Budget(**limits))
    return [one.point.family for one in found]


def test_pareto_front_fastest_first():
    assert names() == ["fast", "middle", "slow", "lean"]
    assert names(POINTS[::-1]) == names()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"max_dsp": 5}, ["middle", "slow", "lean"]),
        ({"max_dsp": 0}, ["lean"]),
        ({"max_lut": 400}, ["middle", "slow", "lean"]),
        ({"max_lut": 399}, ["slow"]),
        ({"max_ms": 3.0}, ["fast", "middle"]),
        ({"max_ms": 5.0, "max_dsp": 6}, ["middle"]),
    ],
)
def test_budgets(limits, expected):
    assert names(**limits) == expected


@pytest.mark.parametrize(
    ("limits", "nearest"),
    [
        ({"max_lut": 90}, r"within 90 LUTs; the nearest is slow: 9 ms, .*; accelerator 100 LUTs"),
        ({"max_ms": 0.5}, r"within 0.5 ms; the nearest is fast"),
        ({"max_dsp": 4, "max_ms": 2.9}, r"within 4 DSP, 2.9 ms; the nearest is middle"),
    ],
)
def test_impossible_budgets_name_the_nearest(limits, nearest):
    with pytest.raises(ValueError, match=nearest) as caught:
        names(**limits)
    assert "\n" not in str(caught.value)


def test_slowest_time_of_a_design_counts():
    points = [point("a", 2.0, seed=1), point("a", 5.0, seed=2), point("b", 4.0)]
    assert names(points) == ["b"]
    with pytest.raises(ValueError, match="the nearest is b"):
        names(points, max_ms=3.0)


def test_equal_points_stay():
    assert names([point("a"), point("b")]) == ["a", "b"]


def test_failed_points_and_other_targets_do_not_count():
    points = [
        point("good"),
        point("failed", 0.1, 1, status="failed", reason="x"),
        point("other", 0.1, 1, target="xc7"),
        point("public", 0.1, 1, operation="RSA_PUBLIC"),
        point("long", 0.1, 1, bits=2048),
        point("part", 0.1, 1, part="engine"),
        point("many", 0.1, 1, part="cluster", cores=8),
    ]
    assert names(points) == ["good"]


def test_cycles_where_nothing_is_routed():
    points = [
        point("quick", None, 200, cycles=500, target="xc7"),
        point("small", None, 100, cycles=None, predicted_cycles=2000, target="xc7"),
        point("beaten", None, 200, cycles=600, target="xc7"),
    ]
    assert names(points, target="xc7") == ["quick", "small"]
    (quick, small) = choose(points, wanted=PRIVATE, target="xc7")
    assert quick.time == "quick: 500 cycles"
    assert small.time == "small: 2,000 predicted cycles"
    assert small.area == "accelerator 100 LUTs, 50 flip-flops, 1 DSP, 1 block RAM"
    with pytest.raises(ValueError, match=r"no time is known; name the clock .*: --clock MHZ"):
        names(points, target="xc7", max_ms=1.0)


def test_a_clock_that_is_assumed():
    points = [
        point("quick", None, 200, cycles=500, target="xc7"),
        point("small", None, 100, cycles=None, predicted_cycles=2000, target="xc7"),
    ]
    settings = {"wanted": PRIVATE, "target": "xc7"}
    (quick, small) = choose(points, clock=100.0, **settings)
    assert quick.time == "quick: 0.005 ms, 200,000 a second, 500 cycles at 100.0 MHz, assumed"
    assert small.point.milliseconds == 0.02
    (only,) = choose(points, clock=100.0, budget=Budget(max_ms=0.01), **settings)
    assert only.name == "quick"
    with pytest.raises(ValueError, match="the clock must be over 0 MHz, not -1"):
        choose(points, clock=-1.0, **settings)
    with pytest.raises(ValueError, match=r"ecp5 is placed and routed here, .*leave out --clock"):
        choose(POINTS, wanted=PRIVATE, target="ecp5", clock=100.0)


def test_an_operation_of_several_lengths():
    """A design must do both; the slower one does not hide behind the quicker one."""
    points = [point("both", 1.0), point("both", 5.0, bits=2048), point("one", 0.5)]
    (found,) = choose(points, wanted={"RSA_PRIVATE": [1024, 2048]}, target="ecp5")
    assert [(one.bits, one.milliseconds) for one in found.points] == [(1024, 1.0), (2048, 5.0)]
    with pytest.raises(ValueError, match="RSA_PRIVATE of 1024 bits and RSA_PRIVATE of 2048 bits"):
        choose(
            points,
            wanted={"RSA_PRIVATE": [1024, 2048]},
            target="ecp5",
            budget=Budget(max_ms=2.0),
        )


def test_the_other_part_is_shown_beside():
    points = [
        point("both", 2.0, 200),
        point("both", 1.0, 100, part="engine"),
        point("both", 1.5, 90, part="engine", parameters={"width": 9}),
        point("alone", 3.0, 150),
    ]
    both, alone = choose(points, wanted=PRIVATE, target="ecp5")
    assert both.time == "both: 2 ms, 500 a second, 1,000 cycles at 0.5 MHz"
    assert both.area == (
        "accelerator 200 LUTs, 50 flip-flops, 1 DSP, 1 block RAM;"
        " engine 100 LUTs, 50 flip-flops, 1 DSP, 1 block RAM"
    )
    assert alone.beside is None
    assert alone.area == "accelerator 150 LUTs, 50 flip-flops, 1 DSP, 1 block RAM"
    large, small = choose(points, wanted=PRIVATE, target="ecp5", part="engine")
    assert (large.point.lut, large.beside) == (100, points[0])
    assert (small.point.lut, small.beside) == (90, None)


def test_a_part_that_is_not_measured():
    points = [point("a", part="engine"), point("b", part="cluster")]
    with pytest.raises(ValueError, match="is measured; only its engine: --part engine"):
        names(points)
    with pytest.raises(ValueError, match="is measured; only its cluster: --part cluster"):
        names(points[1:])
    with pytest.raises(ValueError, match="is measured; sweep it first"):
        names([])
    with pytest.raises(
        ValueError, match="part must be accelerator, engine, cluster, not 'multiplier'"
    ):
        choose(points, wanted=PRIVATE, target="ecp5", part="multiplier")


def test_all_cores_of_a_cluster_count():
    points = [
        point("fast", 2.0, 200, part="cluster", cores=4),
        point("fast", 3.0, 900, part="cluster", cores=64),
        point("fast", 1.5, 90, part="engine"),
        point("slow", 2.0, 200, part="cluster", cores=2),
        point("fast", 1.0, 900, part="cluster", cores=64, link_registers=1, stamped=True),
    ]
    best, *_ = choose(points, wanted=PRIVATE, target="ecp5", part="cluster")
    assert best.time.startswith("64 of fast, stamped: 1 ms, 64,000 a second")
    assert best.beside == points[2]
    points.pop()
    many, few = choose(points, wanted=PRIVATE, target="ecp5", part="cluster")
    assert many.time == "64 of fast: 3 ms, 21,333 a second, 1,000 cycles at 0.3 MHz"
    assert few.time == "4 of fast: 2 ms, 2,000 a second, 1,000 cycles at 0.5 MHz"
    assert few.beside == many.beside == points[2]


def test_each_bus_of_an_accelerator_counts():
    """Both have the engine beside them; the larger one is beaten, unless it is faster."""
    points = [
        point("both", 2.0, 200),
        point("both", 2.0, 300, bus="axi4"),
        point("both", 1.5, 90, part="engine"),
    ]
    (lite,) = choose(points, wanted=PRIVATE, target="ecp5")
    assert (lite.name, lite.beside) == ("both", points[2])
    points[1] = point("both", 1.9, 300, bus="axi4")
    faster, smaller = choose(points, wanted=PRIVATE, target="ecp5")
    assert (faster.name, faster.beside) == ("both, AXI4", points[2])
    assert smaller.name == "both"


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ({"name": "compact", "parameters": {"max_bits": 512}}, "constant time, result checked"),
        (
            {"name": "compact", "parameters": {"max_bits": 512}, "operation": "MODEXP"},
            "constant time",
        ),
        (
            {
                "name": "compact",
                "parameters": {"max_bits": 512, "curves": "weierstrass"},
                "operation": "ECDSA_SIGN_WITH",
            },
            "constant time, result checked",
        ),
        ({"name": "karatsuba"}, "constant time"),
        ({"name": "fdfm"}, "not constant time"),
    ],
)
def test_what_an_attacker_may_see(design, expected):
    operation = design.get("operation", "RSA_PRIVATE")
    (chosen,) = choose([point(**design)], wanted={operation: 1024}, target="ecp5")
    assert chosen.security == expected


def test_routed_points_are_not_mixed_with_others():
    points = [point("routed", 2.0), point("mapped", None, 1, cycles=1, device="Lattice ECP5")]
    assert names(points) == ["routed"]


def test_nothing_measured():
    with pytest.raises(ValueError, match="at 4096 bits, only at 1024"):
        names(bits=4096)
    with pytest.raises(ValueError, match="no accelerator doing RSA_PRIVATE on xc7 is measured"):
        names(target="xc7")
    with pytest.raises(
        ValueError,
        match=r"target must be one of xc7, .*, not 'unit-gate'",
    ):
        names(target="unit-gate")


@pytest.mark.parametrize("limit", ["max_dsp", "max_lut", "max_ms"])
@pytest.mark.parametrize("value", [-1, float("nan")])
def test_negative_limits(limit, value):
    with pytest.raises(ValueError, match=f"{limit} must be 0 or more, not"):
        Budget(**{limit: value})


def test_points_of_another_device_do_not_count():
    small, large = "LFE5U-25F-6 CABGA381", "LFE5U-85F-6 CABGA381"
    points = [
        point("both", 2.0, fmax_mhz=100.0, device=small),
        point("both", 5.0, fmax_mhz=40.0, device=large),
        point("large only", 1.0, fmax_mhz=90.0, device=large),
    ]
    assert names(points) == ["large only"]
    (found,) = choose(points, wanted=PRIVATE, target="ecp5", device="LFE5U-25F")
    assert found.point is points[0]
    with pytest.raises(ValueError, match="no accelerator doing RSA_PRIVATE on ecp5 is measured"):
        choose(points, wanted=PRIVATE, target="ecp5", device="LFE5U-45F")
    with pytest.raises(ValueError, match=r"device must be one of LFE5U-25F, .*, not 'LFE5U-12F'"):
        choose(points, wanted=PRIVATE, target="ecp5", device="LFE5U-12F")


# --- Several operations ---------------------------------------------------------------------------

BOTH = {"RSA_PRIVATE": 1024, "ECDSA_SIGN": 256}


def does(name, private, sign, **columns):
    """A design with its times in milliseconds for both operations; None: it was not measured."""
    times = {("RSA_PRIVATE", 1024): private, ("ECDSA_SIGN", 256): sign}
    return [
        point(name, ms, operation=operation, bits=bits, **columns)
        for (operation, bits), ms in times.items()
        if ms is not None
    ]


def both(*designs, **settings):
    points = [one for design in designs for one in design]
    return choose(points, wanted=BOTH, target="ecp5", **settings)


def test_a_design_must_do_all():
    found = both(does("rsa", 1.0, None), does("curves", None, 1.0), does("both", 5.0, 3.0))
    assert [[one.milliseconds for one in each.points] for each in found] == [[5.0, 3.0]]
    assert found[0].time == (
        "both: RSA_PRIVATE 5 ms, 200 a second, 1,000 cycles at 0.2 MHz;"
        " ECDSA_SIGN 3 ms, 333 a second, 1,000 cycles at 0.3 MHz"
    )


@pytest.mark.parametrize(
    "private, sign, names",
    [
        (5.0, 4.0, ["one"]),  # slower in one of them, and faster in none
        (6.0, 3.0, ["one"]),
        (5.0, 3.0, ["one", "other"]),  # equal
        (4.9, 9.0, ["other", "one"]),  # faster in the first
        (9.0, 2.9, ["one", "other"]),  # faster in the second
    ],
)
def test_a_design_is_beaten_only_if_it_is_faster_in_none(private, sign, names):
    found = both(does("one", 5.0, 3.0), does("other", private, sign))
    assert [one.point.family for one in found] == names


def test_slower_and_smaller_stays():
    found = both(does("one", 5.0, 3.0), does("other", 6.0, 4.0, lut=99))
    assert [one.point.family for one in found] == ["one", "other"]


def test_the_slowest_of_each_operation_counts():
    found = both(does("one", 5.0, 3.0, seed=1), does("one", 4.0, 3.5, seed=2))
    assert [one.milliseconds for one in found[0].points] == [5.0, 3.5]


def test_the_limit_of_time_is_for_each():
    designs = does("one", 5.0, 3.0), does("other", 3.0, 4.5)
    assert [one.point.family for one in both(*designs, budget=Budget(max_ms=4.5))] == ["other"]
    with pytest.raises(ValueError, match=r"RSA_PRIVATE of 1024 bits and ECDSA_SIGN of 256 bits on"):
        both(*designs, budget=Budget(max_ms=4.4))


def test_designs_that_are_routed_for_all_come_first():
    mapped = does("mapped", None, None) + [
        point("mapped", None, operation=operation, bits=bits) for operation, bits in BOTH.items()
    ]
    assert [one.point.family for one in both(mapped, does("routed", 9.0, 9.0))] == ["routed"]
    assert [one.point.family for one in both(mapped)] == ["mapped"]


def test_none_does_all():
    rsa, curves = does("rsa", 1.0, None), does("curves", None, 1.0)
    with pytest.raises(
        ValueError,
        match=r"^no measured accelerator doing RSA_PRIVATE of 1024 bits and ECDSA_SIGN of 256 bits"
        r" on ecp5: RSA_PRIVATE of 1024 bits is done by 2, ECDSA_SIGN of 256 bits is done by 1,"
        r" and all by none$",
    ):
        both(rsa, does("rsa 2", 2.0, None), curves)
    with pytest.raises(ValueError, match="no accelerator doing ECDSA_SIGN on ecp5 is measured"):
        both(rsa)


def test_each_operation_has_a_line():
    settings = {"max_bits": 1024, "curves": "weierstrass", "ecdsa": "drawn"}
    (found,) = both(does("compact", 5.0, 3.0, parameters=settings))
    assert found.lines == [
        "compact max_bits=1024 curves=weierstrass ecdsa=drawn: constant time",
        "    RSA_PRIVATE, 1024 bits: 5 ms, 200 a second, 1,000 cycles at 0.2 MHz, result checked",
        "    ECDSA_SIGN, 256 bits: 3 ms, 333 a second, 1,000 cycles at 0.3 MHz, result checked",
    ]


def call_point(slices, cycles, lut, *, parameter_set="ML-KEM-768", **changes):
    """Of an engine of byte strings that is not placed."""
    columns = {
        "parameters": {"slices": slices, "sets": "all", "secrets": "readable"},
        "bits": 0,
        "operation": "ML_KEM_DECAPSULATE",
        "parameter_set": parameter_set,
        "target": "xc7",
        "device": "7 series",
        "cycles": cycles,
        "fmax_mhz": None,
    }
    return point("lattice", None, lut, **columns | changes)


CALLS = [
    call_point("4", 29_530, 2_100),
    call_point("8", 23_369, 2_400),
    call_point("16", 23_400, 3_000),
    call_point("8", 16_121, 2_400, parameter_set="ML-KEM-512"),
    call_point("8", 31_841, 2_400, parameter_set="ML-KEM-1024"),
]


def slices_of(sets, **limits):
    wanted, budget = {"ML_KEM_DECAPSULATE": sets}, Budget(**limits)
    found = choose(CALLS, wanted=wanted, target="xc7", budget=budget)
    return [one.point.parameters["slices"] for one in found]


def test_calls_are_chosen_with_their_parameter_sets():
    assert slices_of("ML-KEM-768") == ["8", "4"]
    assert slices_of(["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"]) == ["8"]
    assert slices_of("ML-KEM-768", max_lut=2_200) == ["4"]
    assert slices_of("ML-KEM-768", max_cycles=25_000) == ["8"]
    with pytest.raises(ValueError, match="ML-KEM-768 on xc7 is within 20,000 cycles; the nearest"):
        slices_of("ML-KEM-768", max_cycles=20_000)
    message = "at ML-KEM-640, only at ML-KEM-512, ML-KEM-768, ML-KEM-1024"
    with pytest.raises(ValueError, match=message):
        slices_of("ML-KEM-640")


def test_a_call_has_its_record_and_its_words():
    (best, _) = choose(CALLS, wanted={"ML_KEM_DECAPSULATE": "ML-KEM-768"}, target="xc7", clock=100)
    (line,) = best.lines
    assert "23,369 cycles at 100.0 MHz, assumed, constant time" in line
    (operation,) = best.record()["operations"]
    assert operation["parameter_set"] == "ML-KEM-768" and not operation["result_checked"]
    both = {"ML_KEM_DECAPSULATE": ["ML-KEM-512", "ML-KEM-768"]}
    (only,) = choose(CALLS, wanted=both, target="xc7")
    assert only.lines[1].strip().startswith("ML_KEM_DECAPSULATE, ML-KEM-512: 16,121 cycles")
