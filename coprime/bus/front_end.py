"""The registers of an accelerator, and what they do to its engine."""

from collections.abc import Collection

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
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus import registers
from coprime.bus.common import (
    CLASSES,
    LONGEST,
    PADDING_REGISTERS,
    PLAIN_REGISTERS,
    PLAIN_WINDOWS,
    check_max_length,
    classes_of,
    classify,
    digits_for,
    exceeds,
    identity,
    keep_refusal,
    length_registers,
    number,
    register_value,
    report_lengths,
    too_long_for,
)
from coprime.bus.gearbox import LENGTH_BITS, Gearbox
from coprime.bus.padding import PaddingControl
from coprime.bus.port import WORD_BITS, RegisterSignature
from coprime.bus.register_classes import Window
from coprime.bus.registers import REGISTERS, WINDOWS
from coprime.engine.contract import (
    ERROR_BITS,
    OPERAND_BITS,
    USED_UP,
    Capabilities,
    Command,
    EngineSignature,
    Error,
    Length,
    Operand,
)
from coprime.padding.scheme import Padding, mask_of

__all__ = ["FrontEnd"]

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


def word_of(window: Window, address: Value) -> Value:
    """Which word of the window an address at the register port is."""
    return address[: (window.words - 1).bit_length()]


class FrontEnd(wiring.Component):
    """Registers, input and output buffer, and the loading of operands, for any engine.

    The register map says what each register does. A command goes through these steps, while
    STATUS.BUSY is 1: check of lengths, operands and input, up to 3 cycles; the input to the engine;
    the engine; the result to the output buffer. WIPE clears the buffers, one word a cycle, before
    the engine.

    A write takes 2 cycles, a read 3. An access waits while an operand is being chosen and while a
    word of an operand is being turned into digits. An input with a bit that is 1 and not below
    MODULUS_LENGTH ends with OPERAND_RANGE without starting the engine, and so do lengths that are 0
    or over the greatest, each with its error. A command that the engine does not know goes to the
    engine as it is, which refuses it. A reset ends everything and clears the buffers, one word a
    cycle, in which accesses wait; the engine's memory keeps its words until WIPE.

    With paddings, the check takes two cycles more, and the padding unit works in the buffer before
    the input goes to the engine, or after the result has come to the buffer.

    Parameters
    ----------
    capabilities: those of the engine; digit_width and headroom up to 255, max_length up to
        65534, multipliers up to 15
    paddings: those that the hardware makes and removes; with any, max_length is 65 to 65280

    Members
    -------
    registers: the register port
    engine: to be connected to the engine
    irq: 1 while an interrupt is pending and enabled
    random: stream of random bytes; only with paddings, or where the engine draws
    """

    def __init__(self, capabilities: Capabilities, paddings: Collection[Padding] = ()):
        if not isinstance(capabilities, Capabilities):
            raise TypeError(f"capabilities must be Capabilities, not {capabilities!r}")
        check_max_length(capabilities)
        greatest = registers.CAPABILITIES["MULTIPLIERS"].of(~0)
        if not 1 <= capabilities.multipliers <= greatest:
            raise ValueError(f"multipliers must be 1 to {greatest}, not {capabilities.multipliers}")
        self.capabilities = capabilities
        self.padding = PaddingControl(paddings, capabilities.max_length) if paddings else None
        self.draws = bool(paddings) or capabilities.draws
        super().__init__(
            {
                "registers": Out(RegisterSignature()),
                "engine": In(EngineSignature(capabilities)),
                "irq": Out(1),
                **({"random": In(stream.Signature(8))} if self.draws else {}),
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
        return sorted(one for one in self.capabilities.operands if one.length is length)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        own = self.capabilities
        port, engine = self.registers, self.engine
        padding = self.padding
        paddings = padding.paddings if padding else ()
        known_registers = REGISTERS if padding else PLAIN_REGISTERS
        known_windows = WINDOWS if padding else PLAIN_WINDOWS
        stored = [registers.INPUT_WINDOW, *((registers.PADDING_WINDOW,) if padding else ())]
        not_while_busy = [*NOT_WHILE_BUSY, *(PADDING_REGISTERS if padding else ())]

        # What software has set. Lengths of input and output are in bytes.
        byte_bits = bits_for(self.words * WORD_BITS // 8 + 1)
        input_length = Signal(byte_bits)  # all ones if it is more than fits
        input_fifo = Signal(WORD_BITS)
        lengths = Array(Signal(LENGTH_BITS, name=r.name.lower()) for r in LENGTH_REGISTERS)
        absent = Signal(len(CLASSES), init=-1)  # the class's length is 0
        over = Signal(len(CLASSES))  # the class's length is over its greatest
        counts = [engine.counts[one.field] for one in CLASSES]
        complete = Signal(1 << OPERAND_BITS)
        word_bits = self.word_bits
        read_address = Signal(word_bits)
        read_beyond = Signal()
        interrupt_enable = Signal()

        # What the accelerator shows.
        busy = Signal()
        output_length = Signal(byte_bits)
        interrupt = Signal()
        code = Signal(ERROR_BITS)
        refusal = Signal(Error.ADDRESS.bit_length())  # the highest of its codes
        cycles = Signal(32)
        products = Signal(32)
        m.d.comb += self.irq.eq(interrupt & interrupt_enable)

        # Errors.
        refused = Signal.like(refusal)  # why something is refused in this cycle
        clear_error = Signal()
        keep_refusal(m, refusal, refused, clear=clear_error, beside=[code])

        # The ports of the buffer never meet at an address: the input half is written while idle and
        # read while busy, the output half is written while busy and read while idle.
        m.submodules.buffer = buffer = self.buffer
        store = buffer.write_port(granularity=8 if padding else None)

        def enable(condition: Value) -> Value:
            """Write a whole word."""
            return condition.replicate(WORD_BITS // 8) if padding else condition

        fetch = buffer.read_port()
        wipe_address = Signal(range(buffer.depth))

        # The operand that the gearbox feeds: the chosen one, or X while a command runs. What
        # depends on it is known a cycle later.
        command = Signal.like(engine.command)
        operand = Signal(OPERAND_BITS)
        length_class = Signal(range(len(Length)))
        operand_class = Signal.like(length_class)
        classify(m, own, operand, length_class)
        loadable = sorted(own.operands - {Operand.X})
        class_index = length_class[:2]
        is_digit = length_class == Length.DIGIT
        operand_known = Signal()
        operand_length = Signal(range(max(own.max_length, own.digit_width) + 1))
        operand_padded = Signal()
        operand_aligned = Signal()
        operand_absent = Signal()
        operand_over = Signal()
        m.d.sync += [
            operand_class.eq(length_class),
            operand_known.eq(operand.matches(*loadable)),
            operand_length.eq(lengths[class_index]),
            operand_padded.eq(~is_digit),
            operand_aligned.eq(~operand.matches(*(one for one in loadable if one.is_exponent))),
            operand_absent.eq(~is_digit & absent.bit_select(class_index, 1)),
            operand_over.eq(~is_digit & over.bit_select(class_index, 1)),
        ]
        with m.If(is_digit):
            m.d.sync += operand_length.eq(own.digit_width)
        operand_bytes = (operand_length + 7)[3:]

        # What a command needs.
        required = Signal(1 << OPERAND_BITS)  # operands that must be complete
        needs_input = Signal()
        uses = Signal(len(CLASSES))  # length classes of its operands
        with m.Switch(command):
            for known, operands in own.required.items():
                loaded = operands - {Operand.X}
                with m.Case(known):
                    m.d.comb += [
                        required.eq(sum(1 << one for one in loaded)),
                        needs_input.eq(Operand.X in operands),
                        uses.eq(classes_of(operands)),
                    ]
        missing = Signal()
        length_error = Signal(ERROR_BITS)  # of the first class whose length cannot be used
        m.d.sync += [missing.eq((required & ~complete).any()), length_error.eq(Error.NONE)]
        report_lengths(m, length_error, uses=uses, absent=absent, over=over)

        # The word fetched from the buffer, registered: the memory is slow. While busy it is a word
        # of the input, without the bytes that do not count.
        word = Signal(WORD_BITS)
        clipped = Signal()
        input_bytes = Signal(byte_bits)  # bytes that count
        masked = Signal(WORD_BITS // 8)  # the bytes in `fetch` that do not
        advance = Signal()  # another word is wanted from the next cycle on
        advanced = Signal(2)  # that was one cycle ago, or two

        converted = Signal()  # the gearbox has just ended
        excess = Signal()
        clear_gearbox = Signal()
        gearbox = Gearbox(
            own.digit_width,
            own.headroom,
            max(own.max_length, own.digit_width),
            alignable=own.aligned,
        )
        m.submodules.gearbox = ResetInserter(clear_gearbox)(gearbox)
        input_index = gearbox.word_index[:word_bits]
        limit: Value = padding.limit if padding else operand_bytes
        encoded = Signal()  # the input buffer holds a padded message
        counted_bytes: Value = Mux(clipped, limit, input_length)
        if padding:
            counted_bytes = Mux(encoded, operand_bytes, counted_bytes)
        m.d.sync += [
            clipped.eq(input_length > limit),
            input_bytes.eq(counted_bytes),
            *(
                masked[i].eq(busy & (Cat(Const(i, 2), input_index) >= input_bytes))
                for i in range(len(masked))
            ),
            word.eq(fetch.data),
            advanced.eq(Cat(advance, advanced)),
            converted.eq(gearbox.done),
            excess.eq(gearbox.excess),
        ]
        for i in range(len(masked)):
            with m.If(masked[i]):
                m.d.sync += word.word_select(i, 8).eq(0)
        reads_directly = port.read_address.matches(number(registers.OUTPUT_WINDOW))
        output_index = Mux(
            reads_directly, word_of(registers.OUTPUT_WINDOW, port.read_address), read_address
        )
        m.d.comb += [
            gearbox.length.eq(operand_length),
            gearbox.padded.eq(operand_padded),
            gearbox.words_in.payload.eq(Mux(busy, word, port.write_data)),
            gearbox.digit_in.eq(engine.result_digit),
            engine.write.eq(gearbox.digits_out.valid),
            engine.digit.eq(gearbox.digits_out.payload),
            engine.index.eq(gearbox.digit_index),
            engine.operand.eq(operand),
            engine.command.eq(command),
            *(engine.lengths[one.field].eq(lengths[one]) for one in CLASSES),
            fetch.addr.eq(Mux(busy, Cat(input_index, 0), Cat(output_index[:word_bits], 1))),
        ]

        if own.aligned:  # a single digit has nothing below it
            m.d.comb += gearbox.aligned.eq(operand_aligned)

        # Writes. In the first cycle for which `settled` is 1 the address is decoded and the value
        # compared; in the next one the write takes place.
        settled = Signal()
        value = port.write_data
        accepts = Signal()
        guarded = Signal()  # not while busy
        beyond = Signal()  # no word address
        zero = Signal()
        too_long = Signal()
        blocked = Signal()
        unwritable = Signal()
        writable = [number(r) for r in (*known_registers, *known_windows) if r.writable]
        attempts = {
            r: port.write_address.matches(number(r))
            for r in (*known_registers, *stored)
            if r.writable
        }
        attempts[registers.KEY_DATA] |= port.write_address.matches(number(registers.KEY_WINDOW))
        stores_directly = attempts[registers.INPUT_WINDOW]
        store_word = word_of(registers.INPUT_WINDOW, port.write_address)
        # A write to STATUS does nothing but start.
        attempts[registers.STATUS] &= value[registers.STATUS["START"].offset]
        writes = {r: Signal(name=f"writes_{r.name.lower()}") for r in attempts}
        m.d.comb += [
            accepts.eq(port.write & ~port.write_ready & settled),
            guarded.eq(Cat(attempts[r] for r in not_while_busy).any()),
            port.write_error.eq(unwritable),
        ]
        m.d.sync += [
            port.write_ready.eq(accepts),
            *(
                writes[r].eq(accepts & attempt & ~(busy & (r in not_while_busy)))
                for r, attempt in attempts.items()
            ),
            blocked.eq(accepts & busy & guarded),
            unwritable.eq(~port.write_address.matches(*writable)),
            beyond.eq(
                Mux(
                    stores_directly,
                    exceeds(store_word, self.words - 1),
                    exceeds(value, self.words - 1),
                )
            ),
            zero.eq(value == 0),
            too_long.eq(
                too_long_for(
                    own,
                    value,
                    of_prime=attempts[registers.P_LENGTH] | attempts[registers.Q_LENGTH],
                )
            ),
        ]

        start = Signal()
        stores = Signal()
        ends_loading = Signal()
        start_command = Signal.like(command)
        private = value[registers.STATUS["DECRYPT"].offset]
        m.d.comb += [
            start.eq(writes[registers.STATUS] | writes[registers.COMMAND]),
            start_command.eq(
                Mux(
                    writes[registers.COMMAND],
                    value,
                    Mux(private, Command.RSA_PRIVATE, Command.RSA_PUBLIC),
                )
            ),
            stores.eq(writes[registers.WRITE_ADDRESS] | writes[registers.INPUT_WINDOW]),
            store.en.eq(enable(stores & ~beyond)),
            store.addr.eq(Cat(Mux(stores_directly, store_word, value)[:word_bits], 0)),
            store.data.eq(input_fifo),
            gearbox.words_in.valid.eq(writes[registers.KEY_DATA] & gearbox.busy),
            clear_error.eq(writes[registers.ERROR]),
        ]
        with m.If(blocked):
            m.d.comb += refused.eq(Error.BUSY)
        with m.If(stores & beyond):
            m.d.comb += refused.eq(Error.ADDRESS)
        with m.If(writes[registers.KEY_DATA] & ~gearbox.busy):
            m.d.comb += refused.eq(Error.KEY_OVERRUN)
        with m.If(writes[registers.INPUT_LENGTH]):
            m.d.sync += input_length.eq(value)
        with m.If(writes[registers.INPUT_LENGTH] & value[byte_bits:].any()):
            m.d.sync += input_length.eq(~0)
        # A word of the window is there a cycle sooner, to be stored in the cycle of the write.
        with m.If(writes[registers.INPUT_FIFO] | (accepts & stores_directly & ~busy)):
            m.d.sync += input_fifo.eq(value)
        with m.If(writes[registers.READ_ADDRESS]):
            m.d.sync += [read_address.eq(value), read_beyond.eq(beyond)]
        with m.If(writes[registers.INTERRUPT_ENABLE]):
            m.d.sync += interrupt_enable.eq(value)
        with m.If(writes[registers.INTERRUPT_STATUS] & value[0]):
            m.d.sync += interrupt.eq(0)
        with m.If(writes[registers.KEY_OPERAND]):
            m.d.sync += operand.eq(value)
            m.d.comb += ends_loading.eq(1)

        # Lengths, counts of digits and the marks of complete operands.
        counted = Signal()  # an operand has been written, and the gearbox knows its digits
        length_count = digits_for(own, zero=zero, too_long=too_long)
        count = Mux(counted, gearbox.digit_index, length_count)
        marks = Signal()  # the operand's mark is written
        mark = Signal()
        wipes = Signal()
        with m.If(marks):
            m.d.sync += complete.bit_select(operand, 1).eq(mark)
        for one, register in zip(CLASSES, LENGTH_REGISTERS, strict=True):
            with m.If(writes[register]):
                m.d.sync += [
                    lengths[one].eq(Mux(value[LENGTH_BITS:].any(), LONGEST, value)),
                    absent[one].eq(zero),
                    over[one].eq(too_long),
                    *(complete[name].eq(0) for name in self.operands_of(one)),
                ]
                m.d.comb += ends_loading.eq(operand_class == one)
            with m.If(writes[register] | (counted & (operand_class == one))):
                m.d.sync += counts[one].eq(count)
        with m.If(wipes):
            m.d.sync += [complete.eq(0), input_fifo.eq(0)]

        # Counters.
        wiping, running, succeeds = Signal(), Signal(), Signal()
        wiped: Value = wipe_address == buffer.depth - 1
        wipes_next: Value = wiping
        if padding:  # whose slots may take longer
            wipes_next = wiping & ~wiped
            wiped = wiped & ~padding.busy
        with m.If(wipes_next):
            m.d.sync += wipe_address.eq(wipe_address + 1)
        with m.If(running):
            m.d.sync += [cycles.eq(cycles + 1), products.eq(products + engine.multiplying)]
        with m.If(succeeds):
            m.d.sync += output_length.eq(
                Mux(padding.decodes, padding.length, operand_bytes) if padding else operand_bytes
            )
        with m.If(start):
            m.d.sync += [
                busy.eq(1),
                command.eq(start_command),
                operand.eq(Operand.X),
                wipe_address.eq(0),
                cycles.eq(0),
                products.eq(0),
                output_length.eq(0),
            ]

        ends = Signal()
        error = Signal(ERROR_BITS)
        with m.If(ends):
            m.d.sync += [code.eq(error), interrupt.eq(1), busy.eq(0)]

        def end(why: ValueLike) -> None:
            """End a command."""
            m.d.comb += [ends.eq(1), error.eq(why)]
            m.next = "IDLE"

        # An engine that is checked trusts the lengths, and so does who reads its result: a bit of
        # them that flips while it works would go unseen.
        parity = Cat(*lengths, *counts).xor()
        begun_with = Signal()
        unharmed = (parity == begun_with) & ~missing & (operand == Operand.X)
        faulty = Signal()
        with m.If(start):
            m.d.sync += faulty.eq(0)

        m.d.comb += [clear_gearbox.eq(ends_loading | start), settled.eq(1)]
        with m.FSM(init="CLEAR"):
            with m.State("IDLE"):
                m.d.comb += [
                    settled.eq(~converted & (~gearbox.busy | gearbox.words_in.ready)),
                    counted.eq(converted),
                ]
                with m.If(converted):
                    m.d.comb += [marks.eq(1), mark.eq(~excess)]
                    with m.If(excess):
                        m.d.comb += refused.eq(Error.KEY_EXCESS)
                with m.If(start | writes[registers.KEY_OPERAND]):
                    m.next = "LOOK_UP"
            with m.State("LOOK_UP"):
                m.d.comb += settled.eq(busy)
                with m.If(busy):
                    m.next = "CHECK"
                with m.Else():
                    m.next = "CHOOSE"
            with m.State("CHOOSE"):
                m.d.comb += settled.eq(0)
                with m.If(~operand_known):
                    m.d.comb += refused.eq(Error.ADDRESS)
                with m.Elif(operand_absent):
                    m.d.comb += refused.eq(Error.LENGTH_ZERO)
                with m.Elif(operand_over):
                    m.d.comb += refused.eq(Error.LENGTH_OVER)
                with m.Else():
                    m.d.comb += [gearbox.start.eq(1), marks.eq(1)]
                m.next = "IDLE"
            with m.State("CHECK"):
                with m.If(command == Command.WIPE):
                    m.d.comb += wipes.eq(1)
                    m.next = "WIPE"
                with m.Elif(length_error != Error.NONE):
                    end(length_error)
                with m.Elif(missing):
                    end(Error.OPERAND_MISSING)
                with m.Elif(~needs_input):
                    m.next = "START"
                empty = input_length == 0
                with m.Elif(empty & ~padding.encodes if padding else empty):
                    end(Error.LENGTH_ZERO)
                with m.Else():
                    m.next = "ROOM" if padding else "CLIP"
            if padding:
                # The limit is known a cycle after the length, and what it clips two later.
                with m.State("ROOM"):
                    m.next = "LIMIT"
                    with m.If(padding.error != Error.NONE):
                        end(padding.error)
                with m.State("LIMIT"):
                    m.next = "CLIP"
                with m.State("ENCODE"), m.If(padding.done):
                    m.next = "FEED"
                with m.State("FEED"):
                    m.d.comb += [gearbox.start.eq(1), advance.eq(1)]
                    m.next = "INPUT"
                with m.State("DECODE"), m.If(padding.done):
                    m.d.comb += succeeds.eq(~padding.failed)
                    end(Mux(padding.failed, Error.PADDING, Error.NONE))
            # After reset, when every access waits, and for WIPE: nothing of another user is left.
            for state, proceed in (("CLEAR", "IDLE"), ("WIPE", "START")):
                with m.State(state):
                    m.d.comb += [
                        store.en.eq(enable(Const(1)) if padding else 1),
                        store.addr.eq(wipe_address),
                        fetch.en.eq(0),
                        wiping.eq(1),
                    ]
                    if state == "CLEAR":
                        m.d.comb += settled.eq(0)
                    with m.If(wiped):
                        m.next = proceed
            with m.State("CLIP"):
                with m.If(clipped):
                    m.d.comb += refused.eq(Error.INPUT_CLIPPED)
                m.d.comb += [gearbox.start.eq(1), advance.eq(1)]
                m.next = "INPUT"
                if padding:
                    with m.If(padding.encodes):
                        m.d.comb += [gearbox.start.eq(0), advance.eq(0), padding.start.eq(1)]
                        m.d.sync += encoded.eq(1)
                        m.next = "ENCODE"
            with m.State("INPUT"):
                m.d.comb += [
                    gearbox.words_in.valid.eq(~advanced.any()),
                    advance.eq(gearbox.words_in.ready & gearbox.words_in.valid),
                    counted.eq(converted),
                ]
                with m.If(converted):
                    with m.If(excess):
                        end(Error.OPERAND_RANGE)
                    with m.Else():
                        m.next = "START"
            if own.checked:
                # As by WIPE, but with an error; the engine may have begun with its memory.
                with m.State("FAULT"), m.If(~engine.busy):
                    m.next = "WIPE"
            with m.State("START"):
                m.d.comb += engine.start.eq(1)
                if own.checked:
                    m.d.sync += begun_with.eq(parity)
                    with m.If(command == Command.RSA_PRIVATE):
                        m.d.sync += [complete[used].eq(0) for used in USED_UP]
                m.next = "RUN"
            with m.State("RUN"):
                m.d.comb += running.eq(1)
                if own.checked:
                    with m.If(engine.done & (engine.error == Error.FAULT)):
                        m.d.sync += complete.eq(0)  # the engine has wiped its memory
                with m.If(engine.done):
                    with m.If((engine.error != Error.NONE) | (command == Command.WIPE)):
                        end(Mux(faulty, Error.FAULT, engine.error))
                    with m.Else():
                        m.d.comb += [gearbox.start.eq(1), gearbox.to_words.eq(1)]
                        m.next = "OUTPUT"
            with m.State("OUTPUT"):
                m.d.comb += [
                    store.en.eq(enable(gearbox.words_out.valid)),
                    store.addr.eq(Cat(input_index, 1)),
                    store.data.eq(gearbox.words_out.payload),
                ]
                released: Value = converted
                if own.checked:
                    # A result that is not checked has an error, however it came here.
                    sound = unharmed | (command != Command.RSA_PRIVATE)
                    released = converted & sound & (engine.error == Error.NONE)
                    with m.If(converted & ~released):
                        m.d.comb += wipes.eq(1)
                        m.d.sync += [faulty.eq(1), command.eq(Command.WIPE)]
                        m.next = "FAULT"
                complete_output = released
                if padding:
                    complete_output = released & ~padding.decodes
                    with m.If(released & padding.decodes):
                        m.d.comb += padding.start.eq(1)
                        m.next = "DECODE"
                with m.If(complete_output):
                    m.d.comb += succeeds.eq(1)
                    end(Error.NONE)

        # The padding unit and the engine never work at the same time.
        takers = [*([padding] if padding else []), *([engine] if own.draws else [])]
        for taker in takers:
            m.d.comb += [
                taker.random.payload.eq(self.random.payload),
                taker.random.valid.eq(self.random.valid),
            ]
        if self.draws:
            ready = [taker.random.ready for taker in takers]
            m.d.comb += self.random.ready.eq(Cat(ready).any())
        if padding:
            m.submodules.padding = padding
            in_output_half = padding.decodes & ~padding.from_input
            m.d.comb += [
                padding.writes.eq(writes[registers.PADDING]),
                padding.writes_window.eq(writes[registers.PADDING_WINDOW]),
                padding.value.eq(value),
                padding.word.eq(word_of(registers.PADDING_WINDOW, port.write_address)),
                padding.begins.eq(start),
                padding.by_status.eq(writes[registers.STATUS]),
                padding.private.eq(private),
                padding.modulus_length.eq(lengths[Length.MODULUS]),
                padding.size.eq(operand_bytes),
                padding.input_length.eq(input_bytes),
                padding.wipe.eq(wipes),
                padding.read_data.eq(fetch.data),
            ]
            with m.If(start):
                m.d.sync += encoded.eq(0)
            with m.If(padding.busy & busy & ~wiping):
                byte_address = Cat(padding.address[2 : 2 + word_bits], in_output_half)
                m.d.comb += [
                    fetch.addr.eq(byte_address),
                    fetch.en.eq(~padding.store),
                    store.addr.eq(byte_address),
                    store.data.eq(padding.store_data.replicate(WORD_BITS // 8)),
                    store.en.eq(Mux(padding.store, Const(1) << padding.address[:2], 0)),
                ]

        # Reads: one cycle to fetch, one to look up, one to answer. They wait as writes do, so that
        # ERROR tells of the word before.
        waiting = Signal()
        answer = Signal(WORD_BITS)
        source = Signal(2)  # of the answer: see below
        in_output = Signal()
        m.d.sync += [
            waiting.eq(port.read & ~waiting & ~port.read_ready & settled),
            port.read_ready.eq(waiting),
            in_output.eq(
                (reads_directly | ~read_beyond) & (Cat(Const(0, 2), output_index) < output_length)
            ),
            answer.eq(0),
            source.eq(0),
            port.read_error.eq(0),
        ]
        answers = {
            "STATUS": register_value(registers.STATUS, BUSY=busy),
            "OUTPUT_LENGTH": output_length,
            "ERROR": register_value(registers.ERROR, CODE=code, REFUSAL=refusal),
            "INTERRUPT_ENABLE": interrupt_enable,
            "INTERRUPT_STATUS": interrupt,
            **{r.name: bits for r, bits in zip(LENGTH_REGISTERS, lengths, strict=True)},
            "IDENTIFICATION": Const(registers.IDENTIFICATION["ID"].reset, WORD_BITS),
            **identity(own, mask_of(paddings)),
            **({"PADDING": padding.setting} if padding else {}),
        }
        with m.Switch(port.read_address):
            with m.Case(number(registers.OUTPUT_FIFO), number(registers.OUTPUT_WINDOW)):
                m.d.sync += source.eq(Mux(in_output, 1, 0))
            with m.Case(number(registers.CYCLES)):
                m.d.sync += source.eq(2)
            with m.Case(number(registers.PRODUCTS)):
                m.d.sync += source.eq(3)
            for register in REGISTERS:
                if register.name in answers:
                    with m.Case(number(register)):
                        m.d.sync += answer.eq(answers[register.name])
            with m.Default():
                m.d.sync += port.read_error.eq(1)
        m.d.comb += port.read_data.eq(Array((answer, word, cycles, products))[source])
        return m
