"""What goes onto a board for a cluster: its nodes, and the ends of their chain at a serial port."""

from collections.abc import Mapping
from dataclasses import replace

from amaranth.hdl import ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from coprime.bus.axi_cluster import WiredCluster
from coprime.bus.serial.serial_cluster import SerialChainEnds
from coprime.bus.serial.uart import divisor_of
from coprime.catalog import ClusterChoice
from coprime.cells.target import Target
from coprime.cluster.chain import chain_node
from coprime.flow.board import Board
from coprime.flow.parts import FRONT_END, NODE
from coprime.flow.verilog import to_verilog
from coprime.soc.board_design import board_name, with_bench

_INPUTS, _OUTPUTS = ("clk", "button", "rx"), ("tx", "led_session", "led_clock")
PORTS = (*_INPUTS, *_OUTPUTS)
"""Of a board, those that a cluster has."""
_CHAIN = ("packet_out", "packet_in", "reset_out")
_BLINK_BITS = 24  # a period of 0.7 s at 25 MHz
_RESET_BITS = 8  # cycles after configuration in which registers and memories start, as exponent


class BoardChainEnds(wiring.Component):
    """The ends of a cluster's chain at a serial port, on a board. Clock domain `sync` is its own.

    There is no self-test. After configuration, and while the button is pressed, all is in reset.

    Parameters
    ----------
    board (Board): its `pins` are the ports, as far as they are below
    ends (SerialChainEnds): the registers, and what they are reached by

    Members
    -------
    clk (1 bit, in)
    button (1 bit, in): from any clock
    rx, tx (1 bit each, in and out): the serial wires, 1 at rest
    led_session (1 bit, out): a host has opened a session
    led_clock (1 bit, out): blinks while there is a clock
    packet_out, packet_in, reset_out : as SerialChainEnds

    Pins that are active low are inverted in here.
    """

    def __init__(self, board: Board, ends: SerialChainEnds):
        self.board, self.ends = board, ends
        chain = {name: ends.signature.members[name] for name in _CHAIN}
        super().__init__({**_board_ports(board), **chain})

    def elaborate(self, platform: object) -> Elaboratable:
        """Hold the reset for some cycles after configuration, and while the button is pressed."""
        m = Module()
        m.domains.sync = sync = ClockDomain()
        m.submodules.ends = ends = self.ends
        pressed = Signal()
        button = self.button ^ self.board.pins["button"].active_low
        m.submodules.synchronizer = FFSynchronizer(button, pressed, reset_less=True)
        configured = Signal(_RESET_BITS, reset_less=True)
        reset = Signal(init=1, reset_less=True)
        blink = Signal(_BLINK_BITS, reset_less=True)
        m.d.sync += [
            configured.eq(configured + ~configured.all()),
            reset.eq(~configured.all() | pressed),
            blink.eq(blink + 1),
        ]
        m.d.comb += [
            sync.clk.eq(self.clk),
            sync.rst.eq(reset),
            ends.rx.eq(self.rx),
            self.tx.eq(ends.tx),
            self.packet_out.eq(ends.packet_out),
            ends.packet_in.eq(self.packet_in),
            self.reset_out.eq(ends.reset_out),
        ]
        for port, lit in (("led_session", ends.session), ("led_clock", blink[-1])):
            if port in self.board.pins:
                m.d.comb += getattr(self, port).eq(lit ^ self.board.pins[port].active_low)
        return m


def _board_ports(board: Board) -> Mapping[str, wiring.Member]:
    directions = {**dict.fromkeys(_INPUTS, In), **dict.fromkeys(_OUTPUTS, Out)}
    return {port: directions[port](1) for port in board.pins if port in directions}


def board_cluster_verilog(choice: ClusterChoice, board: Board, *, baud: int) -> str:
    """Verilog of a cluster on a board; the top module is `board_name`.

    It is wires between the modules FRONT_END and NODE. ValueError for a speed out of range.
    """
    divisor = divisor_of(int(board.design_mhz(None) * 10**6), baud)
    design, cores, registers = choice.core.design, choice.cores, choice.link_registers
    ends = BoardChainEnds(
        board,
        SerialChainEnds(design.capabilities, cores, divisor, registers, target=board.target),
    )
    wires = WiredCluster(
        _board_ports(board),
        "clk",
        ends.ends.front_end.layout,
        cores,
        ends=FRONT_END,
        node=NODE,
    )
    name = board_name(choice, board)
    header = f"{name}: a cluster on {board.title}, at a serial port of {baud} baud"
    return "\n".join(
        [
            to_verilog(wires, name, header=header),
            to_verilog(ends, FRONT_END),
            to_verilog(chain_node(design.hardware(board.target), cores, registers), NODE),
        ]
    )


def board_cluster_bench(choice: ClusterChoice, board: Board, *, baud: int) -> tuple[str, str]:
    """Give a module around `board_cluster_verilog` for a simulation, by name, and the Verilog.

    Its ports are clk, rx and tx; nobody presses the button. Multipliers and memories are those of
    the target `generic`. ValueError as `board_cluster_verilog`.
    """
    name = board_name(choice, board)
    verilog = board_cluster_verilog(choice, replace(board, target=Target.GENERIC), baud=baud)
    return with_bench(verilog, name, board)
