"""The state machine of the front end of an engine of byte strings."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.calls.interface import WIPE, EngineInterface
from coprime.engine.capabilities import COMMAND_BITS, ERROR_BITS, Error


class CallControl(wiring.Component):
    """Starts calls whose inputs are complete, and keeps the slots' marks.

    | states | action | cycles |
    |---|---|---|
    | CLEAR | after a reset, its own too, the engine clears itself | the engine's |
    | IDLE | slots are loaded and read | |
    | CHECK | a command: is it known, are its inputs complete and taken | 1, or until they are |
    | START, RUN | the engine works | 1 and the engine's |

    WIPE while a command runs resets the engine, which then clears itself, and ends as any WIPE. So
    does a source of random bytes that fails, with an error.

    Parameters
    ----------
    interface: that of the engine
    sourced: random bytes come from a source in the hardware

    Members
    -------
    start, start_command: a command begins; WIPE only while another one runs
    busy: a command runs
    begins, loaded, slot, held: as in SlotAccess
    starved: the command waits for random bytes, and none will come; only if `sourced`
    forget: all slots are no longer complete
    engine_start, engine_busy, engine_done, engine_error, given: as in the engine
    call: the command that runs
    complete: a bit for each slot that is complete
    running: the engine works
    reset_engine: it is reset
    clearing: it clears itself after a reset
    end, end_error: a command ends
    """

    def __init__(self, interface: EngineInterface, *, sourced: bool):
        self.interface, self.sourced = interface, sourced
        numbers = max(slot.number for slot in interface.slots) + 1
        inputs = ("start", "busy", "begins", "loaded", "held", "forget")
        super().__init__(
            {
                **dict.fromkeys((*inputs, "engine_busy", "engine_done"), In(1)),
                **({"starved": In(1)} if sourced else {}),
                "start_command": In(COMMAND_BITS),
                "slot": In(interface.slot_bits),
                "engine_error": In(ERROR_BITS),
                "given": In(numbers),
                "engine_start": Out(1),
                "call": Out(COMMAND_BITS),
                "complete": Out(numbers),
                **dict.fromkeys(("running", "reset_engine", "clearing", "end"), Out(1)),
                "end_error": Out(ERROR_BITS),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        with m.If(self.begins | self.loaded):
            m.d.sync += self.complete.bit_select(self.slot, 1).eq(self.loaded)
        with m.If(self.forget):
            m.d.sync += self.complete.eq(0)
        with m.If(self.start):
            m.d.sync += self.call.eq(self.start_command)
        check_error = self._check(m)
        cause = Signal(Error)  # of the end after a reset
        if self.sourced:
            with m.If(self.start):
                m.d.sync += cause.eq(Error.NONE)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += self.clearing.eq(1)
                with m.If(~self.engine_busy):
                    m.next = "IDLE"
                    m.d.comb += self.end.eq(self.busy)
                    if self.sourced:
                        m.d.comb += self.end_error.eq(cause)
            with m.State("IDLE"), m.If(self.start):
                m.next = "CHECK"
            with m.State("CHECK"):
                with m.If(~self.held):
                    m.next = "START"
                    with m.If(check_error != Error.NONE):
                        self._end(m, check_error)
                self._give_up(m)
            with m.State("START"):
                m.d.comb += self.engine_start.eq(1)
                m.next = "RUN"
                self._give_up(m)
            with m.State("RUN"):
                m.d.comb += self.running.eq(1)
                with m.If(self.engine_done):
                    m.d.sync += self.complete.eq(Mux(self.call == WIPE, 0, self.given))
                    self._end(m, self.engine_error)
                if self.sourced:
                    with m.If(self.starved):
                        m.d.comb += self.reset_engine.eq(1)
                        m.d.sync += [self.complete.eq(0), cause.eq(Error.SOURCE)]
                        m.next = "CLEAR"
                self._give_up(m)
        return m

    def _give_up(self, m: Module) -> None:
        """WIPE while a command runs, whatever else this cycle does."""
        with m.If(self.start):
            m.d.comb += [self.reset_engine.eq(1), self.end.eq(0)]
            m.d.sync += self.complete.eq(0)
            m.next = "CLEAR"

    def _check(self, m: Module) -> Signal:
        """Why the engine is not started."""
        slot = self.interface.slot
        error = Signal(Error)
        with m.Switch(self.call):
            for call in self.interface.calls:
                needed = {slot[name] for name in call.inputs if name not in call.optional}
                mask = sum(1 << each.number for each in needed if not each.streamed)
                with m.Case(call.code), m.If((~self.complete & mask).any()):
                    m.d.comb += error.eq(Error.OPERAND_MISSING)
            with m.Case(WIPE):
                pass
            with m.Default():
                m.d.comb += error.eq(Error.UNSUPPORTED)
        return error

    def _end(self, m: Module, error: ValueLike) -> None:
        """End a command."""
        m.d.comb += [self.end.eq(1), self.end_error.eq(error)]
        m.next = "IDLE"
