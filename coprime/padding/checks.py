"""The checks of bytes, the length of the message, and implicit rejection, in hardware and integers.

Nothing depends on the outcome before the last pass over the message, see `ByteStep.release`.
"""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.padding_formats import PKCS1_BYTES, candidate_limit, candidate_mask

from .addressing import addresses
from .instructions import EXECUTION, ByteStep, ByteStepKind, Check


class Checks(wiring.Component):
    """The checks of a STREAM, and DECIDE. `count_bits` is as in Addressing.

    Members
    -------
    start : as in PaddingUnit
    now : EXECUTION
    at : `addresses`
    value : the byte
    upper : it is the upper one of a candidate's two bytes
    bad : a check has failed since the start
    length : bytes of the message that was found; after a DECIDE, those that software gets
    """

    def __init__(self, count_bits: int):
        self.count_bits = count_bits
        ports = {
            "start": In(1),
            "now": In(EXECUTION),
            "at": In(addresses(count_bits)),
            "value": In(8),
            "upper": In(1),
            "bad": Out(1),
            "length": Out(count_bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Compare, find the separator, select a candidate."""
        m = Module()
        separated = Signal()
        alternative = Signal(self.count_bits)
        upper_byte = Signal(8)
        limit = Signal(self.count_bits)
        check = Signal(Check)
        is_zero = self.value == 0
        candidate = Cat(self.value, upper_byte)[: self.count_bits] & _ones_up_to(limit)
        m.d.comb += [
            limit.eq(self.at.size - (PKCS1_BYTES - 1)),
            check.eq(Mux(self.now.act, self.now.step.check, Check.NONE)),
        ]
        searches = check.matches(Check.FIND, Check.FIND_STRICTLY) & ~separated
        wrong = (
            ((check == Check.ZERO) & ~is_zero)
            | ((check == Check.NONZERO) & is_zero)
            | (searches & (check == Check.FIND_STRICTLY) & (self.value[1:] != 0))
        )
        with m.If(self.start):
            m.d.sync += [self.bad.eq(0), self.length.eq(0), separated.eq(0), alternative.eq(0)]
        with m.If(wrong):
            m.d.sync += self.bad.eq(1)
        with m.If(searches & is_zero):
            m.d.sync += [separated.eq(1), self.length.eq(self.at.address)]
        with m.If(check == Check.CANDIDATE):
            with m.If(self.upper):
                m.d.sync += upper_byte.eq(self.value)
            with m.Elif(candidate < limit):
                m.d.sync += alternative.eq(candidate)
        decides = self.now.execute & (self.now.step.kind == ByteStepKind.DECIDE)
        with m.If(decides & (self.bad | ~separated)):
            m.d.sync += [self.bad.eq(1), self.length.eq(alternative)]
        return m


def _ones_up_to(limit: Value) -> Value:
    """Ones up to the highest 1: `candidate_mask`."""
    return Cat(limit[place:].any() for place in range(len(limit)))


@dataclass
class ChecksTwin:
    """What Checks does, in integers."""

    size: int
    bad: bool = False
    length: int = 0
    separated: bool = False
    alternative: int = 0
    upper_byte: int = 0

    def act(self, step: ByteStep, value: int, address: int, *, upper: bool) -> None:
        """Check a byte."""
        match step.check:
            case Check.ZERO:
                self.bad |= value != 0
            case Check.NONZERO:
                self.bad |= value == 0
            case Check.FIND | Check.FIND_STRICTLY:
                if not self.separated:
                    if value == 0:
                        self.separated, self.length = True, address
                    elif step.check is Check.FIND_STRICTLY:
                        self.bad |= value != 1
            case Check.CANDIDATE if upper:
                self.upper_byte = value
            case Check.CANDIDATE:
                limit = candidate_limit(self.size)
                candidate = (self.upper_byte << 8 | value) & candidate_mask(limit)
                if candidate < limit:
                    self.alternative = candidate

    def execute(self, step: ByteStep) -> None:
        """Execute a step."""
        if step.kind is ByteStepKind.DECIDE:
            self.bad |= not self.separated
            self.length = self.alternative if self.bad else self.length
