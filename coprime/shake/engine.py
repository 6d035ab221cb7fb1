"""The engine `shake`: a hash unit that is loaded, started and read as any engine of byte strings.

Source: FIPS 202, section 6. Cycles: `ShakeDesign.predict`.
"""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from coprime.calls.interface import WIPE
from coprime.calls.ports import CallSignature
from coprime.cells.keccak.hash_unit import HashUnit
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.engine.capabilities import Error
from coprime.model.keccak import FUNCTIONS

from .interface import FIRST_CODE, INTERFACE, MASKED_INTERFACE, MESSAGE, OUTPUT, OUTPUT_BYTES

LENGTH_BITS = 32


class ShakeEngine(wiring.Component):
    """SHA3-224 to SHA3-512, SHAKE128 and SHAKE256. Ports: CallSignature.

    | states | action |
    |---|---|
    | CLEAR | after a reset, or for WIPE: the hash unit forgets everything |
    | IDLE | the length of an output is loaded |
    | COMMAND | the hash unit is given the function and the length; with masks their seed begins |
    | MASKS | of a masked engine: these have a seed, and the hash unit is given the same |
    | REFUSE | an output of no bytes is asked for: SLOT_LENGTH |
    | HASH | the message enters, then the output leaves; with its last word the call ends |

    One block is enough: the next message is taken only
    after the output.

    Parameters
    ----------
    slices (int): of the state in a cycle: 4, 8, 16, 32 or 64
    target (Target): LUTs are placed on xc7
    masked (bool): the state is in two shares, whose masks get a seed of SEED_BYTES random bytes in
        each call
    """

    def __init__(self, slices: int, target: Target = Target.GENERIC, *, masked: bool = False):
        self.unit = HashUnit(slices, 1, LENGTH_BITS, target, masked=masked)
        self.interface = MASKED_INTERFACE if masked else INTERFACE
        super().__init__(CallSignature(self.interface))

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.unit = unit = self.unit
        function = Signal(range(len(FUNCTIONS)))
        length = Signal(LENGTH_BITS)
        fixed = look_up([known.digest_bytes for known in FUNCTIONS], function, 7)
        command = unit.command.payload
        hashes, clears = Signal(), Signal()
        m.d.comb += [
            command.function.eq(function),
            command.length.eq(Mux(fixed == 0, length, fixed)),
            unit.message.payload.eq(self.load.payload.word),
            unit.message.valid.eq(
                hashes & self.load.valid & (self.load.payload.slot == MESSAGE.number)
            ),
            self.output.payload.eq(unit.output.payload),
            self.output.valid.eq(hashes & unit.output.valid & (self.read_slot == OUTPUT.number)),
            unit.output.ready.eq(self.output.valid & self.output.ready),
            self.working.eq(unit.computes | clears),
            self.multiplying.eq(unit.computes),
            self.given.eq(Mux(clears, 0, self.complete)),
        ]
        if unit.masked:
            connect(m, flipped(self.random), unit.random)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += [self.busy.eq(1), clears.eq(1), self.done.eq(~unit.wiping)]
                m.d.sync += length.eq(0)
                with m.If(~unit.wiping):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += self.load.ready.eq(1)
                with m.If(self.load.valid & (self.load.payload.slot == OUTPUT_BYTES.number)):
                    m.d.sync += length.eq(self.load.payload.word.data)
                with m.If(self.start):
                    m.d.sync += [function.eq(self.call - FIRST_CODE), self.error.eq(Error.NONE)]
                    m.next = "COMMAND"
                    with m.If(self.call == WIPE):
                        m.d.comb += unit.wipe.eq(1)
                        m.next = "CLEAR"
            with m.State("COMMAND"):
                m.d.comb += self.busy.eq(1)
                with m.If(command.length == 0):
                    m.d.sync += self.error.eq(Error.SLOT_LENGTH)
                    m.next = "REFUSE"
                if unit.masked:
                    with m.Else():
                        m.d.comb += unit.reseed.eq(1)
                        m.next = "MASKS"
                else:
                    with m.Else():
                        m.d.comb += unit.command.valid.eq(1)
                        with m.If(unit.command.ready):
                            m.next = "HASH"
            if unit.masked:
                with m.State("MASKS"):
                    m.d.comb += [self.busy.eq(1), unit.command.valid.eq(unit.seeded)]
                    with m.If(unit.seeded):
                        m.next = "HASH"
            with m.State("REFUSE"):
                m.d.comb += [self.busy.eq(1), self.done.eq(1)]
                m.next = "IDLE"
            with m.State("HASH"):
                m.d.comb += [
                    self.busy.eq(1),
                    hashes.eq(1),
                    self.load.ready.eq(unit.message.ready & unit.message.valid),
                    self.done.eq(unit.output.ready & unit.output.payload.last),
                ]
                with m.If(self.done):
                    m.next = "IDLE"
        return m
