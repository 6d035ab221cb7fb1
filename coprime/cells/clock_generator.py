"""A clock of another frequency than the board's: the family's PLL."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from amaranth.hdl import Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .clock_ranges import CLOCK_RANGES, ClockSetting
from .target import Target


class ClockGenerator(wiring.Component):
    """Make a clock from a board's.

    On `generic`, which is for simulation, and without a setting, the output is the input.

    Parameters
    ----------
    setting (ClockSetting): of CLOCK_RANGES of the target; None is for the board's clock itself

    Members
    -------
    clk (1 bit, in): from a pin
    clock (1 bit, out): of the frequency `setting.mhz`, once it is locked
    locked (1 bit, out): not in step with `clock`; once 1 it stays so while `clk` runs

    Raises ValueError for a setting on a target without a generator.
    """

    def __init__(self, setting: ClockSetting | None, target: Target):
        self.setting, self.target = setting, Target(target)
        if setting is not None and self.target not in (Target.GENERIC, *CLOCK_RANGES):
            raise ValueError(f"there is no clock generator for {self.target.value}")
        super().__init__({"clk": In(1), "clock": Out(1), "locked": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Instantiate the PLL."""
        m = Module()
        if self.setting is None or self.target is Target.GENERIC:
            m.d.comb += [self.clock.eq(self.clk), self.locked.eq(1)]
        else:
            make = _PLLS[self.target]
            make(m, self.setting, self.clk, self.clock, self.locked)
        return m


def _ecp5(m: Module, setting: ClockSetting, clk: Signal, clock: Signal, locked: Signal) -> None:
    """EHXPLLL: CLKOP inside as feedback, CLKOS out. The analogue settings are those of ecppll."""
    factor = CLOCK_RANGES[Target.ECP5].feedback_factor
    feedback = Signal()
    m.submodules.pll = Instance(
        "EHXPLLL",
        *(("a", name, value) for name, value in _ECP5_LOOP.items()),
        p_CLKI_DIV=setting.input_divider,
        p_CLKFB_DIV=setting.multiplier // factor,
        p_FEEDBK_PATH="INT_OP",
        p_CLKOP_ENABLE="ENABLED",
        p_CLKOP_DIV=factor,
        p_CLKOP_CPHASE=factor - 1,
        p_CLKOS_ENABLE="ENABLED",
        p_CLKOS_DIV=setting.output_divider,
        p_CLKOS_CPHASE=setting.output_divider - 1,
        i_CLKI=clk,
        i_CLKFB=feedback,
        o_CLKINTFB=feedback,
        o_CLKOS=clock,
        o_LOCK=locked,
        **{f"i_{name}": Const(0, 1) for name in _ECP5_ZEROS},
        **{f"i_{name}": Const(1, 1) for name in _ECP5_ONES},
    )


_ECP5_LOOP = {
    "ICP_CURRENT": "12",
    "LPF_RESISTOR": "8",
    "MFG_ENABLE_FILTEROPAMP": "1",
    "MFG_GMCREF_SEL": "2",
}
_ECP5_ZEROS = ("RST", "STDBY", "PHASESEL0", "PHASESEL1", "PLLWAKESYNC", "ENCLKOP", "ENCLKOS")
_ECP5_ONES = ("PHASEDIR", "PHASESTEP", "PHASELOADREG")


def _gowin(m: Module, setting: ClockSetting, clk: Signal, clock: Signal, locked: Signal) -> None:
    """rPLL, whose output is fed back inside."""
    m.submodules.pll = Instance(
        "rPLL",
        p_FCLKIN=_decimal(setting.input_mhz),
        p_IDIV_SEL=setting.input_divider - 1,
        p_FBDIV_SEL=setting.multiplier // setting.output_divider - 1,
        p_ODIV_SEL=setting.output_divider,
        p_CLKFB_SEL="internal",
        i_CLKIN=clk,
        o_CLKOUT=clock,
        o_LOCK=locked,
        **{f"i_{name}": Const(0, width) for name, width in _GOWIN_ZEROS.items()},
    )


_GOWIN_ZEROS = {
    "RESET": 1,
    "RESET_P": 1,
    "CLKFB": 1,
    "IDSEL": 6,
    "FBDSEL": 6,
    "ODSEL": 6,
    "PSDA": 4,
    "DUTYDA": 4,
    "FDLY": 4,
}


def _ice40(m: Module, setting: ClockSetting, clk: Signal, clock: Signal, locked: Signal) -> None:
    """SB_PLL40_PAD: the pin must be the PLL's own, as iCEBreaker's is."""
    bounds = (17, 26, 44, 66, 101)  # MHz of the comparison, from which on the filter is the next
    m.submodules.pll = Instance(
        "SB_PLL40_PAD",
        p_FEEDBACK_PATH="SIMPLE",
        p_DIVR=Const(setting.input_divider - 1, 4),
        p_DIVF=Const(setting.multiplier - 1, 7),
        p_DIVQ=Const(setting.output_divider.bit_length() - 1, 3),
        p_FILTER_RANGE=Const(1 + sum(setting.comparison_mhz >= bound for bound in bounds), 3),
        i_PACKAGEPIN=clk,
        i_RESETB=Const(1, 1),
        i_BYPASS=Const(0, 1),
        o_PLLOUTGLOBAL=clock,
        o_LOCK=locked,
    )


def _gatemate(m: Module, setting: ClockSetting, clk: Signal, clock: Signal, locked: Signal) -> None:
    """CC_PLL: nextpnr chooses the dividers."""
    m.submodules.pll = Instance(
        "CC_PLL",
        p_REF_CLK=_decimal(setting.input_mhz),
        p_OUT_CLK=_decimal(setting.mhz),
        p_PERF_MD="ECONOMY",
        p_LOW_JITTER=1,
        p_CI_FILTER_CONST=2,
        p_CP_FILTER_CONST=4,
        p_LOCK_REQ=1,
        i_CLK_REF=clk,
        i_USR_CLK_REF=Const(0, 1),
        i_CLK_FEEDBACK=Const(0, 1),
        i_USR_LOCKED_STDY_RST=Const(0, 1),
        o_CLK0=clock,
        o_USR_PLL_LOCKED=locked,
    )


def _xc7(m: Module, setting: ClockSetting, clk: Signal, clock: Signal, locked: Signal) -> None:
    """PLLE2_BASE and a global buffer."""
    feedback, generated = Signal(), Signal()
    m.submodules.pll = Instance(
        "PLLE2_BASE",
        p_CLKIN1_PERIOD=float(1000 / setting.input_mhz),
        p_DIVCLK_DIVIDE=setting.input_divider,
        p_CLKFBOUT_MULT=setting.multiplier,
        p_CLKOUT0_DIVIDE=setting.output_divider,
        i_CLKIN1=clk,
        i_CLKFBIN=feedback,
        i_RST=Const(0, 1),
        i_PWRDWN=Const(0, 1),
        o_CLKFBOUT=feedback,
        o_CLKOUT0=generated,
        o_LOCKED=locked,
    )
    m.submodules.buffer = Instance("BUFG", i_I=generated, o_O=clock)


def _decimal(mhz: Fraction) -> str:
    """As the vendors' parameters are written: with a point."""
    return str(float(mhz))


_PLLS: Mapping[Target, Callable[[Module, ClockSetting, Signal, Signal, Signal], None]] = (
    MappingProxyType(
        {
            Target.ECP5: _ecp5,
            Target.GOWIN: _gowin,
            Target.ICE40: _ice40,
            Target.GATEMATE: _gatemate,
            Target.XC7: _xc7,
        }
    )
)
