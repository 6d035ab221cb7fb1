"""Lengths and operands as software has set them, and whether a command can use them."""

from collections.abc import Collection

from amaranth.hdl import Array, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.gearbox import LENGTH_BITS
from coprime.bus.port import WORD_BITS
from coprime.bus.shared_registers import CLASSES, LONGEST, exceeds
from coprime.cells.wires import same_named
from coprime.engine.contract import ERROR_BITS, Capabilities, Error, Length, Operand, PerLength

CLASS_BITS = 3  # width of a length class, DIGIT included


class OperandState(wiring.Signature):
    """State of lengths and operands, seen from the component that keeps it.

    Parameters
    ----------
    capabilities: those of the engine
    length_bits: width of a length

    Members
    -------
    lengths, counts: of each length class, in bits and in digits
    absent, over: bit k is 1 if the length of class k is 0, or over its maximum
    complete: bit k is 1 if operand k has been loaded in full since its length last changed
    """

    def __init__(self, capabilities: Capabilities, length_bits: int):
        ports = {
            "lengths": Out(PerLength(length_bits)),
            "counts": Out(PerLength(capabilities.count_bits)),
            "absent": Out(len(CLASSES), init=(1 << len(CLASSES)) - 1),
            "over": Out(len(CLASSES)),
            "complete": Out(capabilities.operand_count),
        }
        super().__init__(ports)


class WrittenLength(wiring.Component):
    """Compares a word that software writes with the valid lengths.

    Members
    -------
    value: the word
    of_prime: whether it is the length of a prime, which has its own maximum
    enable: the word is compared
    zero, too_long: a cycle later: it is 0; it is over the maximum
    count: with these, the digits of the length: 0 for none, one more than the maximum if it is too
        long; a valid length has the minimum until an operand is loaded
    """

    def __init__(self, capabilities: Capabilities):
        self.capabilities = capabilities
        ports = {
            "value": In(WORD_BITS),
            **dict.fromkeys(("of_prime", "enable"), In(1)),
            **dict.fromkeys(("zero", "too_long"), Out(1)),
            "count": Out(capabilities.count_bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities, value = self.capabilities, self.value
        with m.If(self.enable):
            m.d.sync += [
                self.zero.eq(value == 0),
                self.too_long.eq(
                    Mux(
                        self.of_prime,
                        exceeds(value, capabilities.max_prime_length),
                        exceeds(value, capabilities.max_length),
                    )
                ),
            ]
        least = capabilities.digits(max(capabilities.min_length, 1))
        m.d.comb += self.count.eq(
            Mux(self.zero, 0, Mux(self.too_long, capabilities.max_digits + 1, least))
        )
        return m


class OperandRegisters(wiring.Component):
    """Lengths, counts of digits, and the marks of the operands that are loaded in full.

    Members
    -------
    value, of_prime, enable: as in WrittenLength
    writes: a cycle later: bit k is 1 if the length of class k becomes `value`, which clears the
        marks of the class's operands
    loaded: an operand of class `loaded_class` has `loaded_digits` digits
    marks: the mark of `operand` becomes `mark`
    uses_up: the marks of the operands that a command uses up are cleared: a bit for each set of
        operands that any command uses up; only if there is one
    clear: all marks are cleared
    state: the registers
    """

    def __init__(self, capabilities: Capabilities):
        self.capabilities = capabilities
        count = capabilities.count_bits
        ports = {
            "value": In(WORD_BITS),
            **dict.fromkeys(("of_prime", "enable"), In(1)),
            "writes": In(len(CLASSES)),
            "loaded": In(1),
            "loaded_class": In(CLASS_BITS),
            "loaded_digits": In(count),
            "operand": In(capabilities.operand_bits),
            **dict.fromkeys(("marks", "mark"), In(1)),
            **({"uses_up": In(len(capabilities.used_up))} if capabilities.used_up else {}),
            "clear": In(1),
            "state": Out(OperandState(capabilities, LENGTH_BITS)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities, state = self.capabilities, self.state
        m.submodules.check = check = WrittenLength(capabilities)
        m.d.comb += same_named(check, self, "value", "of_prime", "enable")
        length = Mux(self.value[LENGTH_BITS:].any(), LONGEST, self.value)
        count = Mux(self.loaded, self.loaded_digits, check.count)
        with m.If(self.marks):
            number = self.operand[: bits_for(capabilities.operand_count - 1)]
            m.d.sync += state.complete.bit_select(number, 1).eq(self.mark)
        for length_class in CLASSES:
            with m.If(self.writes[length_class]):
                m.d.sync += [
                    state.lengths[length_class.field].eq(length),
                    state.absent[length_class].eq(check.zero),
                    state.over[length_class].eq(check.too_long),
                    *(
                        state.complete[each].eq(0)
                        for each in capabilities.operands
                        if each.length is length_class
                    ),
                ]
            with m.If(
                self.writes[length_class] | (self.loaded & (self.loaded_class == length_class))
            ):
                m.d.sync += state.counts[length_class.field].eq(count)
        if capabilities.checked:
            for uses_up, operands in zip(self.uses_up, capabilities.used_up, strict=True):
                with m.If(uses_up):
                    m.d.sync += [state.complete[used].eq(0) for used in operands]
        with m.If(self.clear):
            m.d.sync += state.complete.eq(0)
        return m


class OperandChoice(wiring.Component):
    """The operand being loaded: its length, and its alignment in its digits.

    All outputs follow a cycle after `operand` and `state`.

    Parameters
    ----------
    capabilities: those of the engine
    loadable: the operands that software can choose
    length_bits: width of the lengths in `state`

    Members
    -------
    operand: its number
    state: the state of the operands
    length_class: its class; MODULUS for a number without an operand
    length, bytes: its length in bits, which may be 0 or too large, and in bytes
    padded: whether it has headroom
    aligned: whether it is at the upper end of its digits, if the engine is `aligned`
    refusal: NONE, or why it cannot be loaded
    """

    def __init__(self, capabilities: Capabilities, loadable: Collection[Operand], length_bits: int):
        self.capabilities = capabilities
        self.loadable = sorted(loadable)
        longest = max(capabilities.max_length, capabilities.digit_width)
        ports = {
            "operand": In(capabilities.operand_bits),
            "state": In(OperandState(capabilities, length_bits)),
            "length_class": Out(CLASS_BITS),
            "length": Out(range(longest + 1)),
            "bytes": Out(bits_for((longest + 7) // 8)),
            **dict.fromkeys(("padded", "aligned"), Out(1)),
            "refusal": Out(ERROR_BITS),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities = self.capabilities
        length_class = Signal(CLASS_BITS)
        with m.Switch(self.operand):
            for known in sorted(capabilities.operands):
                with m.Case(known):
                    m.d.comb += length_class.eq(known.length)
        is_digit = length_class == Length.DIGIT
        place = length_class[:2]
        known, absent, over = Signal(), Signal(), Signal()
        exponents = [operand for operand in self.loadable if operand.is_exponent]
        m.d.sync += [
            self.length_class.eq(length_class),
            self.length.eq(
                Array(self.state.lengths[known_class.field] for known_class in CLASSES)[place]
            ),
            self.padded.eq(~is_digit),
            self.aligned.eq(~is_digit & ~self.operand.matches(*exponents)),
            known.eq(self.operand.matches(*self.loadable)),
            absent.eq(~is_digit & self.state.absent.bit_select(place, 1)),
            over.eq(~is_digit & self.state.over.bit_select(place, 1)),
        ]
        with m.If(is_digit):
            m.d.sync += self.length.eq(capabilities.digit_width)
        m.d.comb += self.bytes.eq((self.length + 7)[3:])
        with m.If(~known):
            m.d.comb += self.refusal.eq(Error.ADDRESS)
        with m.Elif(absent):
            m.d.comb += self.refusal.eq(Error.LENGTH_ZERO)
        with m.Elif(over):
            m.d.comb += self.refusal.eq(Error.LENGTH_OVER)
        return m


class CommandCheck(wiring.Component):
    """Checks the lengths that a command uses, and that the operands it needs are loaded.

    A command that the engine does not know needs no operands: the engine refuses it.

    Parameters
    ----------
    capabilities: those of the engine
    marked: the operands that must have been loaded
    length_bits: width of the lengths in `state`

    Members
    -------
    command: the command
    state: the state of the operands
    needs_x: the command reads X
    error: a cycle later: NONE, or the error of the first length that cannot be used, in the order
        of `Length`, or OPERAND_MISSING
    """

    def __init__(self, capabilities: Capabilities, marked: Collection[Operand], length_bits: int):
        self.capabilities = capabilities
        self.marked = frozenset(marked)
        ports = {
            "command": In(capabilities.command_bits),
            "state": In(OperandState(capabilities, length_bits)),
            "needs_x": Out(1),
            "error": Out(ERROR_BITS),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        required = Signal(self.capabilities.operand_count)
        uses = Signal(len(CLASSES))
        with m.Switch(self.command):
            for known, operands in self.capabilities.required.items():
                classes = {operand.length for operand in operands} - {Length.DIGIT}
                with m.Case(known):
                    m.d.comb += [
                        required.eq(sum(1 << operand for operand in operands & self.marked)),
                        uses.eq(sum(1 << length_class for length_class in classes)),
                        self.needs_x.eq(Operand.X in operands),
                    ]
        missing = (required & ~self.state.complete).any()
        m.d.sync += self.error.eq(Mux(missing, Error.OPERAND_MISSING, Error.NONE))
        if self.capabilities.bare:
            self._check_for_engine(m, uses, missing)
        for length_class in reversed(CLASSES):
            zero = Error.EXPONENT_LENGTH if length_class is Length.EXPONENT else Error.LENGTH_ZERO
            with m.If(uses[length_class] & self.state.over[length_class]):
                m.d.sync += self.error.eq(Error.LENGTH_OVER)
            with m.If(uses[length_class] & self.state.absent[length_class]):
                m.d.sync += self.error.eq(zero)
        return m

    def _check_for_engine(self, m: Module, uses: Value, missing: Value) -> None:
        """What a bare engine leaves to its host: the least lengths, and commands it has not."""
        capabilities, counts = self.capabilities, self.state.counts
        for length_class in CLASSES:
            is_short = counts[length_class.field] < capabilities.digits(capabilities.min_length)
            with m.If(uses[length_class] & is_short & ~missing):
                m.d.sync += self.error.eq(Error.LENGTH_ZERO)
        with m.If(~self.command.matches(*capabilities.commands)):
            m.d.sync += self.error.eq(Error.UNSUPPORTED)
