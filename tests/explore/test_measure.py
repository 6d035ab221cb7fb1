"""Area and clock of a design's parts, from Python and from the command line."""

import dataclasses
import json
from statistics import fmean

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.cli import main
from coprime.explore import measure, shipped
from coprime.explore.measure import measure_area
from coprime.flow import routing
from coprime.flow.mapping import map_design, mapping_tools
from coprime.flow.parts import multiplier_verilog, part_verilog
from coprime.flow.routing import route_design
from coprime.flow.tool_errors import ToolError
from coprime.flow.verilog import digest_of

SMALL = {"max_bits": "64"}


def small(family="fdfm"):
    return family_named(family).choose(SMALL)


@pytest.mark.route
@pytest.mark.parametrize("family", ["fdfm", "montgomery-1csa"])
def test_a_part_is_smaller_than_the_whole(family):
    choice = family_named(family).choose(SMALL | {"multipliers": "1"})
    areas = {
        part: measure_area(choice, Target.ECP5, part=part)
        for part in ("multiplier", "engine", "accelerator")
    }
    for part, area in areas.items():
        assert (area.part, area.family, area.fmax_mhz) == (part, family, None)
    for smaller, larger in (("multiplier", "engine"), ("engine", "accelerator")):
        assert 0 < areas[smaller].lut < areas[larger].lut
        assert 0 < areas[smaller].ff < areas[larger].ff
        assert areas[smaller].dsp == areas[larger].dsp
    assert areas["multiplier"].bram == 0 < areas["engine"].bram


def test_top_modules():
    for part, top in (
        ("engine", "coprime_fdfm_engine"),
        ("accelerator", "coprime_fdfm"),
        ("multiplier", "coprime_fdfm_multiplier"),
    ):
        verilog, name = part_verilog(small(), part)
        assert name == top
        assert f"module {top} (" in verilog
        assert "\n// coprime_fdfm: digit-serial Montgomery" in verilog.partition("module")[0]
    with pytest.raises(ValueError, match=r"part must be one of engine, acc.*, not 'memory'"):
        part_verilog(small(), "memory")
    verilog, _ = part_verilog(small(), "accelerator", bus=Bus.AXI4)
    assert "s_axi_awlen" in verilog
    with pytest.raises(ValueError, match="only the accelerator has a bus, not the engine"):
        part_verilog(small(), "engine", bus=Bus.AXI4)
    direct = family_named("direct").choose({"modulus": "kyber"})
    for part in ("reduction", "word-multiplier"):
        verilog, name = part_verilog(direct, part)
        assert name == f"{direct.module_name}_{part.replace('-', '_')}"
        assert f"module {name} (" in verilog
        with pytest.raises(ValueError, match=f"fdfm is not for one modulus: it has no part {part}"):
            part_verilog(small(), part)


@pytest.mark.route
def test_measuring_on_a_device():
    area = measure_area(small(), Target.ECP5, part="multiplier", route=True, device="LFE5U-45F")
    verilog = multiplier_verilog(small(), Target.ECP5)
    top = "coprime_fdfm_multiplier"
    assert area.device == "LFE5U-45F-6 CABGA381"
    assert area.lut == map_design(Target.ECP5, verilog, top).lut
    assert area.fmax_mhz == route_design(Target.ECP5, verilog, top, device="LFE5U-45F").fmax_mhz
    both = measure_area(small(), Target.ECP5, part="multiplier", route=True, seeds=2)
    routed = route_design(Target.ECP5, verilog, top, seeds=(1, 2))
    assert both.fmax_mhz == fmean(routed.fmax_by_seed.values())
    with pytest.raises(ValueError, match=r"device must be one of LFE5U-25F, .*, not 'LFE5U-12F'"):
        measure_area(small(), Target.ECP5, route=True, device="LFE5U-12F")


class MappedError(Exception):
    pass


@pytest.fixture
def known(monkeypatch):
    """What was measured of a multiplier, with changes; nothing else is, and nothing is mapped."""

    def set_known(**changes):
        verilog = multiplier_verilog(small(), Target.ECP5)
        point = next(
            point
            for point in shipped.measured_points()
            if point.target == "ecp5" and point.part == "multiplier" and point.lut
        )
        changes = {"verilog": digest_of(verilog), "tools": mapping_tools()} | changes
        monkeypatch.setattr(
            measure, "measured_points", lambda: [dataclasses.replace(point, **changes)]
        )

    def refuse(*words, **named):
        raise MappedError

    monkeypatch.setattr(routing, "map_cells", refuse)
    return set_known


def test_what_was_measured_is_refused_before_it_is_mapped(known):
    def route(device):
        measure_area(small(), Target.ECP5, part="multiplier", route=True, device=device)

    known(lut=24_289)
    sentence = "LFE5U-25F-6 CABGA381: it needs 24,289 LUTs, and it has 24,288; the next larger"
    with pytest.raises(ToolError, match=sentence):
        route("LFE5U-25F")
    known(bram=109.0)
    with pytest.raises(ToolError, match="it needs 109 block RAMs, and it has 108;"):
        route("LFE5U-45F")
    for fits in (
        {"lut": 24_288},
        {"lut": 99_999, "verilog": "0" * 16},
        {"lut": 99_999, "verilog": None},
        {"lut": 99_999, "target": "xc7"},
        {"lut": 99_999, "tools": {"yosys": "0.1"}},
        {"lut": None},
    ):
        known(**fits)
        with pytest.raises(MappedError):
            route("LFE5U-25F")


@pytest.mark.route
def test_synth_of_a_part(capsys):
    arguments = ["synth", "fdfm", "-p", "max_bits=64", "--target", "ecp5", "--part", "multiplier"]
    assert main([*arguments, "--json"]) == 0
    mapped = json.loads(capsys.readouterr().out)
    assert (mapped["part"], mapped["device"]) == ("multiplier", "Lattice ECP5")
    assert (mapped["dsp"], mapped["bram"], mapped["fmax_mhz"]) == (1, 0, None)
    assert main([*arguments, "--json", "--route", "--device", "LFE5U-45F"]) == 0
    routed = json.loads(capsys.readouterr().out)
    assert routed["device"] == "LFE5U-45F-6 CABGA381"
    assert routed["fmax_mhz"] > 0
    assert "late_paths" not in routed
    words = ("--json", "--route", "--device", "LFE5U-45F", "--paths", "3")
    assert main([*arguments, *words]) == 0
    paths = json.loads(capsys.readouterr().out)["late_paths"]
    assert len({one["component"] for one in paths}) == len(paths) == 3
    period = 1000 / routed["fmax_mhz"]
    assert period * 0.7 < paths[0]["ns"] <= period
    assert paths[0]["ns"] >= paths[1]["ns"] >= paths[2]["ns"] > 0
    assert routed["lut"] == mapped["lut"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--device", "LFE5U-45F"], "--device is what to place and route on: add --route"),
        (
            ["--device", "LFE5U-45F", "--board", "ulx3s", "-o", "x"],
            "the board ulx3s has its own device: leave --device out",
        ),
    ],
)
def test_device_without_a_use(capsys, arguments, sentence):
    assert main(["synth", "fdfm", "--target", "ecp5", *arguments]) == 2
    assert sentence in capsys.readouterr().err
