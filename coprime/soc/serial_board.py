"""The least board for an accelerator: a clock and a serial wire, no buttons and no LEDs."""

from fractions import Fraction

from amaranth.hdl import ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi_accelerator import noise_ports
from coprime.bus.serial.serial_accelerator import SerialAccelerator
from coprime.catalog import CallChoice, Choice, check_one_core
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.flow.verilog import to_verilog
from coprime.random.kinds import RandomSource

MODULE_NAME = "coprime_serial_board"


class SerialBoard(wiring.Component):
    """An accelerator with its bridge, in reset for the first cycles after configuration.

    Members
    -------
    clk (1 bit, in)
    rx, tx (1 bit each, in and out): the wires, 1 at rest
    noise_enable, noise_valid, noise_sample : as of SerialAccelerator
    """

    def __init__(self, accelerator: SerialAccelerator):
        self.accelerator = accelerator
        self.noise = noise_ports() if accelerator.source is RandomSource.TRNG else {}
        super().__init__({"clk": In(1), "rx": In(1), "tx": Out(1, init=1), **self.noise})

    def elaborate(self, platform: object) -> Elaboratable:
        """Make the clock domain, with its reset."""
        m = Module()
        m.domains.sync = sync = ClockDomain()
        m.submodules.accelerator = accelerator = self.accelerator
        configured = Signal(4, reset_less=True)
        m.d.sync += configured.eq(configured + ~configured.all())
        m.d.comb += [
            sync.clk.eq(self.clk),
            sync.rst.eq(~configured.all()),
            accelerator.rx.eq(self.rx),
            self.tx.eq(accelerator.tx),
        ]
        if self.noise:
            m.d.comb += [
                *same_named(self, accelerator, "noise_enable"),
                *same_named(accelerator, self, "noise_valid", "noise_sample"),
            ]
        return m


def serial_board_verilog(choice: Choice | CallChoice, divisor: int | Fraction) -> str:
    """Verilog of the board with a design's accelerator; the top module is MODULE_NAME.

    Raises ValueError for a design that takes random bytes from outside or has several cores,
    TypeError or ValueError for a divisor that SerialBridge refuses.
    """
    check_one_core(choice, "a board")
    hardware = choice.design.hardware(Target.GENERIC)
    accelerator = SerialAccelerator(hardware, divisor, choice.source)
    header = f"{MODULE_NAME}: {choice.family.name} behind a serial wire, {divisor} cycles a bit"
    return to_verilog(SerialBoard(accelerator), MODULE_NAME, header=header)
