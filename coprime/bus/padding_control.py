"""The padding registers, their effect on a command, and the padding unit."""

from collections.abc import Collection

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.bus.gearbox import LENGTH_BITS
from coprime.bus.port import WORD_BITS
from coprime.bus.shared_registers import register_value
from coprime.cells.wires import same_named
from coprime.engine.contract import ERROR_BITS, Error
from coprime.model.padding_formats import DIGEST_BYTES
from coprime.padding.scheme import Padding, Scheme, task_of
from coprime.padding.tasks import Option, Task, is_digest, min_bytes, overhead
from coprime.padding.unit import PaddingUnit

LONGEST_BYPASSED = 64
"""Bits of the longest modulus for which messages are not padded."""

# Options on which the length of an input depends.
_FORMS = (Option.HASH, Option.DIGEST_INFO)
_SUCCEEDS = frozenset({Task.PKCS1_DECRYPT})  # tasks that must not reveal whether anything was wrong


class PaddingControl(wiring.Component):
    """The registers PADDING and PADDING_WINDOW, and the padding unit.

    Parameters
    ----------
    paddings : those that are built in, at least one
    max_length : longest modulus in bits

    Members
    -------
    writes, writes_window : a write of `value` to PADDING, or to word `word` of PADDING_WINDOW;
        while idle
    setting : the value that a read of PADDING returns
    begins : a command begins, by STATUS or by COMMAND, which never pads
    by_status, private : valid with `begins`: it was STATUS; its bit DECRYPT
    modulus_length : in bits; stable from then on
    size, input_length : bytes of the modulus and of the input, from the cycle before `error` is
        used
    encodes, decodes : the command pads before, or removes a padding after, the exponentiation
    limit : maximum length of the input in bytes; a cycle after `size`
    error : why the command is impossible; a cycle after `size`
    start : start the unit
    done, failed, length : the unit ends; valid then: whether it failed, bytes of the message
    busy : the unit is working, or wiping its slots
    wipe : clear the slots
    address, from_input, read_data, store, store_data, random : as the unit's
    """

    def __init__(self, paddings: Collection[Padding], max_length: int):
        self.paddings = frozenset(Padding(padding) for padding in paddings)
        tasks = {task for padding in self.paddings for task in padding.tasks}
        self.unit = PaddingUnit(tasks, max_length)
        passed = {
            name: self.unit.signature.members[name]
            for name in ("address", "from_input", "read_data", "store", "store_data", "random")
        }
        count = self.unit.count_bits
        ports = {
            **dict.fromkeys(("writes", "writes_window"), In(1)),
            "value": In(WORD_BITS),
            "word": In(self.unit.slot_address.shape()),
            "setting": Out(WORD_BITS),
            **dict.fromkeys(("begins", "by_status", "private"), In(1)),
            "modulus_length": In(LENGTH_BITS),
            **dict.fromkeys(("size", "input_length"), In(count)),
            **dict.fromkeys(("encodes", "decodes"), Out(1)),
            "limit": Out(count),
            "error": Out(ERROR_BITS),
            "start": In(1),
            **dict.fromkeys(("busy", "done", "failed"), Out(1)),
            "length": Out(count),
            "wipe": In(1),
            **passed,
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Describe the circuit."""
        m = Module()
        m.submodules.unit = unit = self.unit
        fields = {field.name: Signal(field.width) for field in registers.PADDING.fields}
        scheme = fields["SCHEME"]
        options = Cat(fields[option.name] for option in Option)
        salt_length = fields["SALT_LENGTH"]
        with m.If(self.writes):
            m.d.sync += [
                signal.eq(self.value[field.offset : field.offset + field.width])
                for field, signal in zip(registers.PADDING.fields, fields.values(), strict=True)
            ]
        with m.If(salt_length > DIGEST_BYTES):
            m.d.sync += salt_length.eq(DIGEST_BYTES)
        m.d.comb += self.setting.eq(register_value(registers.PADDING, **fields))

        # The task of the command.
        pads = self.by_status & (scheme != Scheme.NONE) & (self.modulus_length > LONGEST_BYPASSED)
        built = [padding for padding in Padding if padding in self.paddings]
        known = scheme.matches(*(of_padding for padding in built for of_padding in padding.schemes))
        signs = scheme.matches(*(choice for choice in Scheme if choice.signs))
        decodes = self.private ^ signs
        task = Signal(Task)
        unknown = Signal()
        with m.If(self.begins):
            m.d.sync += [
                self.encodes.eq(pads & ~decodes),
                self.decodes.eq(pads & decodes),
                unknown.eq(pads & ~known),
            ]
            with m.Switch(Cat(decodes, scheme)):
                for choice in Scheme:
                    if choice is not Scheme.NONE:
                        for after in (0, 1):
                            with m.Case(choice << 1 | after):
                                m.d.sync += task.eq(task_of(choice, bool(after)))

        # The lengths that it allows.
        least, less = Signal(self.size.shape()), Signal(self.size.shape())
        of_digest = Signal()
        is_pss = task.matches(Task.PSS_SIGN, Task.PSS_VERIFY)
        with m.Switch(Cat(options[: len(_FORMS)], task)):
            for work in sorted(unit.tasks):
                for form in range(1 << len(_FORMS)):
                    chosen = frozenset(option for option in _FORMS if form >> option & 1)
                    with m.Case(work << len(_FORMS) | form):
                        m.d.comb += [
                            least.eq(min_bytes(work, chosen)),
                            less.eq(overhead(work, chosen)),
                            of_digest.eq(is_digest(work, chosen)),
                        ]
        room = Mux(is_pss, (self.modulus_length + 6) >> 3, self.size)
        short = Signal()
        m.d.sync += [
            self.limit.eq(
                Mux(self.encodes, Mux(of_digest, DIGEST_BYTES, self.size - less), self.size)
            ),
            short.eq((self.encodes | self.decodes) & (room < least + Mux(is_pss, salt_length, 0))),
        ]
        m.d.comb += self.error.eq(
            Mux(unknown, Error.UNSUPPORTED, Mux(short, Error.PADDING_LENGTH, Error.NONE))
        )

        # The unit.
        m.d.comb += [
            *same_named(unit, self, "start", "wipe", "modulus_length", "input_length", "read_data"),
            *same_named(self, unit, "busy", "done", "length"),
            *same_named(self, unit, "address", "from_input", "store", "store_data"),
            unit.task.eq(task),
            unit.options.eq(options),
            unit.salt_length.eq(salt_length),
            unit.slot_write.eq(self.writes_window),
            unit.slot_address.eq(self.word),
            unit.slot_data.eq(self.value),
            self.failed.eq(self.decodes & unit.bad & ~task.matches(*_SUCCEEDS)),
        ]
        connect(m, flipped(self.random), unit.random)
        return m
