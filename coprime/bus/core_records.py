"""The records that a cluster's front end keeps for each core."""

from amaranth.hdl import Const, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.collector import distributed
from coprime.bus.operand_registers import OperandState, WrittenLength
from coprime.bus.port import WORD_BITS
from coprime.bus.shared_registers import CLASSES
from coprime.cells.wires import same_named
from coprime.engine.contract import Capabilities, Length, Operand


class CoreRecords(wiring.Component):
    """Lengths, digit counts and marks of complete operands of each core, and if it is occupied.

    Small memories hold them. The core's words are looked up as soon as it is selected: they are
    valid two cycles after `core` has changed, and a cycle after the memory has. Otherwise as
    `OperandRegisters`, for a core instead of an engine.

    Parameters
    ----------
    capabilities : of the engines
    cores : number of cores

    Members
    -------
    clear, clear_core : all records of this core become 0
    core, selected : the core to which the other ports refer, and whether there is one
    value, of_prime, enable : as in WrittenLength
    writes : a cycle later: bit k is 1 if the length of class k becomes `value`, which clears the
        marks of the class's operands
    loaded : an operand of class `loaded_class` has `loaded_digits` digits
    operand, set_mark, clear_mark : the operand's mark is set or cleared
    start, uses_up : a command that reads X starts: the marks of the operands that it uses up are
        cleared, which are X and, with a bit for each, sets of operands that any command uses up
    clear_marks : all marks are cleared
    occupy : the core becomes occupied
    release, release_core, release_forgets : this core is no longer occupied; with the last one,
        which is used only if results are `checked`, all its marks are cleared
    state : of the core; a length that is too long is stored as all ones
    occupied : the core is occupied
    asked_core, asked_digits, asked_length : digits and bits of that core's modulus, a cycle later
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        self.capabilities = capabilities
        self.length_bits = length_bits = bits_for(capabilities.max_length + 1)
        core = bits_for(cores - 1)
        self.held: dict[str, Memory] = {
            **{f"length_{k}": distributed(length_bits, cores) for k in range(len(CLASSES))},
            **{
                f"count_{k}": distributed(capabilities.count_bits, cores)
                for k in range(len(CLASSES))
            },
            "marks": distributed(capabilities.operand_count, cores),
            "occupied": distributed(1, cores),
        }
        ports = {
            "clear": In(1),
            "clear_core": In(range(cores + 8)),
            "core": In(core),
            "selected": In(1),
            "value": In(WORD_BITS),
            **dict.fromkeys(("of_prime", "enable"), In(1)),
            "writes": In(len(CLASSES)),
            "loaded": In(1),
            "loaded_class": In(range(len(Length))),
            "loaded_digits": In(capabilities.count_bits),
            "operand": In(capabilities.operand_bits),
            **dict.fromkeys(("set_mark", "clear_mark", "start"), In(1)),
            "uses_up": In(max(1, len(capabilities.used_up))),
            **dict.fromkeys(("clear_marks", "occupy", "release"), In(1)),
            "release_core": In(core),
            "release_forgets": In(1),
            "state": Out(OperandState(capabilities, length_bits)),
            "occupied": Out(1),
            "asked_core": In(core),
            "asked_digits": Out(capabilities.count_bits),
            "asked_length": Out(length_bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities, state = self.capabilities, self.state
        m.submodules.check = check = WrittenLength(capabilities)
        m.d.comb += same_named(check, self, "value", "of_prime", "enable")
        shown: dict[str, Value] = {"marks": state.complete, "occupied": self.occupied}
        for length_class in CLASSES:
            shown[f"length_{length_class.value}"] = state.lengths[length_class.field]
            shown[f"count_{length_class.value}"] = state.counts[length_class.field]
        writes = {}
        for name, memory in self.held.items():
            m.submodules[name] = memory
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [write.addr.eq(self.core), read.addr.eq(self.core)]
            with m.If(self.clear):
                m.d.comb += [write.addr.eq(self.clear_core), write.en.eq(1)]
            m.d.sync += shown[name].eq(read.data)
            with m.If(~self.selected):  # `core` is then not the number of a core
                m.d.sync += shown[name].eq(0)
            writes[name] = write

        mark = writes["marks"]
        too_long = (1 << self.length_bits) - 1
        for length_class in CLASSES:
            length, count = (writes[f"{n}_{length_class.value}"] for n in ("length", "count"))
            gone = sum(1 << name for name in capabilities.operands if name.length is length_class)
            held = state.lengths[length_class.field]
            m.d.comb += [
                state.absent[length_class].eq(held == 0),
                state.over[length_class].eq(held == too_long),
            ]
            with m.If(self.writes[length_class]):
                m.d.comb += [
                    length.en.eq(1),
                    length.data.eq(Mux(check.too_long, too_long, self.value)),
                    count.en.eq(1),
                    count.data.eq(check.count),
                    mark.en.eq(1),
                    mark.data.eq(state.complete & ~gone),
                ]
            with m.If(self.loaded & (self.loaded_class == length_class)):
                m.d.comb += [count.en.eq(1), count.data.eq(self.loaded_digits)]

        operands = capabilities.operand_count
        operand_mark = Signal(operands)
        m.d.comb += operand_mark.eq(1 << self.operand[: bits_for(operands - 1)])
        spent: Value = Const(1 << Operand.X, operands)
        if capabilities.checked:
            for uses_up, spends in zip(self.uses_up, capabilities.used_up, strict=True):
                spent |= Mux(uses_up, sum(1 << operand for operand in spends), 0)
        for condition, marked in (
            (self.set_mark, state.complete | operand_mark),
            (self.clear_mark, state.complete & ~operand_mark),
            (self.start, state.complete & ~spent),
            (self.clear_marks, Const(0)),
        ):
            with m.If(condition):
                m.d.comb += [mark.en.eq(1), mark.data.eq(marked)]

        occupancy = writes["occupied"]
        with m.If(self.occupy):
            m.d.comb += [occupancy.en.eq(1), occupancy.data.eq(1)]
        with m.If(self.release):
            m.d.comb += [occupancy.en.eq(1), occupancy.addr.eq(self.release_core)]
            if capabilities.checked:
                with m.If(self.release_forgets):
                    m.d.comb += [mark.en.eq(1), mark.addr.eq(self.release_core), mark.data.eq(0)]

        for name, answer in (("count_0", self.asked_digits), ("length_0", self.asked_length)):
            asked = self.held[name].read_port(domain="comb")
            m.d.comb += asked.addr.eq(self.asked_core)
            m.d.sync += answer.eq(asked.data)
        return m
