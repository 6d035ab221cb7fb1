"""The registers of an accelerator, and their effect on its engine."""

from collections.abc import Collection

from amaranth.hdl import Cat, Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus import registers
from coprime.bus.buffer import Buffer, BufferRegisters, InputLength
from coprime.bus.command_control import CommandControl
from coprime.bus.gearbox import LENGTH_BITS, Gearbox
from coprime.bus.operand_registers import CommandCheck, OperandChoice, OperandRegisters
from coprime.bus.padding_control import PaddingControl
from coprime.bus.port import RegisterSignature, connect_sides
from coprime.bus.read_multiplexer import ReadMultiplexer
from coprime.bus.register_classes import Register, Window
from coprime.bus.registers import REGISTERS
from coprime.bus.shared_registers import (
    CLASSES,
    PADDING_REGISTERS,
    check_max_length,
    defined_registers,
    engine_command,
    engine_operand,
    identity,
    length_registers,
    number,
    register_value,
)
from coprime.bus.status import CommandStatus, Refusal
from coprime.bus.write_decode import WriteDecode
from coprime.cells.wires import same_named
from coprime.engine.contract import (
    Capabilities,
    Command,
    EngineSignature,
    Error,
    Length,
    Operand,
)
from coprime.engine.seal import Seal
from coprime.operations.operation import among
from coprime.padding.scheme import Padding, mask_of

LENGTH_REGISTERS = length_registers(REGISTERS)
NOT_WHILE_BUSY = (
    registers.STATUS,
    registers.COMMAND,
    registers.INPUT_LENGTH,
    registers.WRITE_ADDRESS,
    registers.INPUT_FIFO,
    registers.INPUT_WINDOW,
    registers.KEY_OPERAND,
    registers.KEY_DATA,
    *LENGTH_REGISTERS,
)


def _guards(*, ends: bool) -> list[list[Register | Window]]:
    """Registers that are not written while busy; COMMAND by itself, if it may end a command."""
    guarded = [*NOT_WHILE_BUSY, *PADDING_REGISTERS]
    if not ends:
        return [guarded]
    return [
        [register for register in guarded if register is not registers.COMMAND],
        [registers.COMMAND],
    ]


class FrontEnd(wiring.Component):
    """Registers, input and output buffer, and operand loading, for any engine.

    The register map describes each register. A command has these steps, while STATUS.BUSY is 1:
    check of lengths, operands and input, up to 3 cycles; transfer of the input to the engine;
    operation of the engine; transfer of the result to the output buffer. WIPE first clears the
    buffers, one word per cycle, then the engine.

    A write takes 2 cycles, a read 3. An access waits while an operand is being chosen and while a
    word of an operand is being converted to digits. An input with a 1 at or above MODULUS_LENGTH
    ends with OPERAND_RANGE without starting the engine; lengths that are 0 or over the maximum end
    in the same way, each with its error. A command that the engine does not know is passed on to
    the engine, which refuses it. A reset ends everything and clears the buffers, one word per
    cycle, while accesses wait; the engine's memory keeps its words until WIPE.

    With paddings, the check takes two cycles more, and the padding unit works in the buffer before
    the input is sent to the engine, or after the result has been stored in the buffer.

    Raises TypeError if `capabilities` are not Capabilities, and ValueError for a value out of its
    range.

    Parameters
    ----------
    capabilities: those of the engine; digit_width and headroom up to 255, max_length up to
        65534, multipliers up to 15
    paddings: those that the hardware adds and removes; with any, max_length is 65 to 65280
    source: the value of CAPABILITIES.SOURCE
    many: whether it is one of several, CAPABILITIES.CORES

    Members
    -------
    registers: the register port
    engine: connects to the engine
    irq: 1 while an interrupt is pending and enabled
    pending: 1 while an interrupt is pending; only if there are `many`
    random: stream of random bytes; only with paddings, or if the engine draws random numbers
    reset_engine: resets the engine, whose command has waited for random bytes; as `random`
    source_failed: no random byte will come any more; only with a `source`
    """

    def __init__(
        self,
        capabilities: Capabilities,
        paddings: Collection[Padding] = (),
        source: int = 0,
        *,
        many: bool = False,
    ):
        if not isinstance(capabilities, Capabilities):
            raise TypeError(f"capabilities must be Capabilities, not {capabilities!r}")
        check_max_length(capabilities)
        greatest = registers.CAPABILITIES["MULTIPLIERS"].of(~0)
        if not 1 <= capabilities.multipliers <= greatest:
            raise ValueError(f"multipliers must be 1 to {greatest}, not {capabilities.multipliers}")
        self.capabilities = capabilities
        self.padding = PaddingControl(paddings, capabilities.max_length) if paddings else None
        self.draws = bool(paddings) or capabilities.draws
        self.many, self.sourced = many, bool(source)
        ports = {
            "registers": Out(RegisterSignature()),
            "engine": In(EngineSignature(capabilities)),
            "irq": Out(1),
            **({"pending": Out(1)} if many else {}),
            **({"random": In(stream.Signature(8)), "reset_engine": Out(1)} if self.draws else {}),
            **({"source_failed": In(1)} if source else {}),
        }
        super().__init__(ports)
        known = defined_registers(capabilities, padded=bool(paddings))
        self.write = WriteDecode(
            [r for r in known if r.writable and r is not registers.KEY_WINDOW],
            aliases={registers.KEY_WINDOW: registers.KEY_DATA},
            conditions={registers.STATUS: registers.STATUS["START"]},
            guards=_guards(ends=self.draws),
        )
        self.read = ReadMultiplexer(
            [r for r in known if r.readable],
            identity(capabilities, registers.IDENTIFICATION, mask_of(paddings), source, many=many),
            late={
                "word": [registers.OUTPUT_FIFO, registers.OUTPUT_WINDOW],
                "cycles": [registers.CYCLES],
                "products": [registers.PRODUCTS],
            },
        )
        loadable = capabilities.operands - {Operand.X}
        longest = max(capabilities.max_length, capabilities.digit_width)
        self.refusal = Refusal()
        self.operands = OperandRegisters(capabilities)
        self.choice = OperandChoice(capabilities, loadable, LENGTH_BITS)
        self.check = CommandCheck(capabilities, loadable, LENGTH_BITS)
        self.gearbox = Gearbox(
            capabilities.digit_width, capabilities.headroom, longest, alignable=capabilities.aligned
        )
        self.buffer = buffer = Buffer(capabilities.max_length, byte_access=bool(paddings))
        self.buffer_registers = BufferRegisters(buffer.words_each, buffer.byte_bits)
        self.input_length = InputLength(buffer.byte_bits)
        self.status = CommandStatus(buffer.byte_bits, capabilities.multipliers)
        self.control = CommandControl(capabilities, padding=bool(paddings), draws=self.draws)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.write = self.write
        m.submodules.read = self.read
        m.submodules.refusal = self.refusal
        m.submodules.operands = self.operands
        m.submodules.choice = self.choice
        m.submodules.check = self.check
        m.submodules.buffer = self.buffer
        m.submodules.buffer_registers = self.buffer_registers
        m.submodules.input_length = self.input_length
        m.submodules.status = self.status
        m.submodules.control = self.control
        connect(m, self.operands.state, self.choice.state, self.check.state)
        self._access(m)
        self._keep_message(m)
        self._load(m)
        self._run(m)
        if self.capabilities.checked:
            self._seal(m)
        if self.padding:
            self._pad(m, self.padding)
        if self.draws:
            self._draw(m)
        if self.many:
            m.d.comb += self.pending.eq(self.status.interrupt)
        return m

    def _draw(self, m: Module) -> None:
        """Connect the random bytes, and the end of a command that waits for some."""
        # The padding unit and the engine never work at the same time.
        takers = [*([self.padding] if self.padding else [])]
        takers += [self.engine] if self.capabilities.draws else []
        for taker in takers:
            m.d.comb += [
                taker.random.payload.eq(self.random.payload),
                taker.random.valid.eq(self.random.valid),
            ]
        waits = self.status.busy & self.random.ready & ~self.random.valid
        m.d.comb += [
            self.random.ready.eq(Cat(taker.random.ready for taker in takers).any()),
            self.reset_engine.eq(self.control.give_up),
            self.control.starved.eq(waits & self.source_failed if self.sourced else 0),
            self.read.values.status.eq(
                register_value(registers.STATUS, BUSY=self.status.busy, RANDOM=waits)
            ),
        ]

    def _access(self, m: Module) -> None:
        """Connect the register port and the plain registers."""
        port, write, read, status = self.registers, self.write, self.read, self.status
        strobes = write.strobes
        connect_sides(m, port, write, read)
        interrupt_enable = Signal()
        with m.If(strobes.interrupt_enable):
            m.d.sync += interrupt_enable.eq(port.write_data)
        refused = self.control.refused_write
        with m.If(write.refused.any() | self._late if self.draws else write.refused[0]):
            m.d.comb += refused.eq(Error.BUSY)
        with m.If(self.buffer_registers.beyond):
            m.d.comb += refused.eq(Error.ADDRESS)
        with m.If(strobes.key_data & ~self.gearbox.busy):
            m.d.comb += refused.eq(Error.KEY_OVERRUN)
        values = read.values
        m.d.comb += [
            write.settled.eq(self.control.settled),
            write.closed.eq(self._closed),
            read.settled.eq(self.control.settled),
            values.status.eq(register_value(registers.STATUS, BUSY=status.busy)),
            values.output_length.eq(status.output_length),
            values.error.eq(
                register_value(registers.ERROR, CODE=status.error, REFUSAL=self.refusal.code)
            ),
            values.interrupt_enable.eq(interrupt_enable),
            values.interrupt_status.eq(status.interrupt),
            *(
                values[f"{length_class.field}_length"].eq(
                    self.operands.state.lengths[length_class.field]
                )
                for length_class in CLASSES
            ),
            *same_named(read.late, status, "cycles", "products"),
            read.late.word.eq(self.buffer.word),
            read.late_shown.cycles.eq(1),
            read.late_shown.products.eq(1),
            read.late_shown.word.eq(self.buffer_registers.shown),
            self.refusal.refused.eq(self.control.refused),
            self.refusal.clear.eq(strobes.error),
            status.clear_error.eq(strobes.error),
            status.clear_interrupt.eq(strobes.interrupt_status & port.write_data[0]),
            self.irq.eq(status.interrupt & interrupt_enable),
        ]

    @property
    def _closed(self) -> Value:
        """Which registers cannot be written: as `_guards`."""
        busy = self.status.busy
        if not self.draws:
            return busy
        wipes = engine_command(self.capabilities, self.registers.write_data) == Command.WIPE
        return Cat(busy, busy & ~(wipes & self.control.endable))

    @property
    def _late(self) -> Value:
        """A WIPE comes while a command no longer waits for random bytes, but runs."""
        return self.write.strobes.command & self.status.busy & ~self.control.endable

    def _keep_message(self, m: Module) -> None:
        """Connect the buffer of input and result."""
        port, strobes, control = self.registers, self.write.strobes, self.control
        buffer, software, length = self.buffer, self.buffer_registers, self.input_length
        gearbox = self.gearbox
        input_window = number(registers.INPUT_WINDOW)
        output_window = number(registers.OUTPUT_WINDOW)
        m.d.comb += [
            software.accepts.eq(self.write.accepts & ~self.status.busy),
            software.value.eq(port.write_data),
            software.write_window.eq(port.write_address.matches(input_window)),
            software.write_word.eq(port.write_address),
            software.writes_fifo.eq(strobes.input_fifo),
            software.writes_address.eq(strobes.write_address),
            software.writes_window.eq(strobes.input_window),
            software.writes_read_address.eq(strobes.read_address),
            software.clear.eq(control.wipe_all),
            software.read_window.eq(port.read_address.matches(output_window)),
            software.read_word_in.eq(port.read_address),
            *same_named(software, self.status, "output_length"),
            *same_named(buffer, self.status, "busy"),
            *same_named(buffer, software, "store", "store_word", "store_data", "read_word"),
            *same_named(buffer, control, "feed_first", "feed", "wipe"),
            buffer.feed_word.eq(gearbox.word_index),
            *same_named(buffer, length, "bytes"),
            buffer.result_word.eq(gearbox.word_index),
            buffer.wipe_first.eq(control.start),
            length.write.eq(strobes.input_length),
            length.value.eq(port.write_data),
            *same_named(control, length, "empty", "clipped"),
        ]
        connect(m, gearbox.words_out, buffer.results)
        size = self.choice.bytes
        if not self.padding:
            m.d.comb += [
                length.limit.eq(size),
                self.status.result_bytes.eq(size),
                control.wiped.eq(buffer.wiped),
            ]

    def _load(self, m: Module) -> None:
        """Connect lengths, the chosen operand, and the gearbox that loads it."""
        port, strobes, control = self.registers, self.write.strobes, self.control
        operands, choice, state = self.operands, self.choice, self.operands.state
        gearbox, engine = self.gearbox, self.engine
        clear_gearbox = Signal()
        m.submodules.gearbox = ResetInserter(clear_gearbox)(gearbox)
        writes_length = Cat(strobes[f"{length_class.field}_length"] for length_class in CLASSES)
        of_prime = port.write_address.matches(*map(number, LENGTH_REGISTERS[Length.P :]))
        m.d.sync += [control.converted.eq(gearbox.done), control.excess.eq(gearbox.excess)]
        m.d.comb += [
            operands.value.eq(port.write_data),
            operands.of_prime.eq(of_prime),
            operands.enable.eq(self.write.accepts),
            operands.writes.eq(writes_length),
            *same_named(operands, control, "loaded", "operand", "marks", "mark"),
            operands.loaded_class.eq(choice.length_class),
            operands.loaded_digits.eq(gearbox.digit_index),
            operands.clear.eq(control.wipe_all),
            choice.operand.eq(control.operand),
            control.choose.eq(strobes.key_operand),
            control.choose_operand.eq(engine_operand(self.capabilities, port.write_data)),
            control.refusal.eq(choice.refusal),
            control.idle_gearbox.eq(~gearbox.busy | gearbox.words_in.ready),
            gearbox.start.eq(control.convert),
            gearbox.to_words.eq(control.to_words),
            *same_named(gearbox, choice, "length", "padded"),
            gearbox.words_in.payload.eq(
                Mux(self.status.busy, self.buffer.words.payload, port.write_data)
            ),
            gearbox.words_in.valid.eq(self.buffer.words.valid | (strobes.key_data & gearbox.busy)),
            self.buffer.words.ready.eq(gearbox.words_in.ready),
            gearbox.digit_in.eq(engine.result_digit),
            engine.write.eq(gearbox.digits_out.valid),
            engine.digit.eq(gearbox.digits_out.payload),
            engine.index.eq(gearbox.digit_index),
            *same_named(engine, control, "operand"),
            *(
                engine.lengths[length_class.field].eq(state.lengths[length_class.field])
                for length_class in CLASSES
            ),
            engine.counts.eq(state.counts),
        ]
        of_length = Cat(
            writes_length[length_class] & (choice.length_class == length_class)
            for length_class in CLASSES
        )
        # A conversion begins two cycles later, or more.
        m.d.sync += clear_gearbox.eq(control.start | strobes.key_operand | of_length.any())
        if self.capabilities.aligned:
            m.d.comb += gearbox.aligned.eq(choice.aligned)

    def _run(self, m: Module) -> None:
        """Connect the start, check and end of commands."""
        strobes, control = self.write.strobes, self.control
        status, engine = self.status, self.engine
        value = self.registers.write_data
        private = value[registers.STATUS["DECRYPT"].offset]
        public_command, private_command = self.capabilities.started_by_status
        by_status = Mux(private, private_command, public_command)
        m.d.comb += [
            control.start.eq(
                strobes.status | (strobes.command & ~self._late if self.draws else strobes.command)
            ),
            control.start_command.eq(
                Mux(strobes.command, engine_command(self.capabilities, value), by_status)
            ),
            control.busy.eq(status.busy),
            control.check_error.eq(self.check.error),
            *same_named(control, self.check, "needs_x"),
            *same_named(self.check, control, "command"),
            *same_named(engine, control, "command"),
            engine.start.eq(control.engine_start),
            control.engine_busy.eq(engine.busy),
            control.engine_done.eq(engine.done),
            control.engine_error.eq(engine.error),
            *same_named(status, control, "start", "running", "succeed", "end", "end_error"),
        ]
        # Counted a cycle later: no product begins in the last cycle of a command.
        m.d.sync += status.multiplying.eq(engine.multiplying)

    def _seal(self, m: Module) -> None:
        """Connect the hardware that exists only if results are checked."""
        control, operands, counts = self.control, self.operands, self.operands.state.counts
        m.submodules.seal = seal = Seal(self.capabilities, LENGTH_BITS)
        capabilities = self.capabilities
        # A command clears the marks of the operands that it uses up.
        spending = [
            command
            for command in capabilities.with_check
            if command.operation.used_up(capabilities.operands) & capabilities.required[command]
        ]
        usable = self.check.error == Error.NONE
        if spending:
            usable |= among(control.command, spending)
        intact = seal.intact & usable & (control.operand == Operand.X)
        checked = among(control.command, capabilities.with_check)
        shows_residue = Signal()
        with m.If(control.start):
            m.d.sync += shows_residue.eq(0)
        with m.Elif(control.succeed & checked):
            # Not of a message whose padding was removed: it would reveal part of the padding.
            m.d.sync += shows_residue.eq(~control.decodes if self.padding else 1)
        with m.If(shows_residue):
            m.d.comb += self.read.values.residue.eq(self.engine.residue)
        # X has as many written digits as the modulus; the last one's index stays.
        m.d.comb += control.whole.eq(self.gearbox.digit_index == counts.modulus)
        m.d.comb += [
            *same_named(seal, operands.state, "lengths", "counts"),
            seal.writes.eq(operands.writes.any() | operands.loaded),
            seal.begins.eq(control.start),
            seal.begun.eq(control.start_command),
            seal.command.eq(control.command),
            control.sound.eq(seal.same_command & (intact | ~checked)),
            operands.uses_up.eq(control.uses_up),
            operands.clear.eq(control.wipe_all | control.forget),
        ]

    def _pad(self, m: Module, padding: PaddingControl) -> None:
        """Connect the padding unit."""
        m.submodules.padding = ResetInserter(self.control.give_up)(padding)
        port, strobes, control = self.registers, self.write.strobes, self.control
        buffer, length, size = self.buffer, self.input_length, self.choice.bytes
        m.d.comb += [
            padding.writes.eq(strobes.padding),
            padding.writes_window.eq(strobes.padding_window),
            padding.value.eq(port.write_data),
            padding.word.eq(port.write_address),
            padding.begins.eq(control.start),
            padding.by_status.eq(strobes.status),
            padding.private.eq(port.write_data[registers.STATUS["DECRYPT"].offset]),
            padding.modulus_length.eq(self.operands.state.lengths.modulus),
            padding.size.eq(size),
            padding.input_length.eq(length.bytes),
            padding.start.eq(control.pad_start),
            padding.wipe.eq(control.wipe_all),
            padding.read_data.eq(buffer.byte_word),
            self.read.values.padding.eq(padding.setting),
            *same_named(control, padding, "encodes", "decodes"),
            control.pad_error.eq(padding.error),
            control.pad_done.eq(padding.done),
            control.pad_failed.eq(padding.failed),
            control.wiped.eq(buffer.wiped & ~padding.busy),
            length.limit.eq(padding.limit),
            length.padded.eq(control.padded),
            length.size.eq(size),
            self.status.result_bytes.eq(Mux(padding.decodes, padding.length, size)),
            buffer.byte_access.eq(padding.busy & self.status.busy & ~control.wipe),
            buffer.byte_address.eq(padding.address),
            buffer.byte_result.eq(padding.decodes & ~padding.from_input),
            buffer.byte_store.eq(padding.store),
            buffer.byte_data.eq(padding.store_data),
        ]
