"""What goes onto a board: an accelerator at a serial port, with a self-test, a button and LEDs."""

from dataclasses import replace
from fractions import Fraction

from amaranth.hdl import ClockDomain, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from coprime.bus.axi_accelerator import noise_ports
from coprime.bus.serial.serial_accelerator import SerialAccelerator
from coprime.bus.serial.uart import divisor_of
from coprime.catalog import CallChoice, Choice, ClusterChoice, check_one_core
from coprime.cells.clock_generator import ClockGenerator
from coprime.cells.clock_ranges import ClockSetting
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.flow.board import Board
from coprime.flow.noise_module import noise_module, with_noise
from coprime.flow.verilog import to_verilog
from coprime.random.kinds import RandomSource
from coprime.soc.call_self_test import self_testing_calls
from coprime.soc.self_test import SelfTestingEngine, known_answers, self_testing

_BLINK_BITS = 24  # a period of 0.7 s at 25 MHz
# Registers start in step only once the clock has run for a while, and block RAM of an iCE40 shows
# its contents only some microseconds after configuration: 256 cycles are 10 microseconds at 25 MHz,
# and come after the lock of a clock generator.
_RESET_BITS = 8


class BoardDesign(wiring.Component):
    """An accelerator at a serial port, on a board. Clock domain `sync` is its own, made of `clk`.

    The self-test runs when the bitstream is loaded, and again when the button is released: while it
    is pressed, everything is in reset. A host that opens a session ends the test.

    Parameters
    ----------
    board (Board): its `pins` are the ports
    divisor : clock cycles of a bit, as SerialBridge's
    setting (ClockSetting): of the clock generator; None: the clock is `clk`
    source, noise : as of SerialAccelerator

    Members
    -------
    clk (1 bit, in)
    rx, tx (1 bit each, in and out): the serial wires, 1 at rest
    button (1 bit, in): from any clock
    led_busy (1 bit, out): the engine works, for the host or for the test
    led_passed (1 bit, out): the self-test has passed, and no session has begun since
    led_failed (1 bit, out): the self-test has failed, or the last command ended with an error
    led_session (1 bit, out): a host has opened a session
    led_clock (1 bit, out): blinks while there is a clock

    noise_enable, noise_valid, noise_sample : as of SerialAccelerator

    Pins that are active low are inverted in here.
    """

    def __init__(
        self,
        board: Board,
        engine: SelfTestingEngine,
        divisor: int | Fraction,
        setting: ClockSetting | None = None,
        source: RandomSource = RandomSource.STREAM,
        noise: str | None = None,
    ):
        self.board, self.engine = board, engine
        self.accelerator = SerialAccelerator(engine, divisor, source, noise)
        outside = source is RandomSource.TRNG and noise is None
        self.noise = noise_ports() if outside else {}
        self.generator = ClockGenerator(setting, board.target)
        inputs = ("clk", "rx", "button")
        pins = {port: In(1) if port in inputs else Out(1) for port in board.pins}
        super().__init__({**pins, **self.noise})

    def elaborate(self, platform: object) -> Elaboratable:
        """Hold the reset until some cycles after the lock, and while the button is pressed."""
        m = Module()
        m.domains.sync = sync = ClockDomain()
        m.submodules.accelerator = accelerator = self.accelerator
        m.submodules.generator = generator = self.generator
        locked = Signal()
        m.submodules.lock_synchronizer = FFSynchronizer(generator.locked, locked, reset_less=True)
        engine, test = self.engine, self.engine.test
        pressed, begun, failed = Signal(), Signal(), Signal()
        button = self.button ^ self.board.pins["button"].active_low
        m.submodules.synchronizer = FFSynchronizer(button, pressed, reset_less=True)
        configured = Signal(_RESET_BITS, reset_less=True)
        reset = Signal(init=1, reset_less=True)
        blink = Signal(_BLINK_BITS, reset_less=True)
        m.d.sync += [
            configured.eq(Mux(locked, configured + ~configured.all(), 0)),
            reset.eq(~configured.all() | pressed),
            blink.eq(blink + 1),
            begun.eq(1),
        ]
        with m.If(engine.done):
            m.d.sync += failed.eq(engine.error.any())
        m.d.comb += [
            generator.clk.eq(self.clk),
            sync.clk.eq(generator.clock),
            sync.rst.eq(reset),
            test.start.eq(~begun),
            accelerator.rx.eq(self.rx),
            self.tx.eq(accelerator.tx),
        ]
        shown = {
            "led_busy": engine.busy | test.running,
            "led_passed": test.passed,
            "led_failed": test.failed | failed,
            "led_session": accelerator.session,
            "led_clock": blink[-1],
        }
        for port, pin in self.board.pins.items():
            if port in shown:
                m.d.comb += getattr(self, port).eq(shown[port] ^ pin.active_low)
        if self.noise:
            m.d.comb += [
                *same_named(self, accelerator, "noise_enable"),
                *same_named(accelerator, self, "noise_valid", "noise_sample"),
            ]
        return m


def board_name(choice: Choice | CallChoice | ClusterChoice, board: Board) -> str:
    """Name of the top module."""
    return f"{choice.module_name}_on_{board.name.replace('-', '_')}"


def board_verilog(
    choice: Choice | CallChoice,
    board: Board,
    *,
    baud: int,
    bits: int | None = None,
    setting: ClockSetting | None = None,
) -> str:
    """Verilog of a design on a board; the top module is `board_name`.

    `baud` is the speed of the serial port; `bits` the length of the self-test's modulus, as
    `known_answers` takes it; `setting` that of the clock generator, None for the oscillator's
    clock.

    Raises ValueError for a length or a speed out of range, an engine of numbers that takes random
    bytes, which the self-test cannot give it, several cores, or a noise source that the board's
    target has not.
    """
    check_one_core(choice, "a board")
    name = board_name(choice, board)
    noise = noise_module(choice.source, board.target, name)
    mhz = board.design_mhz(setting)
    divisor = divisor_of(int(mhz * 10**6), baud)
    if isinstance(choice, CallChoice):
        engine = self_testing_calls(choice.design, board.target, choice.source)
    else:
        answers = known_answers(choice.design, bits)
        engine = self_testing(choice.design, *answers, target=board.target)
    header = (
        f"{name}: {choice.family.name} on {board.title}, clock {float(mhz):.12g} MHz,"
        f" at a serial port of {baud} baud\n" + _of_self_test(choice)
    )
    design = BoardDesign(board, engine, divisor, setting, choice.source, noise)
    return with_noise(to_verilog(design, name, header=header), noise, board.target)


def _of_self_test(choice: Choice | CallChoice) -> str:
    """Whose numbers the self-test has."""
    if isinstance(choice, CallChoice):
        return "Seeds and keys of the self-test in here are TEST KEYS, made from a public seed."
    if choice.design.capabilities.fixed_modulus is not None:
        return "The exponent of the self-test in here is a third of the modulus, and no secret."
    return "The key of the self-test in here is a TEST KEY, made from a seed that is public."


def board_bench(
    choice: Choice | CallChoice, board: Board, *, baud: int, setting: ClockSetting | None = None
) -> tuple[str, str]:
    """Give a module around `board_verilog` for a simulation, by name, and the whole Verilog.

    Its ports are clk, rx and tx; nobody presses the button. Multipliers and memories are those
    of the target `generic`, which simulate faster than models of a vendor's cells. There is no
    clock generator: the clock of `setting` is at clk.

    Raises ValueError as `board_verilog`.
    """
    name = board_name(choice, board)
    generic = replace(board, target=Target.GENERIC)
    verilog = board_verilog(choice, generic, baud=baud, setting=setting)
    return with_bench(verilog, name, board, noisy=choice.source is RandomSource.TRNG)


def with_bench(verilog: str, name: str, board: Board, *, noisy: bool = False) -> tuple[str, str]:
    """Give a module around module `name` of a board's design, by name, and the Verilog of both.

    Its ports are clk, rx and tx, and if the design is `noisy` those of a noise source; the button
    is released.
    """
    released = int(board.pins["button"].active_low)
    ports = {port: member.flow for port, member in noise_ports().items()} if noisy else {}
    more = "".join(
        f", {'input' if flow is In else 'output'} {port}" for port, flow in ports.items()
    )
    wires = "".join(f", .{port}({port})" for port in ports)
    text = f"""
module {name}_bench (input clk, input rx, output tx{more});
  {name} board (.clk(clk), .rx(rx), .tx(tx), .button(1'b{released}){wires});
endmodule
"""
    return f"{name}_bench", verilog + text
