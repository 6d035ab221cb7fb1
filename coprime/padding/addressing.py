"""Pointer, bound, block counter and the lengths they refer to, in hardware and in integers."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.model.padding_formats import DIGEST_BYTES, bytes_of

from .instructions import EXECUTION, Base, ByteStep, ByteStepKind

LENGTH_BITS = 16
SALT_BITS = bits_for(DIGEST_BYTES)


def addresses(count_bits: int) -> data.StructLayout:
    """Where a program is. `size`: bytes of the modulus, a cycle after `modulus_length`;
    `input_length`: bytes of the input; `address`: of the byte below the pointer; `at_bound`: the
    pointer is at the bound; `block`: number of the block; `repeat`: a LOOP jumps."""
    return data.StructLayout(
        {
            "size": count_bits,
            "input_length": count_bits,
            "address": count_bits,
            "at_bound": 1,
            "block": 8,
            "repeat": 1,
        }
    )


class Addressing(wiring.Component):
    """SET_POINTER, SET_BOUND, SET_LENGTH, and the counter of LOOP.

    Parameters
    ----------
    count_bits : bits of a length in bytes, and of an address

    Members
    -------
    start, modulus_length, salt_length : as in PaddingUnit
    given_length : its `input_length`
    now : EXECUTION
    at : `addresses`
    """

    def __init__(self, count_bits: int):
        self.count_bits = count_bits
        ports = {
            "start": In(1),
            "modulus_length": In(LENGTH_BITS),
            "given_length": In(count_bits),
            "salt_length": In(SALT_BITS),
            "now": In(EXECUTION),
            "at": Out(addresses(count_bits)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Select the base, add, store."""
        m = Module()
        now, at = self.now, self.at
        step = now.step
        encoded_size = Signal(self.count_bits)
        pointer, bound = Signal(self.count_bits), Signal(self.count_bits)
        base, target = Signal(self.count_bits), Signal(self.count_bits)
        with m.Switch(step.base):
            for name, value in (
                (Base.MODULUS, at.size),
                (Base.ENCODED, encoded_size),
                (Base.INPUT, at.input_length),
                (Base.SALT, self.salt_length),
            ):
                with m.Case(name):
                    m.d.comb += base.eq(value)
        blocks = Cat(Const(0, 5), Mux(step.minus_blocks, at.block, 0))
        m.d.comb += [
            target.eq(base + step.literal.as_signed() - blocks),
            at.address.eq(pointer - 1),
            at.at_bound.eq(pointer == bound),
            at.repeat.eq(~Mux(step.bounded, at.at_bound, (at.block + 1) == step.count)),
        ]
        m.d.sync += [
            at.size.eq((self.modulus_length + 7) >> 3),
            encoded_size.eq((self.modulus_length + 6) >> 3),
        ]
        with m.If(self.start):
            m.d.sync += [at.input_length.eq(self.given_length), at.block.eq(0)]
        with m.If(now.act & step.advance):
            m.d.sync += pointer.eq(at.address)
        with m.If(now.execute), m.Switch(step.kind):
            with m.Case(ByteStepKind.SET_POINTER):
                m.d.sync += pointer.eq(target)
            with m.Case(ByteStepKind.SET_BOUND):
                m.d.sync += bound.eq(target)
            with m.Case(ByteStepKind.SET_LENGTH):
                m.d.sync += at.input_length.eq(step.literal)
            with m.Case(ByteStepKind.LOOP):
                m.d.sync += at.block.eq(Mux(at.repeat, at.block + 1, 0))
        return m


@dataclass
class AddressingTwin:
    """What Addressing does, in integers."""

    bits: int
    input_length: int
    salt_length: int
    pointer: int = 0
    bound: int = 0
    block: int = 0

    @property
    def size(self) -> int:
        """Bytes of the modulus."""
        return bytes_of(self.bits)

    @property
    def address(self) -> int:
        """Address of the byte below the pointer."""
        return self.pointer - 1

    def at_bound(self) -> bool:
        """Whether the pointer is at the bound."""
        return self.pointer == self.bound

    def repeat(self, step: ByteStep) -> bool:
        """Whether a LOOP jumps."""
        return not (self.at_bound() if step.bounded else self.block + 1 == step.count)

    def execute(self, step: ByteStep) -> None:
        """Execute a step."""
        base = {
            Base.ZERO: 0,
            Base.MODULUS: self.size,
            Base.ENCODED: bytes_of(self.bits - 1),
            Base.INPUT: self.input_length,
            Base.SALT: self.salt_length,
        }[step.base]
        blocks = DIGEST_BYTES * self.block if step.minus_blocks else 0
        match step.kind:
            case ByteStepKind.SET_POINTER:
                self.pointer = base + step.literal - blocks
            case ByteStepKind.SET_BOUND:
                self.bound = base + step.literal
            case ByteStepKind.SET_LENGTH:
                self.input_length = step.literal
            case ByteStepKind.LOOP:
                self.block = self.block + 1 if self.repeat(step) else 0

    def act(self, step: ByteStep) -> None:
        """Go on to the next byte."""
        self.pointer -= step.advance
