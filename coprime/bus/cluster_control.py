"""The state machine of a cluster's front end."""

from amaranth.hdl import Array, Elaboratable, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.command_control import COMMON_PORTS
from coprime.bus.operand_registers import OperandState
from coprime.bus.port import WORD_BITS
from coprime.bus.shared_registers import engine_command, engine_operand
from coprime.cluster.node_settings import WIPE
from coprime.cluster.packet import SETTINGS, PacketKind, PacketLayout
from coprime.engine.contract import Capabilities, Error, Operand


class ClusterControl(wiring.Component):
    """Loads operands into cores, and starts and cancels their commands, with packets.

    | states | action | cycles |
    |---|---|---|
    | CLEAR | after reset, the records of the cores are cleared; accesses wait | clear_cycles |
    | IDLE | accesses take place, digits are sent | |
    | SELECT | the core's records are looked up | 1 |
    | LOOK_UP_OPERAND, CHOOSE | the chosen operand: its length, its refusal or its start | 2 |
    | LOOK_UP_COMMAND, CHECK | a command: its lengths and operands | 2 |
    | REPORT | a refused command ends like any other, with a completion | 1 |
    | SET, START | a packet for each setting, and one that starts the command | 9 |
    | CANCEL | a packet that ends the core's command | 1 |
    | WIPE | a packet for each word of the memory; only of bare engines | words |

    REPORT waits for a notice from the chain to pass; SET, START and CANCEL wait for the collector.

    Parameters
    ----------
    capabilities (Capabilities): of the engines
    cores (int): 1 to 1023
    clear_cycles (int): cycles until all packets on the chain at the start of a reset have returned,
        at least cores + 8

    Members
    -------
    select, choose, start, cancel : CORE, KEY_OPERAND, COMMAND or CANCEL was written
    value : the value written
    core : the selected core
    command, operand : the current ones
    settled : accesses may begin
    refused_write, refused : why a write is refused in this cycle, or NONE; and the same including
        refusals by this component, which take precedence
    refusal : why the chosen operand cannot be loaded, or NONE
    check_error, needs_x : as from CommandCheck
    state : the core's lengths and counts of digits, for its settings
    loader_start, loader_idle, loader_done, loader_excess, loader_index : of the loader: begin; idle
        or waiting for a word; it ends; its number was too long; the digit's index
    digits : stream of the digits of the loader
    packets : stream of packets; without one its kind is EMPTY
    clear, clear_core, set_mark, clear_mark, starts, clear_marks, occupy : as in CoreRecords
    noticed, report : a notice arrives from the chain; a refused command generates one
    """

    def __init__(self, capabilities: Capabilities, cores: int, clear_cycles: int):
        self.capabilities, self.clear_cycles = capabilities, clear_cycles
        self.layout = PacketLayout(capabilities, cores)
        ports = {
            **dict.fromkeys(("select", "choose", "start", "cancel"), In(1)),
            "value": In(WORD_BITS),
            "core": In(self.layout["core"].shape),
            "command": Out(capabilities.command_bits),
            "operand": Out(capabilities.operand_bits),
            **COMMON_PORTS,
            "state": In(OperandState(capabilities, bits_for(capabilities.max_length + 1))),
            "loader_start": Out(1),
            **dict.fromkeys(("loader_idle", "loader_done", "loader_excess"), In(1)),
            "loader_index": In(self.layout["index"].shape),
            "digits": In(stream.Signature(capabilities.digit_width)),
            "packets": Out(stream.Signature(self.layout)),
            "clear": Out(1),
            "clear_core": Out(range(clear_cycles)),
            **dict.fromkeys(("set_mark", "clear_mark", "starts"), Out(1)),
            **dict.fromkeys(("clear_marks", "occupy"), Out(1)),
            "noticed": In(1),
            "report": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities, packet, sent = self.capabilities, self.packets.payload, self.packets.ready
        with m.If(self.choose):
            m.d.sync += self.operand.eq(engine_operand(self.capabilities, self.value))
        with m.If(self.start):
            m.d.sync += self.command.eq(engine_command(self.capabilities, self.value))
        m.d.comb += [
            packet.core.eq(self.core),
            packet.operand.eq(self.operand),
            self.packets.valid.eq(packet.kind != PacketKind.EMPTY),
            self.digits.ready.eq(sent),
            self.refused.eq(self.refused_write),
        ]
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += self.clear.eq(1)
                m.d.sync += self.clear_core.eq(self.clear_core + 1)
                # By then all packets that were on the chain at the reset have returned.
                with m.If(self.clear_core == self.clear_cycles - 1):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += [
                    self.settled.eq(self.loader_idle),
                    self.set_mark.eq(self.loader_done & ~self.loader_excess),
                ]
                with m.If(self.loader_done & self.loader_excess):
                    m.d.comb += self.refused.eq(Error.KEY_EXCESS)
                with m.If(self.digits.valid):
                    m.d.comb += [
                        packet.kind.eq(PacketKind.SEND),
                        packet.index.eq(self.loader_index),
                        packet.data.eq(self.digits.payload),
                    ]
                with m.If(self.choose):
                    m.next = "LOOK_UP_OPERAND"
                with m.If(self.start):
                    m.next = "LOOK_UP_COMMAND"
                with m.If(self.cancel):
                    m.next = "CANCEL"
                with m.If(self.select):
                    m.next = "SELECT"
            with m.State("SELECT"):
                m.next = "IDLE"
            with m.State("LOOK_UP_OPERAND"):
                m.next = "CHOOSE"
            with m.State("CHOOSE"):
                with m.If(self.refusal != Error.NONE):
                    m.d.comb += self.refused.eq(self.refusal)
                with m.Else():
                    m.d.comb += [self.loader_start.eq(1), self.clear_mark.eq(1)]
                m.next = "IDLE"
            self._start(m)
            with m.State("CANCEL"):
                m.d.comb += packet.kind.eq(PacketKind.CANCEL)
                with m.If(sent):
                    m.next = "IDLE"
            if capabilities.addresses is not None:
                address = Signal(capabilities.addresses.bits)
                with m.State("WIPE"):
                    # X's address is 0, so that its digits are all words.
                    m.d.comb += [
                        packet.kind.eq(PacketKind.SEND),
                        packet.operand.eq(Operand.X),
                        packet.index.eq(address),
                    ]
                    with m.If(sent):
                        m.d.sync += address.eq(address + 1)
                        with m.If(address == capabilities.addresses.words - 1):
                            m.d.sync += address.eq(0)
                            m.next = "REPORT"
        return m

    def _start(self, m: Module) -> None:
        """The states from START's write to the engine's START: checks, and the settings."""
        packet, sent = self.packets.payload, self.packets.ready
        setting = Signal(range(len(SETTINGS)))
        with m.State("LOOK_UP_COMMAND"):
            m.next = "CHECK"
        with m.State("CHECK"):
            m.d.sync += setting.eq(0)
            m.d.comb += self.occupy.eq(1)
            m.next = "SET"
            with m.If(self.command == WIPE):
                m.d.comb += self.clear_marks.eq(1)
                if self.capabilities.addresses is not None:
                    m.next = "WIPE"
            with m.Elif(self.check_error != Error.NONE):
                m.next = "REPORT"
            with m.Else():
                m.d.comb += self.starts.eq(self.needs_x)
        with m.State("REPORT"), m.If(~self.noticed):
            m.d.comb += self.report.eq(1)
            m.next = "IDLE"
        with m.State("SET"):
            values = Array(getattr(self.state, port)[field] for port, field in SETTINGS)
            m.d.comb += [
                packet.kind.eq(PacketKind.SET),
                packet.index.eq(setting),
                packet.data.eq(values[setting]),
            ]
            with m.If(sent):
                m.d.sync += setting.eq(setting + 1)
                with m.If(setting == len(SETTINGS) - 1):
                    m.next = "START"
        with m.State("START"):
            m.d.comb += [packet.kind.eq(PacketKind.START), packet.data.eq(self.command)]
            with m.If(sent):
                m.next = "IDLE"
