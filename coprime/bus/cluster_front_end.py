"""The registers of a cluster, and the packets that they send along its chain."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus import cluster_registers as registers
from coprime.bus.cluster_control import ClusterControl
from coprime.bus.cluster_registers import REGISTERS
from coprime.bus.collector import Collector
from coprime.bus.core_records import CoreRecords
from coprime.bus.lean_chain import LeanChain
from coprime.bus.operand_registers import CommandCheck, OperandChoice
from coprime.bus.packing import WordsToDigits
from coprime.bus.port import RegisterSignature, connect_sides
from coprime.bus.read_multiplexer import ReadMultiplexer
from coprime.bus.shared_registers import (
    CLASSES,
    LONGEST,
    check_max_length,
    defined_cluster_registers,
    exceeds,
    identity,
    length_registers,
    number,
    register_value,
)
from coprime.bus.status import Refusal
from coprime.bus.write_decode import WriteDecode
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.cluster.chain import chain_layout
from coprime.cluster.packet import PacketKind
from coprime.engine.contract import ERROR_BITS, Capabilities, Error, Length
from coprime.operations.operation import among

LENGTH_REGISTERS = length_registers(REGISTERS)
OF_A_CORE = (
    registers.COMMAND,
    registers.CANCEL,
    registers.KEY_OPERAND,
    registers.KEY_DATA,
    *LENGTH_REGISTERS,
)
NOT_WHILE_OCCUPIED = tuple(register for register in OF_A_CORE if register is not registers.CANCEL)


class ClusterFrontEnd(wiring.Component):
    """Registers, operand loading and result collection, for a chain of cores.

    The register map describes each register. The state of each core, that is, lengths, digit counts
    and the marks of complete operands, is kept in small memories; the core's words are looked up as
    soon as the core is selected.

    An operand's words are converted to digits, and each digit is sent in a packet. A command is
    checked, then its eight settings and the command are sent: 11 cycles in which accesses wait, and
    as many more as the collector's run of RECEIVE packets takes, which has priority. A reset clears
    the memories, a word per cycle, and lasts until no packet that was sent before can return; until
    then accesses wait.

    Parameters
    ----------
    capabilities (Capabilities): of the engines; max_length up to 65534
    cores (int): 1 to 1023
    link_registers (int): of each node

    Members
    -------
    registers : the register port
    packet_out, packet_in : the two ends of the chain
    irq : 1 while there is a completion and the interrupt is enabled
    """

    def __init__(
        self,
        capabilities: Capabilities,
        cores: int,
        link_registers: int = 0,
        *,
        target: Target = Target.GENERIC,
    ):
        check_max_length(capabilities)
        self.capabilities, self.cores, self.target = capabilities, cores, target
        self.layout = chain_layout(capabilities, cores)
        ports = {
            "registers": Out(RegisterSignature()),
            "packet_out": Out(self.layout),
            "packet_in": In(self.layout),
            "irq": Out(1),
        }
        super().__init__(ports)
        constants = identity(capabilities, registers.IDENTIFICATION) | {"CORES": cores}
        known = defined_cluster_registers(capabilities)
        self.write = WriteDecode(
            [r for r in known if r.writable], guards=[OF_A_CORE, NOT_WHILE_OCCUPIED]
        )
        self.read = ReadMultiplexer([r for r in known if r.readable], constants)
        self.refusal = Refusal()
        self.records = CoreRecords(capabilities, cores)
        length_bits = self.records.length_bits
        self.choice = OperandChoice(capabilities, capabilities.operands, length_bits)
        self.check = CommandCheck(capabilities, capabilities.operands, length_bits)
        longest = max(capabilities.max_length, capabilities.digit_width)
        self.loader = WordsToDigits(
            capabilities.digit_width, capabilities.headroom, longest, alignable=capabilities.aligned
        )
        self.collector = Collector(capabilities, cores, target=target)
        self.lean = LeanChain(capabilities, cores) if capabilities.bare else None
        clear_cycles = cores * (1 + link_registers) + 8
        if self.lean is not None:
            clear_cycles += LeanChain.LATENCY
        self.control = ClusterControl(capabilities, cores, clear_cycles)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.write = self.write
        m.submodules.read = self.read
        m.submodules.refusal = self.refusal
        m.submodules.choice = self.choice
        m.submodules.check = self.check
        m.submodules.records = self.records
        m.submodules.collector = self.collector
        m.submodules.control = self.control
        connect(m, self.records.state, self.choice.state, self.check.state, self.control.state)
        core = Signal(self.layout["core"].shape)
        selected = Signal(init=1)  # a core is selected
        beyond = Signal()
        with m.If(self.write.accepts):
            m.d.sync += beyond.eq(exceeds(self.registers.write_data, self.cores - 1))
        with m.If(self.write.strobes.core):
            m.d.sync += [core.eq(self.registers.write_data), selected.eq(~beyond)]
        m.d.comb += [
            self.records.core.eq(core),
            self.records.selected.eq(selected),
            self.control.core.eq(core),
        ]
        self._access(m, core, selected)
        self._refuse(m, selected, beyond)
        self._load(m)
        self._start(m)
        self._collect(m, core)
        return m

    def _access(self, m: Module, core: Signal, selected: Signal) -> None:
        """Connect the register port and the plain registers."""
        port, write, read = self.registers, self.write, self.read
        connect_sides(m, port, write, read)
        values, collector = read.values, self.collector
        completion = collector.completions
        time = Signal(32)
        interrupt_enable = Signal()
        m.d.sync += time.eq(time + 1)
        with m.If(write.strobes.interrupt_enable):
            m.d.sync += interrupt_enable.eq(port.write_data)
        # RESULT waits for its word.
        is_result = port.read_address == number(registers.RESULT)
        fetched = ~is_result | collector.words.valid | ~collector.word_pending
        reads_result = Signal()
        m.d.sync += reads_result.eq(is_result)
        occupied = self.records.occupied
        m.d.comb += [
            write.settled.eq(self.control.settled),
            write.closed.eq(Cat(~selected, selected & occupied)),
            read.settled.eq(self.control.settled & fetched),
            collector.words.ready.eq(read.looks_up & reads_result),
            completion.ready.eq(write.strobes.next),
            self.irq.eq(interrupt_enable & completion.valid),
            values.error.eq(register_value(registers.ERROR, REFUSAL=self.refusal.code)),
            values.interrupt_enable.eq(interrupt_enable),
            values.core.eq(
                register_value(
                    registers.CORE,
                    NUMBER=Mux(selected, core, LONGEST),
                    OCCUPIED=selected & occupied,
                )
            ),
            values.completion.eq(
                register_value(
                    registers.COMPLETION,
                    CORE=completion.payload.core,
                    ERROR=completion.payload.error,
                    VALID=completion.valid,
                )
            ),
            values.result_length.eq(completion.payload.bytes),
            values.time.eq(time),
            values.result.eq(collector.words.payload),
        ]
        if self.capabilities.checked:
            m.d.comb += values.residue.eq(completion.payload.residue)
        for length_class in CLASSES:
            length = self.records.state.lengths[length_class.field]
            shown = Mux(self.records.state.over[length_class], LONGEST, length)
            m.d.comb += values[f"{length_class.field}_length"].eq(shown)

    def _refuse(self, m: Module, selected: Signal, beyond: Signal) -> None:
        """Connect the refusals."""
        write, refused = self.write, self.control.refused_write
        m.d.comb += [
            self.refusal.refused.eq(self.control.refused),
            self.refusal.clear.eq(write.strobes.error),
        ]
        with m.If(write.refused[1]):
            m.d.comb += refused.eq(Error.BUSY)
        with m.If(write.refused[0] | (write.strobes.core & beyond)):
            m.d.comb += refused.eq(Error.ADDRESS)
        with m.If(write.strobes.key_data & ~self.loader.busy):
            m.d.comb += refused.eq(Error.KEY_OVERRUN)

    def _load(self, m: Module) -> None:
        """Connect lengths, the chosen operand, and the loader that turns it into digits."""
        port, strobes, control = self.registers, self.write.strobes, self.control
        records, choice, loader = self.records, self.choice, self.loader
        end_loading = Signal()
        m.submodules.loader = ResetInserter(end_loading)(loader)
        connect(m, loader.digits, control.digits)
        writes_length = Cat(strobes[f"{length_class.field}_length"] for length_class in CLASSES)
        m.d.comb += [
            records.value.eq(port.write_data),
            records.of_prime.eq(
                port.write_address.matches(*map(number, LENGTH_REGISTERS[Length.P :]))
            ),
            records.enable.eq(self.write.accepts),
            records.writes.eq(writes_length),
            records.loaded.eq(loader.done),
            records.loaded_class.eq(choice.length_class),
            records.loaded_digits.eq(loader.digit_index),
            *same_named(records, control, "operand", "set_mark", "clear_mark"),
            choice.operand.eq(control.operand),
            control.choose.eq(strobes.key_operand),
            control.refusal.eq(choice.refusal),
            control.loader_idle.eq(~loader.busy | loader.words.ready),
            control.loader_done.eq(loader.done),
            control.loader_excess.eq(loader.excess),
            control.loader_index.eq(loader.digit_index),
            loader.start.eq(control.loader_start),
            *same_named(loader, choice, "length", "padded"),
            loader.words.payload.eq(port.write_data),
            loader.words.valid.eq(strobes.key_data & loader.busy),
            end_loading.eq(
                strobes.core | strobes.key_operand | strobes.command | writes_length.any()
            ),
        ]
        if self.capabilities.aligned:
            m.d.comb += loader.aligned.eq(choice.aligned)

    def _start(self, m: Module) -> None:
        """Connect check, start and cancellation of commands, and their effect on the records."""
        strobes, control = self.write.strobes, self.control
        records, check = self.records, self.check
        completion = self.collector.completions
        m.d.comb += [
            control.select.eq(strobes.core),
            control.start.eq(strobes.command),
            *same_named(control, strobes, "cancel"),
            control.value.eq(self.registers.write_data),
            control.check_error.eq(check.error),
            *same_named(control, check, "needs_x"),
            *same_named(check, control, "command"),
            *same_named(records, control, "clear", "clear_core", "clear_marks", "occupy"),
            records.start.eq(control.starts),
            *(
                uses_up.eq(among(control.command, commands))
                for uses_up, commands in zip(
                    records.uses_up, self.capabilities.used_up.values(), strict=False
                )
            ),
            # A core is occupied from its command's start until its completion is removed.
            records.release.eq(strobes.next & completion.valid),
            records.release_core.eq(completion.payload.core),
            # The core has wiped its memory, or was cancelled while E was elsewhere.
            records.release_forgets.eq(
                completion.payload.error.matches(Error.FAULT, Error.CANCELLED)
            ),
        ]

    def _collect(self, m: Module, core: Signal) -> None:
        """Connect the two ends of the chain."""
        collector, control, records = self.collector, self.control, self.records
        sent, received = self.packet_out, self.packet_in
        if self.lean is not None:
            m.submodules.lean = lean = self.lean
            sent, received = Signal(lean.front, name="sent"), lean.received
            m.d.comb += [
                lean.sent.eq(sent),
                lean.packet_in.eq(self.packet_in),
                self.packet_out.eq(lean.packet_out),
                *same_named(lean, control, "clear", "clear_core"),
            ]
        arrived = Signal(received.shape())
        m.d.sync += arrived.eq(received)
        # Packets sent before a reset are dropped.
        replies, notices = collector.replies, collector.notices
        m.d.sync += [
            replies.valid.eq((arrived.kind == PacketKind.RECEIVE) & ~control.clear),
            replies.payload.digit.eq(arrived.data),
        ]
        if self.capabilities.checked:
            m.d.sync += replies.payload.wrong.eq(arrived.operand[0])
        noticed = Signal()
        m.d.comb += [
            noticed.eq((arrived.kind == PacketKind.NOTICE) & ~control.clear),
            control.noticed.eq(noticed),
            # A command refused by the front end ends like any other.
            notices.valid.eq(noticed | control.report),
            notices.payload.core.eq(Mux(noticed, arrived.core, core)),
            notices.payload.error.eq(Mux(noticed, arrived.data[:ERROR_BITS], self.check.error)),
            notices.payload.result.eq(noticed & arrived.data[ERROR_BITS]),
            records.asked_core.eq(collector.asked_core),
            *same_named(collector, records, "asked_digits", "asked_length"),
            # One packet is sent per cycle; the collector's have priority.
            control.packets.ready.eq(~collector.requests.valid),
        ]
        m.d.sync += sent.eq(control.packets.payload)
        with m.If(collector.requests.valid):
            m.d.sync += [
                sent.kind.eq(PacketKind.RECEIVE),
                sent.core.eq(collector.asked_core),
                sent.index.eq(collector.requests.payload),
            ]
