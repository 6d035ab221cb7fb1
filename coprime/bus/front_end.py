"""The registers of an accelerator, and what they do to its engine."""

from amaranth.hdl import (
    Array,
    Cat,
    Const,
    Elaboratable,
    Module,
    Mux,
    ResetInserter,
    Signal,
    Value,
    ValueLike,
)
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

import coprime
from coprime.bus import registers
from coprime.bus.gearbox import LENGTH_BITS, WORD_BITS, Gearbox
from coprime.bus.port import RegisterSignature
from coprime.bus.registers import REGISTERS, Register
from coprime.engine.contract import (
    ERROR_BITS,
    OPERAND_BITS,
    Capabilities,
    Command,
    EngineSignature,
    Error,
    Length,
    Operand,
)

__all__ = ["FrontEnd"]

LONGEST = (1 << LENGTH_BITS) - 1
CLASSES = (Length.MODULUS, Length.EXPONENT, Length.P, Length.Q)
LENGTH_REGISTERS = (
    registers.MODULUS_LENGTH,
    registers.EXPONENT_LENGTH,
    registers.P_LENGTH,
    registers.Q_LENGTH,
)
NOT_WHILE_BUSY = (
    registers.COMMAND,
    registers.INPUT_LENGTH,
    registers.WRITE_ADDRESS,
    registers.INPUT_FIFO,
    registers.KEY_OPERAND,
    registers.KEY_DATA,
    *LENGTH_REGISTERS,
)


def number(register: Register) -> int:
    """Return the register's address at the register port."""
    return register.address // 4


def register_value(register: Register, **fields: ValueLike) -> Value:
    """Put the values of a register's fields into their places."""
    parts: list[Value] = []
    place = 0
    for field in register.fields:
        value = Value.cast(fields.get(field.name, 0))
        parts += [Const(0, field.offset - place), (value | Const(0, field.width))[: field.width]]
        place = field.offset + field.width
    return Cat(*parts)


class FrontEnd(wiring.Component):
    """Registers, input and output buffer, and the loading of operands, for any engine.

    The register map says what each register does. A command goes through these steps, while
    STATUS.BUSY is 1: check of lengths and operands, 1 cycle; the input to the engine; the engine;
    the result to the output buffer. WIPE clears the buffers, one word a cycle, before the engine.

    An access waits while a word of an operand is being turned into digits. An input with a bit that
    is 1 and not below MODULUS_LENGTH ends with OPERAND_RANGE without starting the engine. A command
    that the engine does not know, and one that uses a length that is 0 or over the greatest, goes
    to the engine as it is, which refuses it. A reset ends everything; the buffers keep their words,
    but no register shows them.

    Parameters
    ----------
    capabilities: those of the engine; digit_width and headroom up to 255, max_length up to 65534

    Members
    -------
    registers: the register port
    engine: to be connected to the engine
    irq: 1 while an interrupt is pending and enabled
    """

    def __init__(self, capabilities: Capabilities):
        if not isinstance(capabilities, Capabilities):
            raise TypeError(f"capabilities must be Capabilities, not {capabilities!r}")
        if not 1 <= capabilities.max_length < LONGEST:
            raise ValueError(
                f"max_length must be 1 to {LONGEST - 1}, not {capabilities.max_length}"
            )
        self.capabilities = capabilities
        super().__init__(
            {
                "registers": Out(RegisterSignature()),
                "engine": In(EngineSignature(capabilities)),
                "irq": Out(1),
            }
        )
        # Input below, output above.
        self.words = -(-capabilities.max_length // WORD_BITS)
        self.word_bits = bits_for(self.words - 1)
        self.buffer = Memory(
            shape=WORD_BITS,
            depth=(1 << self.word_bits) + self.words,
            init=[],
            attrs={"no_rw_check": 1},
        )

    def operands_of(self, length: Length) -> list[Operand]:
        """List the operands of a length class."""
        return [name for name, own in self.capabilities.operands.items() if own is length]

    def identity(self) -> dict[str, Value]:
        """Values of the registers that never change, by name."""
        own = self.capabilities
        major, minor, patch = (int(part) for part in coprime.__version__.split(".")[:3])
        commands = sum(1 << command for command in {*own.required, Command.WIPE})
        return {
            "IDENTIFICATION": Const(registers.IDENTIFICATION["ID"].reset, WORD_BITS),
            "VERSION": register_value(registers.VERSION, MAJOR=major, MINOR=minor, PATCH=patch),
            "FAMILY": Const(own.family_number, WORD_BITS),
            "CAPABILITIES": register_value(
                registers.CAPABILITIES,
                COMMANDS=commands,
                CONSTANT_TIME=own.constant_time,
                FIXED_MODULUS=own.fixed_modulus is not None,
            ),
            "DIGITS": register_value(
                registers.DIGITS, WIDTH=own.digit_width, HEADROOM=own.headroom
            ),
            "MAX_LENGTH": register_value(
                registers.MAX_LENGTH, MODULUS=own.max_length, PRIME=own.max_prime_length
            ),
            "MIN_LENGTH": register_value(registers.MIN_LENGTH, BITS=own.min_length),
        }

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        own = self.capabilities
        port, engine = self.registers, self.engine

        # What software has set.
        input_length = Signal(LENGTH_BITS)
        input_fifo = Signal(WORD_BITS)
        lengths = Array(Signal(LENGTH_BITS, name=r.name.lower()) for r in LENGTH_REGISTERS)
        usable = Signal(len(CLASSES))  # the class's length is neither 0 nor over its greatest
        counts = (
            engine.modulus_digits,
            engine.exponent_digits,
            engine.p_digits,
            engine.q_digits,
        )
        complete = Signal(1 << OPERAND_BITS)
        interrupt_enable = Signal()

        # What the accelerator shows.
        busy = Signal()
        output_length = Signal(range(LONGEST // 8 + 2))
        interrupt = Signal()
        code = Signal(ERROR_BITS)
        refusal = Signal(ERROR_BITS)
        cycles = Signal(32)
        products = Signal(32)
        m.d.comb += self.irq.eq(interrupt & interrupt_enable)

        # Errors. The clearing write comes first, so that nothing is lost.
        refused = Signal(ERROR_BITS)  # why something is refused in this cycle
        clear_error = Signal()
        with m.If(clear_error):
            m.d.sync += [code.eq(Error.NONE), refusal.eq(Error.NONE)]
        with m.If((refused != Error.NONE) & (clear_error | (refusal == Error.NONE))):
            m.d.sync += refusal.eq(refused)

        # The ports of the buffer never meet at an address: the input half is written while idle and
        # read while busy, the output half is written while busy and read while idle.
        m.submodules.buffer = buffer = self.buffer
        word_bits = self.word_bits
        store = buffer.write_port()
        fetch = buffer.read_port()
        wipe_address = Signal(range(buffer.depth))

        # The word that OUTPUT_FIFO shows.
        read_address = Signal(word_bits)
        read_beyond = Signal()
        in_output = Signal()
        m.d.comb += in_output.eq(~read_beyond & (Cat(Const(0, 2), read_address) < output_length))

        # The operand that the gearbox feeds: the chosen one, or X while a command runs.
        command = Signal.like(engine.command)
        operand = Signal(OPERAND_BITS)
        length_class = Signal(range(len(Length)))
        operand_known = Signal()
        length = Signal(LENGTH_BITS)
        with m.Switch(operand):
            for name, its_class in own.operands.items():
                with m.Case(name):
                    m.d.comb += [
                        length_class.eq(its_class),
                        operand_known.eq(name != Operand.X),
                    ]
        is_digit = length_class == Length.DIGIT
        m.d.comb += length.eq(Mux(is_digit, own.digit_width, lengths[length_class[:2]]))
        length_bytes = (length + 7)[3:]

        clear_gearbox = Signal()
        gearbox = Gearbox(own.digit_width, own.headroom, own.max_length)
        m.submodules.gearbox = ResetInserter(clear_gearbox)(gearbox)
        input_left = Signal(LENGTH_BITS)  # bytes of the input from the word in `fetch` on
        input_many = input_left[2:].any()
        input_word = Cat(
            Mux(input_many | (input_left[:2] > i), fetch.data.word_select(i, 8), 0)
            for i in range(WORD_BITS // 8)
        )
        m.d.comb += [
            gearbox.length.eq(length),
            gearbox.padded.eq(~is_digit),
            gearbox.word_in.eq(Mux(busy, input_word, port.write_data)),
            gearbox.digit_in.eq(engine.result_digit),
            engine.write.eq(gearbox.digit_write),
            engine.digit.eq(gearbox.digit),
            engine.index.eq(gearbox.digit_index),
            engine.operand.eq(operand),
            engine.result_index.eq(gearbox.digit_index),
            engine.command.eq(command),
            store.addr.eq(Cat(port.write_data[:word_bits], 0)),
            store.data.eq(input_fifo),
            fetch.addr.eq(Mux(busy, Cat(gearbox.word_index[:word_bits], 0), Cat(read_address, 1))),
        ]

        def count_digits() -> None:
            """Keep the number of digits that the gearbox has just written."""
            with m.Switch(length_class):
                for its_class, count in zip(CLASSES, counts, strict=True):
                    with m.Case(its_class):
                        m.d.sync += count.eq(gearbox.digit_index + 1)

        # What a command needs.
        required = Signal(1 << OPERAND_BITS)  # operands that must be complete
        needs_input = Signal()
        uses = Signal(len(CLASSES))  # length classes of its operands
        with m.Switch(command):
            for known, operands in own.required.items():
                loaded = operands - {Operand.X}
                classes = {own.operands[one] for one in operands} - {Length.DIGIT}
                with m.Case(known):
                    m.d.comb += [
                        required.eq(sum(1 << one for one in loaded)),
                        needs_input.eq(Operand.X in operands),
                        uses.eq(sum(1 << its_class for its_class in classes)),
                    ]

        # Writes.
        start = Signal()
        start_command = Signal.like(command)
        choose = Signal()
        ends_loading = Signal()
        write = port.write & port.write_ready
        value = port.write_data
        saturated = Mux(value[LENGTH_BITS:].any(), LONGEST, value[:LENGTH_BITS])
        beyond = value[word_bits:].any()
        status_start = value[registers.STATUS["START"].offset]
        blocked = Signal()
        with m.Switch(port.write_address):
            with m.Case(*(number(register) for register in NOT_WHILE_BUSY)):
                m.d.comb += blocked.eq(busy)
            with m.Case(number(registers.STATUS)):
                m.d.comb += blocked.eq(busy & status_start)
        with m.If(write & blocked):
            m.d.comb += refused.eq(Error.BUSY)
        with m.Elif(write), m.Switch(port.write_address):
            with m.Case(number(registers.STATUS)):
                decrypt = value[registers.STATUS["DECRYPT"].offset]
                m.d.comb += [
                    start.eq(status_start),
                    start_command.eq(Mux(decrypt, Command.RSA_PRIVATE, Command.RSA_PUBLIC)),
                ]
            with m.Case(number(registers.COMMAND)):
                m.d.comb += [start.eq(1), start_command.eq(value)]
            with m.Case(number(registers.INPUT_LENGTH)):
                m.d.sync += input_length.eq(saturated)
            with m.Case(number(registers.INPUT_FIFO)):
                m.d.sync += input_fifo.eq(value)
            with m.Case(number(registers.WRITE_ADDRESS)):
                with m.If(beyond | (value[:word_bits] >= self.words)):
                    m.d.comb += refused.eq(Error.ADDRESS)
                with m.Else():
                    m.d.comb += store.en.eq(1)
            with m.Case(number(registers.READ_ADDRESS)):
                m.d.sync += [read_address.eq(value), read_beyond.eq(beyond)]
            with m.Case(number(registers.ERROR)):
                m.d.comb += clear_error.eq(1)
            with m.Case(number(registers.INTERRUPT_ENABLE)):
                m.d.sync += interrupt_enable.eq(value)
            with m.Case(number(registers.INTERRUPT_STATUS)), m.If(value[0]):
                m.d.sync += interrupt.eq(0)
            with m.Case(number(registers.KEY_OPERAND)):
                m.d.sync += operand.eq(value)
                m.d.comb += [choose.eq(1), ends_loading.eq(1)]
            with m.Case(number(registers.KEY_DATA)):
                m.d.comb += gearbox.word_valid.eq(gearbox.busy)
                with m.If(~gearbox.busy):
                    m.d.comb += refused.eq(Error.KEY_OVERRUN)
            for its_class, register in zip(CLASSES, LENGTH_REGISTERS, strict=True):
                is_prime = its_class in (Length.P, Length.Q)
                longest = own.max_prime_length if is_prime else own.max_length
                digits = own.max_prime_digits if is_prime else own.max_digits
                over = saturated > longest
                with m.Case(number(register)):
                    m.d.sync += [
                        lengths[its_class].eq(saturated),
                        usable[its_class].eq((saturated != 0) & ~over),
                        # A good length counts as the greatest until an operand is loaded.
                        counts[its_class].eq(
                            Mux(saturated == 0, 0, Mux(over, own.max_digits + 1, digits))
                        ),
                        *(complete[one].eq(0) for one in self.operands_of(its_class)),
                    ]
                    m.d.comb += ends_loading.eq(length_class == its_class)
            with m.Default():
                m.d.comb += port.write_error.eq(1)

        def end(error: ValueLike) -> None:
            """End a command."""
            m.d.sync += [code.eq(error), interrupt.eq(1)]
            m.next = "IDLE"

        m.d.comb += [clear_gearbox.eq(ends_loading | start), busy.eq(1), port.write_ready.eq(1)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [
                    busy.eq(0),
                    port.write_ready.eq(~gearbox.busy | gearbox.word_ready),
                ]
                with m.If(gearbox.done):
                    with m.If(gearbox.excess):
                        m.d.comb += refused.eq(Error.KEY_EXCESS)
                    with m.Else():
                        m.d.sync += complete.bit_select(operand, 1).eq(1)
                        count_digits()
                with m.If(start):
                    m.d.sync += [
                        command.eq(start_command),
                        operand.eq(Operand.X),
                        output_length.eq(0),
                        cycles.eq(0),
                        products.eq(0),
                        wipe_address.eq(0),
                    ]
                    m.next = "CHECK"
                with m.Elif(choose):
                    m.next = "CHOOSE"
            with m.State("CHOOSE"):
                m.d.comb += [busy.eq(0), port.write_ready.eq(0)]
                with m.If(~operand_known):
                    m.d.comb += refused.eq(Error.ADDRESS)
                with m.Elif(~is_digit & ~usable.bit_select(length_class[:2], 1)):
                    m.d.comb += refused.eq(Mux(length == 0, Error.LENGTH_ZERO, Error.LENGTH_OVER))
                with m.Else():
                    m.d.comb += gearbox.start.eq(1)
                    m.d.sync += complete.bit_select(operand, 1).eq(0)
                m.next = "IDLE"
            with m.State("CHECK"):
                with m.If(command == Command.WIPE):
                    m.d.sync += [complete.eq(0), input_fifo.eq(0)]
                    m.next = "WIPE"
                with m.Elif((uses & ~usable).any()):
                    m.next = "START"
                with m.Elif((required & ~complete).any()):
                    end(Error.OPERAND_MISSING)
                with m.Elif(~needs_input):
                    m.next = "START"
                with m.Elif(input_length == 0):
                    end(Error.LENGTH_ZERO)
                with m.Else():
                    with m.If(input_length > length_bytes):
                        m.d.comb += refused.eq(Error.INPUT_CLIPPED)
                        m.d.sync += input_left.eq(length_bytes)
                    with m.Else():
                        m.d.sync += input_left.eq(input_length)
                    m.d.comb += gearbox.start.eq(1)
                    m.next = "INPUT"
            with m.State("WIPE"):
                m.d.comb += [
                    store.en.eq(1),
                    store.addr.eq(wipe_address),
                    store.data.eq(0),
                    fetch.en.eq(0),
                ]
                m.d.sync += wipe_address.eq(wipe_address + 1)
                with m.If(wipe_address == buffer.depth - 1):
                    m.next = "START"
            with m.State("INPUT"):
                m.d.comb += gearbox.word_valid.eq(1)
                with m.If(gearbox.word_ready):
                    m.d.sync += input_left.eq(Mux(input_many, input_left - 4, 0))
                with m.If(gearbox.done):
                    count_digits()
                    with m.If(gearbox.excess):
                        end(Error.OPERAND_RANGE)
                    with m.Else():
                        m.next = "START"
            with m.State("START"):
                m.d.comb += engine.start.eq(1)
                m.next = "RUN"
            with m.State("RUN"):
                m.d.sync += [
                    cycles.eq(cycles + 1),
                    products.eq(products + engine.multiplying),
                ]
                with m.If(engine.done):
                    with m.If((engine.error != Error.NONE) | (command == Command.WIPE)):
                        end(engine.error)
                    with m.Else():
                        m.d.comb += [gearbox.start.eq(1), gearbox.to_words.eq(1)]
                        m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += [
                    store.en.eq(gearbox.word_write),
                    store.addr.eq(Cat(gearbox.word_index[:word_bits], 1)),
                    store.data.eq(gearbox.word),
                ]
                with m.If(gearbox.done):
                    m.d.sync += output_length.eq(length_bytes)
                    end(Error.NONE)

        # Reads: one cycle to fetch, one to answer. They wait as writes do, so that ERROR tells of
        # the word before.
        fetched = Signal()
        answers = {
            "STATUS": register_value(registers.STATUS, BUSY=busy),
            "OUTPUT_LENGTH": output_length,
            "OUTPUT_FIFO": fetch.data,
            "ERROR": register_value(registers.ERROR, CODE=code, REFUSAL=refusal),
            "INTERRUPT_ENABLE": interrupt_enable,
            "INTERRUPT_STATUS": interrupt,
            "CYCLES": cycles,
            "PRODUCTS": products,
            **{r.name: bits for r, bits in zip(LENGTH_REGISTERS, lengths, strict=True)},
            **self.identity(),
        }
        output_valid = Signal()
        m.d.sync += [
            fetched.eq(port.read & ~fetched & port.write_ready),
            output_valid.eq(in_output),
        ]
        m.d.comb += port.read_ready.eq(fetched)
        with m.Switch(port.read_address):
            for register in REGISTERS:
                if register.readable:
                    with m.Case(number(register)):
                        m.d.comb += port.read_data.eq(answers[register.name])
                        if register is registers.OUTPUT_FIFO:
                            with m.If(~output_valid):
                                m.d.comb += port.read_data.eq(0)
            with m.Default():
                m.d.comb += port.read_error.eq(1)
        return m
