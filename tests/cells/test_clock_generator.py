import re
from fractions import Fraction

import pytest

from coprime.cells.clock_generator import ClockGenerator
from coprime.cells.clock_ranges import CLOCK_RANGES, ClockSetting
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog

OSCILLATORS = {
    Target.ECP5: (25, 48),
    Target.GOWIN: (27,),
    Target.ICE40: (12,),
    Target.GATEMATE: (10,),
    Target.XC7: (100,),
}
INPUTS = [(target, Fraction(mhz)) for target, several in OSCILLATORS.items() for mhz in several]


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("target, own", INPUTS)
def test_every_setting_is_within_the_ranges(target, own):
    """And none is left out: against all products of dividers, where these are few."""
    ranges = CLOCK_RANGES[target]
    found = set(ranges.settings(own))
    for one in found:
        assert one.input_divider in ranges.input_dividers
        assert one.output_divider in ranges.output_dividers
        feedback = Fraction(one.multiplier, ranges.feedback_factor or one.output_divider)
        assert feedback in ranges.feedback_dividers
        assert ranges.comparison[0] <= own / one.input_divider <= ranges.comparison[1]
        oscillator = own / one.input_divider * one.multiplier
        assert ranges.oscillator[0] <= oscillator <= ranges.oscillator[1]
        assert ranges.output[0] <= one.mhz == oscillator / one.output_divider <= ranges.output[1]
    fewest = [one for one in ranges.input_dividers if own / one >= ranges.comparison[0]]
    count = 0
    for divider in fewest:
        for output in ranges.output_dividers:
            unit = own / divider * (ranges.feedback_factor or output)
            low, high = (-(-ranges.oscillator[0] // unit), ranges.oscillator[1] // unit)
            for feedback in ranges.feedback_dividers:
                mhz = unit * feedback / output
                exact = not ranges.exact or (mhz * ranges.exact).denominator == 1
                within = ranges.output[0] <= mhz <= ranges.output[1]
                count += low <= feedback <= high and within and exact
    assert count == len(found)


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("target, own", INPUTS)
def test_nearest(target, own):
    """Whatever is asked for, the result is not faster, and no other one is nearer."""
    ranges = CLOCK_RANGES[target]
    made = sorted({one.mhz for one in ranges.settings(own)})
    for asked in (Fraction("33.3"), own):
        below = [mhz for mhz in made if mhz <= asked]
        above = [mhz for mhz in made if mhz >= asked]
        found = ranges.at_most(own, asked)
        assert (found and found.mhz) == (below[-1] if below else None)
        assert ranges.at_least(own, asked) == (above[0] if above else None)
    assert ranges.at_most(own, made[0] - Fraction(1, 1000)) is None
    assert ranges.at_least(own, made[-1] + 1) is None


@pytest.mark.parametrize(
    "target, own, asked, mhz",
    [
        (Target.ECP5, 25, "63.1", "62.5"),
        (Target.ECP5, 48, "90.3", "90"),
        (Target.GOWIN, 27, "46.1", "45"),
        (Target.GOWIN, 27, "98.1", "97.875"),
        (Target.ICE40, 12, "20.64", "20.625"),
        (Target.GATEMATE, 10, "26.64", "26.5"),
        (Target.XC7, 100, "50", "50"),
    ],
)
def test_known_clocks(target, own, asked, mhz):
    """At what routed designs allow."""
    found = CLOCK_RANGES[target].at_most(Fraction(own), Fraction(asked))
    assert found.mhz == Fraction(mhz)


def parameters(target, own, mhz):
    setting = CLOCK_RANGES[target].at_most(Fraction(own), Fraction(mhz))
    text = to_verilog(ClockGenerator(setting, target), "coprime_pll")
    return dict(re.findall(r"^    \.(\w+)\((.*)\),?$", text, re.MULTILINE))


def test_ecp5_is_told_its_dividers():
    """25 MHz times 4 times 5 is 500 MHz, which 8 divides."""
    found = parameters(Target.ECP5, 25, "62.5")
    assert (found["CLKI_DIV"], found["CLKFB_DIV"], found["CLKOP_DIV"]) == ("1", "5", "4")
    assert (found["CLKOS_DIV"], found["FEEDBK_PATH"]) == ("8", '"INT_OP"')
    assert found["LOCK"] == "locked"


def test_ecp5_has_its_analogue_settings():
    """As attributes, of which ecppack makes bits."""
    setting = CLOCK_RANGES[Target.ECP5].at_most(Fraction(25), Fraction("62.5"))
    text = to_verilog(ClockGenerator(setting, Target.ECP5), "coprime_pll")
    assert '(* ICP_CURRENT = "12" *)' in text and '(* LPF_RESISTOR = "8" *)' in text


def test_gowin_is_told_its_dividers():
    """27 MHz times 5 by 3 is 45 MHz, a sixteenth of 720 MHz."""
    found = parameters(Target.GOWIN, 27, "45")
    assert (found["IDIV_SEL"], found["FBDIV_SEL"], found["ODIV_SEL"]) == ("2", "4", "16")
    assert found["FCLKIN"] == '"27.0"'


def test_ice40_is_told_its_dividers():
    """As icepll has it for 12 and 20.625 MHz: DIVR 0, DIVF 54, DIVQ 5, FILTER_RANGE 1."""
    found = parameters(Target.ICE40, 12, "20.625")
    assert (found["DIVR"], found["DIVF"], found["DIVQ"]) == ("4'h0", "7'h36", "3'h5")
    assert found["FILTER_RANGE"] == "3'h1"


def test_gatemate_is_told_the_frequency():
    found = parameters(Target.GATEMATE, 10, "26.64")
    assert (found["REF_CLK"], found["OUT_CLK"]) == ('"10.0"', '"26.5"')


def test_xc7_is_told_its_dividers():
    found = parameters(Target.XC7, 100, "50")
    assert (found["DIVCLK_DIVIDE"], found["CLKFBOUT_MULT"]) == ("1", "12")
    assert (found["CLKOUT0_DIVIDE"], found["CLKIN1_PERIOD"]) == ("24", "10.0")


CELLS = {
    Target.ECP5: "EHXPLLL",
    Target.GOWIN: "rPLL",
    Target.ICE40: "SB_PLL40_PAD",
    Target.GATEMATE: "CC_PLL",
    Target.XC7: "PLLE2_BASE",
}


@pytest.mark.route(quick=1)
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(one, marks=[pytest.mark.route] * (one not in (Target.ECP5, Target.XC7)))
        for one in CELLS
    ],
)
def test_netlist_has_the_generator(target):
    """Yosys knows the cell, its ports and its parameters."""
    own = Fraction(OSCILLATORS[target][0])
    setting = CLOCK_RANGES[target].at_most(own, Fraction(50))
    mapped = map_design(target, ClockGenerator(setting, target), "coprime_pll")
    assert mapped.cells[CELLS[target]] == 1


def test_without_a_setting_it_is_a_wire():
    setting = CLOCK_RANGES[Target.ECP5].at_most(Fraction(25), Fraction(50))
    for own in (ClockGenerator(None, Target.NEXUS), ClockGenerator(setting, Target.GENERIC)):
        text = to_verilog(own, "coprime_pll")
        assert "assign clock = clk;" in text and "assign locked = 1'h1;" in text


def test_no_generator():
    setting = ClockSetting(
        input_mhz=Fraction(12), input_divider=1, multiplier=50, output_divider=10
    )
    with pytest.raises(ValueError, match="there is no clock generator for nexus"):
        ClockGenerator(setting, Target.NEXUS)
