"""The state machine of an accelerator's front end."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.gearbox import Conversion
from coprime.bus.port import WORD_BITS
from coprime.engine.contract import ERROR_BITS, Capabilities, Command, Error, Operand
from coprime.operations.operation import among

COMMON_PORTS = {
    "settled": Out(1),
    "refused_write": In(Error.ADDRESS.bit_length()),
    "refused": Out(Error.ADDRESS.bit_length()),
    **dict.fromkeys(("refusal", "check_error"), In(ERROR_BITS)),
    "needs_x": In(1),
}
"""Ports of the control of both an accelerator and a cluster."""


def front_end_cycles(capabilities: Capabilities, length: int, *, padding: bool = False) -> int:
    """Cycles of a command with a result, without padding, in which the engine does not work.

    They are counted from the cycle in which COMMAND is written on the bus to the cycle of the
    interrupt: the check, the input to digits, the result to words. `length` is the modulus's in
    bits; `padding` is whether there is a padding unit.
    """
    conversion = Conversion(capabilities.digit_width, capabilities.headroom, capabilities.aligned)
    # The buffer supplies a word every other cycle; only a unit of a whole word waits for it.
    stalls = -(-length // WORD_BITS) - 1 if conversion.unit == WORD_BITS else 0
    return (
        conversion.cycles(length, padded=True, aligned=capabilities.aligned)
        + stalls
        + conversion.cycles(length, to_words=True, aligned=capabilities.aligned)
        + (9 if capabilities.aligned else 10)
        + (2 if padding else 0)
    )


class CommandControl(wiring.Component):
    """Loads the operand that software has chosen, and controls the steps of a command.

    | states | action | cycles |
    |---|---|---|
    | CLEAR | after reset, the buffer is overwritten; accesses wait | one per word |
    | IDLE | accesses take place, words are converted to digits | |
    | LOOK_UP, CHOOSE | the chosen operand: its length, its refusal or its first digit | 2 |
    | LOOK_UP, CHECK | a command: its lengths, its operands, its input | 2 |
    | ROOM, LIMIT, CLIP | the input's length; the first two only with paddings | 1 or 3 |
    | ENCODE, FEED | the input is padded; only with paddings | the unit's and 1 |
    | INPUT | the input goes to the engine | the gearbox's |
    | FORGET, WIPE | instead of the input's states: the buffer is overwritten | 1, one per word |
    | START, RUN | the engine works | 1 and the engine's |
    | OUTPUT | the result goes to the buffer | the gearbox's |
    | DECODE | its padding is removed; only with paddings | the unit's |
    | FAULT | the result was changed: FORGET follows; only if it is `checked` | the engine's |

    Parameters
    ----------
    capabilities: those of the engine; if it is `checked`, a result that is not `sound` is wiped
    padding: whether there is a padding unit
    draws: whether the engine, or the padding unit, takes random bytes

    Members
    -------
    start, start_command: a command begins
    choose, choose_operand: software chooses an operand
    busy: a command is in progress
    command, operand: the current ones; Operand.X while a command is in progress
    settled: accesses may begin
    refused_write, refused: why a write is refused in this cycle, or NONE; and the same including
        refusals by this component, which take precedence
    refusal: why the chosen operand cannot be loaded, or NONE
    check_error, needs_x: as from CommandCheck
    empty, clipped: as from InputLength
    idle_gearbox: the gearbox is idle, or waits for a word
    converted, excess: a conversion has just ended; the number was too long
    convert, to_words: a conversion begins, in this direction
    loaded, marks, mark, forget, uses_up: as in OperandRegisters
    wipe_all: everything that software has written is cleared, except lengths
    feed_first, feed, wipe, wiped: as in Buffer
    engine_start, engine_busy, engine_done, engine_error: as in the engine
    running: the engine works
    succeed, end, end_error: as in CommandStatus
    sound: with `converted`, nothing on which the result depends has changed; only if `checked`
    whole: with `converted`, all digits of the input have been written; only if `checked`
    endable: WIPE may take the place of the command; only if it `draws`
    starved: the command waits for random bytes, and none will come; only if it `draws`
    give_up: the engine and the padding unit are reset; only if it `draws`
    pad_start, pad_done, pad_failed, pad_error, encodes, decodes: as in PaddingControl; only with
        `padding`
    padded: the input is a padded message; only with `padding`
    """

    def __init__(self, capabilities: Capabilities, *, padding: bool, draws: bool):
        self.padding, self.draws = padding, draws
        self.checked = checked = capabilities.checked
        self.used_up = list(capabilities.used_up.values())
        ports = {
            "start": In(1),
            "start_command": In(capabilities.command_bits),
            "choose": In(1),
            "choose_operand": In(capabilities.operand_bits),
            "busy": In(1),
            "command": Out(capabilities.command_bits),
            "operand": Out(capabilities.operand_bits),
            **COMMON_PORTS,
            **dict.fromkeys(("empty", "clipped", "idle_gearbox", "converted", "excess"), In(1)),
            **dict.fromkeys(("convert", "to_words", "loaded", "marks", "mark"), Out(1)),
            **dict.fromkeys(("wipe_all", "feed_first", "feed", "wipe"), Out(1)),
            "wiped": In(1),
            "engine_start": Out(1),
            **dict.fromkeys(("engine_busy", "engine_done"), In(1)),
            "engine_error": In(ERROR_BITS),
            **dict.fromkeys(("running", "succeed", "end"), Out(1)),
            "end_error": Out(ERROR_BITS),
        }
        if checked:
            ports |= {"sound": In(1), "whole": In(1), "forget": Out(1)}
            ports["uses_up"] = Out(len(self.used_up))
        if draws:
            ports |= {"endable": Out(1), "starved": In(1), "give_up": Out(1)}
        if padding:
            ports |= {
                "pad_start": Out(1),
                **dict.fromkeys(("pad_done", "pad_failed"), In(1)),
                "pad_error": In(ERROR_BITS),
                **dict.fromkeys(("encodes", "decodes"), In(1)),
                "padded": Out(1),
            }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        with m.If(self.choose):
            m.d.sync += self.operand.eq(self.choose_operand)
        with m.If(self.start):
            m.d.sync += [self.command.eq(self.start_command), self.operand.eq(Operand.X)]
        m.d.comb += [self.settled.eq(1), self.refused.eq(self.refused_write)]
        if self.draws:
            m.d.sync += self.give_up.eq(0)
        faulty = Signal()  # the result was changed; everything is wiped
        lacking = Signal()  # no random bytes came; everything is wiped
        with m.FSM(init="CLEAR"):
            self._load(m)
            self._check(m)
            with m.State("CLIP"):
                with m.If(self.clipped):
                    m.d.comb += self.refused.eq(Error.INPUT_CLIPPED)
                if self.padding:
                    with m.If(self.encodes):
                        m.d.comb += self.pad_start.eq(1)
                        m.d.sync += self.padded.eq(1)
                        m.next = "ENCODE"
                    with m.Else():
                        self._feed(m)
                else:
                    self._feed(m)
            with m.State("INPUT"):
                m.d.comb += self.feed.eq(1)
                if not self.checked:  # else the modulus determines the number of digits
                    m.d.comb += self.loaded.eq(self.converted)
                with m.If(self.converted & self.excess):
                    self._end(m, Error.OPERAND_RANGE)
                if self.checked:
                    with m.Elif(self.converted & ~self.whole):
                        self._end(m, Error.FAULT)
                with m.Elif(self.converted):
                    m.next = "START"
            # After reset, when every access waits, and for WIPE: no data of another user remains.
            with m.State("CLEAR"):
                m.d.comb += [self.wipe.eq(1), self.settled.eq(0)]
                with m.If(self.wiped):
                    m.next = "IDLE"
            with m.State("FORGET"):
                m.d.comb += self.wipe_all.eq(1)
                m.d.sync += self.command.eq(Command.WIPE)  # however this state was reached
                m.next = "WIPE"
            with m.State("WIPE"):
                m.d.comb += self.wipe.eq(1)
                with m.If(self.wiped):
                    m.next = "START"
            self._run(m, faulty, lacking)
            if self.padding:
                self._pad(m, lacking)
        with m.If(self.start):
            m.d.sync += faulty.eq(0)
            if self.draws:
                m.d.sync += lacking.eq(0)
            if self.padding:
                m.d.sync += self.padded.eq(0)
        return m

    def _run(self, m: Module, faulty: Signal, lacking: Signal) -> None:
        """The engine works; then its result is checked, and shown or wiped."""
        with m.State("START"):
            m.d.comb += self.engine_start.eq(1)
            m.next = "RUN"
            if self.checked:
                m.d.comb += [
                    uses_up.eq(among(self.command, commands))
                    for uses_up, commands in zip(self.uses_up, self.used_up, strict=True)
                ]
        with m.State("RUN"):
            m.d.comb += self.running.eq(1)
            with m.If(self.engine_done):
                with m.If((self.engine_error != Error.NONE) | (self.command == Command.WIPE)):
                    error = Mux(faulty, Error.FAULT, self.engine_error)
                    self._end(m, Mux(lacking, Error.SOURCE, error) if self.draws else error)
                with m.Else():
                    m.d.comb += [self.convert.eq(1), self.to_words.eq(1)]
                    m.next = "OUTPUT"
            if self.checked:  # the engine has wiped its memory
                m.d.comb += self.forget.eq(self.engine_done & (self.engine_error == Error.FAULT))
            self._give_up(m, lacking)
        with m.State("OUTPUT"):
            if self.checked:
                # An unchecked result ends with an error, however this state was reached.
                unsound = ~self.sound | (self.engine_error != Error.NONE)
                with m.If(self.converted & unsound):
                    m.d.sync += [faulty.eq(1), self.command.eq(Command.WIPE)]
                    m.next = "FAULT"
                self._show(m, self.converted & ~unsound)
            else:
                self._show(m, self.converted)
        if self.checked:
            # As for WIPE, but with an error; the engine may have begun to wipe its memory.
            with m.State("FAULT"), m.If(~self.engine_busy):
                m.next = "FORGET"

    def _give_up(self, m: Module, lacking: Signal) -> None:
        """A command that waits for random bytes ends: by WIPE, or since none will come."""
        if not self.draws:
            return
        m.d.comb += self.endable.eq(1)
        with m.If(self.start | self.starved):
            m.d.sync += self.give_up.eq(1)
            m.d.comb += self.end.eq(0)
            m.next = "FORGET"
        with m.If(self.starved & ~self.start):
            m.d.sync += [lacking.eq(1), self.command.eq(Command.WIPE)]

    def _end(self, m: Module, error: ValueLike) -> None:
        """End a command."""
        m.d.comb += [self.end.eq(1), self.end_error.eq(error)]
        m.next = "IDLE"

    def _feed(self, m: Module) -> None:
        """Begin to feed the input to the engine."""
        m.d.comb += [self.convert.eq(1), self.feed_first.eq(1)]
        m.next = "INPUT"

    def _load(self, m: Module) -> None:
        """Load the chosen operand."""
        with m.State("IDLE"):
            m.d.comb += [
                self.settled.eq(~self.converted & self.idle_gearbox),
                self.loaded.eq(self.converted),
            ]
            with m.If(self.converted):
                m.d.comb += [self.marks.eq(1), self.mark.eq(~self.excess)]
                with m.If(self.excess):
                    m.d.comb += self.refused.eq(Error.KEY_EXCESS)
            with m.If(self.start | self.choose):
                m.next = "LOOK_UP"
        with m.State("LOOK_UP"):
            m.d.comb += self.settled.eq(self.busy)
            with m.If(self.busy):
                m.next = "CHECK"
            with m.Else():
                m.next = "CHOOSE"
        with m.State("CHOOSE"):
            m.d.comb += self.settled.eq(0)
            with m.If(self.refusal != Error.NONE):
                m.d.comb += self.refused.eq(self.refusal)
            with m.Else():
                m.d.comb += [self.convert.eq(1), self.marks.eq(1)]
            m.next = "IDLE"

    def _check(self, m: Module) -> None:
        """Check a command."""
        empty: Value = self.empty & ~self.encodes if self.padding else self.empty
        with m.State("CHECK"):
            with m.If(self.command == Command.WIPE):
                m.next = "FORGET"
            with m.Elif(self.check_error != Error.NONE):
                self._end(m, self.check_error)
            with m.Elif(~self.needs_x):
                m.next = "START"
            with m.Elif(empty):
                self._end(m, Error.LENGTH_ZERO)
            with m.Else():
                m.next = "ROOM" if self.padding else "CLIP"

    def _show(self, m: Module, released: Value) -> None:
        """End a command with its result, or remove the result's padding first."""
        if self.padding:
            with m.If(released & self.decodes):
                m.d.comb += self.pad_start.eq(1)
                m.next = "DECODE"
            released = released & ~self.decodes
        with m.If(released):
            m.d.comb += self.succeed.eq(1)
            self._end(m, Error.NONE)

    def _pad(self, m: Module, lacking: Signal) -> None:
        """States that exist only with padding."""
        # The limit is known a cycle after the length, and the clipped length two cycles later.
        with m.State("ROOM"):
            m.next = "LIMIT"
            with m.If(self.pad_error != Error.NONE):
                self._end(m, self.pad_error)
        with m.State("LIMIT"):
            m.next = "CLIP"
        with m.State("ENCODE"):
            with m.If(self.pad_done):
                m.next = "FEED"
            self._give_up(m, lacking)
        with m.State("FEED"):
            self._feed(m)
        with m.State("DECODE"), m.If(self.pad_done):
            m.d.comb += self.succeed.eq(~self.pad_failed)
            self._end(m, Mux(self.pad_failed, Error.PADDING, Error.NONE))
