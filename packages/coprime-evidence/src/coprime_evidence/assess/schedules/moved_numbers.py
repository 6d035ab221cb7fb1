"""A netlist that moves numbers modulo q, executed cycle by cycle for all of them at once.

Yosys flattens the exported Verilog, but for the modules that are examined alone: the `Stage`s. A
bit is known (0 or 1), a bit of a `Number`, or may be anything (None). What moves bits is executed
exactly: registers, memories, multiplexers with a known condition. So are $add, $sub and $mul of
numbers and parts of numbers, if their results fit. A number has an interval, and is congruent to a
polynomial in the symbols that the memory began with. Any other bit may be anything, and no number
is made of it: an execution with a result proves that neither control nor addresses depend on
numbers. Memories are those of `moved_memory`.
"""

import json
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog

from .moved_memory import MovedMemory, may_be_same
from .moved_words import (
    Bit,
    Bits,
    ChosenBit,
    Number,
    Value,
    added,
    form_of,
    joined,
    lowest_bits_of,
    multiplied,
    value_of,
)

_TOP = "coprime_top"
_IGNORED = ("$scopeinfo",)
_FREE_BITS = 2
"""Of a table's address, so that all rows that it may be are looked at."""
_ARITHMETIC = ("$add", "$sub", "$mul")
_COMPARING = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$lt": lambda a, b: a < b,
    "$le": lambda a, b: a <= b,
    "$gt": lambda a, b: a > b,
    "$ge": lambda a, b: a >= b,
}


class Stage(ABC):
    """A module that is examined alone, and what it does with numbers: a pipeline.

    Attributes
    ----------
    module : its name in the exported Verilog, below the top module
    outputs : its outputs
    """

    module: str
    outputs: tuple[str, ...]

    @abstractmethod
    def step(self, inputs: Mapping[str, Bits]) -> None:
        """A clock edge, with the inputs of the cycle before it."""

    @abstractmethod
    def words(self) -> Mapping[str, Bits]:
        """The outputs in a cycle."""

    @abstractmethod
    def forget(self) -> None:
        """From now on registers may hold anything."""


class Combination(ABC):
    """A module without registers that is examined alone, and what it does with numbers.

    Attributes
    ----------
    module : its name in the exported Verilog, below the top module
    output : its output
    """

    module: str
    output: str

    @abstractmethod
    def found(self, inputs: Mapping[str, Bits]) -> Bits:
        """The output's word."""


class MovedNumbers:
    """A component at work.

    Parameters
    ----------
    component : with a memory, or with one in each of its lanes, and as many of each module
    modules : those that are examined alone
    modulus : q

    Attributes
    ----------
    registers : the word of each register that is not in a stage
    memories : of the lanes
    """

    def __init__(
        self,
        component: wiring.Component,
        modules: Sequence[type[Stage] | type[Combination]],
        modulus: int,
    ) -> None:
        self.modulus = modulus
        text = to_verilog(component, _TOP)
        alone = {name: module for module in modules for name in _named(module.module, text)}
        module = _flattened(text, list(alone))
        ports = module["ports"]
        self.inputs = {n: p["bits"] for n, p in ports.items() if p["direction"] == "input"}
        self.outputs = {n: p["bits"] for n, p in ports.items() if p["direction"] == "output"}
        cells = {
            name: cell for name, cell in module["cells"].items() if cell["type"] not in _IGNORED
        }
        self.memories = [
            MovedMemory(cells[name])
            for name in sorted(cells, key=_in_order_of_lanes)
            if cells[name]["type"] == "$mem_v2"
        ]
        self.kept = [cell for cell in cells.values() if cell["type"] == "$dff"]
        self.stages: list[tuple[Mapping[str, Any], Stage]] = []
        logic = []
        for cell in cells.values():
            kind = alone.get(cell["type"])
            if kind is not None and issubclass(kind, Stage):
                self.stages.append((cell, kind()))
            elif kind is not None:
                logic.append(_with_output(cell, kind()))
            elif cell["type"] not in ("$dff", "$mem_v2"):
                logic.append(cell)
        assert len(alone) == len(modules) * len(self.memories)
        self.logic = self._in_order(logic)
        self.bits: dict[Any, Bit] = {"0": 0, "1": 1, "x": None}
        # Of each cell what it was calculated from last: most do not change in most cycles, so that
        # only those are looked at of which a word that they read has changed.
        self.wires = [itemgetter("x", *_taken(cell)) for cell in self.logic]
        self.last: list[tuple[Bit, ...]] = [()] * len(self.logic)
        self.changed = bytearray(b"\1" * len(self.logic))
        self.driven: dict[Any, Bits] = {}  # words by their first bit
        self.readers_of: dict[Any, Sequence[int]] = {}
        self.readers: dict[Any, list[int]] = {}
        for k, cell in enumerate(self.logic):
            for bit in {*_taken(cell)}:
                self.readers.setdefault(bit, []).append(k)
        self.reads = [k for k, cell in enumerate(self.logic) if cell["type"] == "read"]
        self.names = {name: net["bits"] for name, net in module["netnames"].items()}
        first = _first_values(module)
        self.registers: list[Bits] = [
            tuple(first.get(bit) for bit in cell["connections"]["Q"]) for cell in self.kept
        ]

    def step(self, inputs: Mapping[str, Bits]) -> dict[str, Bits]:
        """Execute a cycle with these inputs, others may be anything; its outputs."""
        bits = self.bits
        for name, wires in self.inputs.items():
            self._drive(wires, inputs.get(name, (None,) * len(wires)))
        for cell, word in zip(self.kept, self.registers, strict=True):
            self._drive(cell["connections"]["Q"], word)
        for cell, stage in self.stages:
            for name, word in stage.words().items():
                self._drive(cell["connections"][name], word)
        for k in self.reads:
            self.changed[k] = 1
        while (k := self.changed.find(1)) >= 0:
            self.changed[k] = 0
            found, cell = self.wires[k](bits), self.logic[k]
            if found != self.last[k] or cell["type"] == "read":
                self.last[k] = found
                self._execute(cell)
        outputs = {name: tuple(bits[bit] for bit in found) for name, found in self.outputs.items()}
        for memory in self.memories:
            self._write(memory)
        self.registers = [self._word(cell, "D") for cell in self.kept]
        for cell, stage in self.stages:
            names = [name for name in cell["connections"] if name not in stage.outputs]
            stage.step({name: self._word(cell, name) for name in names})
        return outputs

    def hold(self, register: str, lowest: Bits) -> None:
        """Set a register's lowest bits, by the name of its signal."""
        wires = self.names[register]
        (place,) = (k for k, cell in enumerate(self.kept) if cell["connections"]["Q"] == wires)
        self.registers[place] = (*lowest, *self.registers[place][len(lowest) :])

    def assume(self, output: str, value: int) -> None:
        """Set the one register that an output depends on to the one word with which the output is
        this value; the memories, and each stage, may hold anything."""
        wires = set(self.outputs[output])
        for cell in reversed(self.logic):
            if wires.intersection(cell["connections"]["Y"]):
                wires |= {*_taken(cell)}
        (place,) = (
            k for k, cell in enumerate(self.kept) if wires.intersection(cell["connections"]["Q"])
        )
        before = list(self.registers)
        words = []
        for number in range(1 << len(before[place])):
            word = tuple(number >> k & 1 for k in range(len(before[place])))
            self.registers = [*before[:place], word, *before[place + 1 :]]
            if value_of(self.step({})[output], signed=False) == value:
                words.append(word)
        (word,) = words
        self.registers = [*before[:place], word, *before[place + 1 :]]
        self.forget()

    def forget(self) -> None:
        """The memories, and each stage, may hold anything."""
        for memory in self.memories:
            memory.forget()
        for _, stage in self.stages:
            stage.forget()

    def _in_order(self, cells: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Cells after those that drive them; the memories' ports for reading are some."""
        reading = [port for memory in self.memories for port in memory.reading]
        read = {bit for port in reading for bit in port["connections"]["Y"]}
        if any(read.intersection(_taken(cell)) for cell in cells):
            raise NotImplementedError("what is read is not in a register first")
        waiting = [*cells, *reading]
        known = {"0", "1", "x", *(bit for wires in self.inputs.values() for bit in wires)}
        known |= {bit for cell in self.kept for bit in cell["connections"]["Q"]}
        for cell, stage in self.stages:
            for name in stage.outputs:
                known |= {*cell["connections"][name]}
        ordered = []
        while waiting:
            ready = [cell for cell in waiting if known.issuperset(_taken(cell))]
            if not ready:
                raise NotImplementedError("a circle of cells")
            for cell in ready:
                known |= {*cell["connections"]["Y"]}
            ordered += ready
            waiting = [cell for cell in waiting if cell not in ready]
        return ordered

    def _drive(self, wires: Sequence[Any], word: Bits) -> None:
        first = wires[0]
        if self.driven.get(first) == word:
            return
        self.driven[first] = word
        self.bits.update(zip(wires, word, strict=True))
        for k in self._readers_of(wires):
            self.changed[k] = 1

    def _readers_of(self, wires: Sequence[Any]) -> Sequence[int]:
        """The cells that read a bit of a word that is driven."""
        first = wires[0]
        if first not in self.readers_of:
            found = {k for wire in wires for k in self.readers.get(wire, ())}
            self.readers_of[first] = sorted(found)
        return self.readers_of[first]

    def _word(self, cell: Mapping[str, Any], port: str) -> Bits:
        bits = self.bits
        return tuple(bits[bit] for bit in cell["connections"][port])

    def _write(self, memory: MovedMemory) -> None:
        """And what is read in the same cycle may be anything."""
        enable, address, word = (
            self._word(memory.cell, port) for port in ("WR_EN", "WR_ADDR", "WR_DATA")
        )
        if set(enable) == {0}:
            return
        memory.write(enable, address, word)
        for port in memory.reading:
            if may_be_same(self._word(port, "A"), address):
                wires = port["connections"]["Y"]
                self._drive(wires, (None,) * len(wires))

    # --- Cells -----------------------------------------------------------------------------------

    def _execute(self, cell: Mapping[str, Any]) -> None:
        kind = cell["type"]
        width = len(cell["connections"]["Y"])
        if kind == "read":
            word = cell["memory"].read(self._word(cell, "A"), width)
        elif kind == "alone":
            inputs = {port: self._word(cell, port) for port in cell["connections"] if port != "Y"}
            word = cell["module"].found(inputs)
        elif kind in ("$mux", "$pmux"):
            word = self._selected(cell, width)
        elif kind in _ARITHMETIC:
            word = self._calculated(cell, width)
        else:
            word = _logic(kind, self._operands(cell), width)
        self._drive(cell["connections"]["Y"], word)

    def _operands(self, cell: Mapping[str, Any]) -> list[tuple[Bits, bool]]:
        """The operands, and whether they are signed."""
        parameters = cell["parameters"]
        return [
            (self._word(cell, port), bool(int(parameters[f"{port}_SIGNED"], 2)))
            for port in ("A", "B")
            if port in cell["connections"]
        ]

    def _selected(self, cell: Mapping[str, Any], width: int) -> Bits:
        zero, rows, select = (self._word(cell, port) for port in ("A", "B", "S"))
        words = [zero, *(rows[k : k + width] for k in range(0, len(rows), width))]
        if all(isinstance(bit, int) for bit in select):
            chosen = [k for k, bit in enumerate(select) if bit]
            return words[chosen[0] + 1 if chosen else 0] if len(chosen) < 2 else (None,) * width
        condition = select[0]
        if len(select) == 1 and isinstance(condition, tuple):
            return _chosen(*condition, *words)
        return tuple(
            found[0] if all(bit == found[0] for bit in found) else None
            for found in zip(*words, strict=True)
        )

    def _calculated(self, cell: Mapping[str, Any], width: int) -> Bits:
        operands = self._operands(cell)
        signed = all(is_signed for _, is_signed in operands)
        kind = cell["type"]
        values = [self._operand(bits, width, signed=signed) for bits, _ in operands]
        if kind == "$add" and None in values:
            return self._corrected([bits for bits, _ in operands], values, width)
        a, b = values
        if a is None or b is None:
            return (None,) * width
        if isinstance(a, int) and isinstance(b, int):
            total = {"$add": a + b, "$sub": a - b, "$mul": a * b}[kind]
            return tuple(total >> k & 1 for k in range(width))
        found = self._made(kind, a, b)
        return found.bits(width) if found.width <= width else (None,) * width

    def _operand(self, bits: Bits, width: int, *, signed: bool) -> Value | None:
        """What a cell of so many bits takes a word for."""
        if width <= len(bits):  # modulo 2^width, so that the word is any number that ends in it
            number = lowest_bits_of(bits)
            if number is not None:
                return number
        found = value_of(bits, signed=signed)
        return joined(bits, self.modulus, signed=signed) if found is None else found

    def _made(self, kind: str, a: Value, b: Value) -> Number:
        ends = [(v, v) if isinstance(v, int) else (v.low, v.high) for v in (a, b)]
        first, second = (form_of(value, self.modulus) for value in (a, b))
        if kind == "$mul":
            products = [x * y for x in ends[0] for y in ends[1]]
            return Number(min(products), max(products), multiplied(first, second, self.modulus))
        sign = 1 if kind == "$add" else -1
        low, high = ends[1] if sign == 1 else (-ends[1][1], -ends[1][0])
        form = added(first, second, sign, self.modulus)
        return Number(ends[0][0] + low, ends[0][1] + high, form)

    def _corrected(self, words: Sequence[Bits], values: Sequence[Value | None], width: int) -> Bits:
        """A number, and a constant that its sign chooses."""
        for value, bits in ((values[0], words[1]), (values[1], words[0])):
            if not isinstance(value, Number):
                continue
            pair = _chosen_by_sign(bits, value)
            if pair is None or (pair[0] - pair[1]) % self.modulus:
                continue
            zero, one = pair
            ends = [value.low + one, one - 1, zero, value.high + zero]
            form = added(value.form, {(): zero % self.modulus}, 1, self.modulus)
            found = Number(min(ends), max(ends), form)
            if found.width <= width:
                return found.bits(width)
        return (None,) * width


def _named(module: str, text: str) -> list[str]:
    """The names of a module of the top module, of its `datapath`, or of each of its lanes; equal
    names have a number."""
    pattern = rf"^module ({_TOP}_(?:datapath_)?(?:lane_\d+_)?{module}(?:_\d+)?) \("
    return [str(found) for found in re.findall(pattern, text, re.MULTILINE)]


def _in_order_of_lanes(cell: str) -> list[int]:
    """The numbers in a cell's name."""
    return [int(digits) for digits in re.findall(r"lane_(\d+)", cell)]


def _with_output(cell: Mapping[str, Any], module: Combination) -> Mapping[str, Any]:
    """A module that is examined alone, with its output as Y, as of other cells."""
    ports = {name: wires for name, wires in cell["connections"].items() if name != module.output}
    output = cell["connections"][module.output]
    return {"type": "alone", "module": module, "connections": {**ports, "Y": output}}


def _flattened(text: str, alone: Sequence[str]) -> Any:
    """The top module, but for the modules that are examined alone."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "top.v").write_text(text, encoding="utf-8")
        recipe = [
            "read_verilog top.v",
            f"hierarchy -check -top {_TOP}",
            *(f"setattr -mod -set keep_hierarchy 1 {name}" for name in alone),
            *("proc -norom", "flatten", "opt_clean", "memory_collect", "check -assert"),
            "write_json top.json",
        ]
        run_yosys(recipe, folder)
        return json.loads((folder / "top.json").read_text(encoding="utf-8"))["modules"][_TOP]


def _taken(cell: Mapping[str, Any]) -> list[Any]:
    """The bits that a cell is calculated from."""
    ports = cell["connections"].items()
    return [bit for port, wires in ports if port != "Y" for bit in wires]


def _first_values(module: Mapping[str, Any]) -> dict[Any, int]:
    """Of each bit that has one, what it holds first."""
    found = {}
    for net in module["netnames"].values():
        for bit, digit in zip(net["bits"], net["attributes"].get("init", "")[::-1], strict=False):
            if digit in "01":
                found[bit] = int(digit)
    return found


def _chosen_by_sign(bits: Bits, number: Number) -> tuple[int, int] | None:
    """The constants that a word is, if the number is not negative, and if it is."""
    zero = one = 0
    for k, bit in enumerate(bits):
        if isinstance(bit, ChosenBit) and bit.number is number and bit.place == number.width - 1:
            zero, one = zero | bit.zero << k, one | bit.one << k
        elif bit == (number, number.width - 1):
            one |= 1 << k
        elif isinstance(bit, int):
            zero, one = zero | bit << k, one | bit << k
        else:
            return None
    half = 1 << len(bits) - 1
    return (zero ^ half) - half, (one ^ half) - half


def _chosen(number: Number, place: int, zero: Bits, one: Bits) -> Bits:
    """Words of which a bit of a number chooses one."""
    return tuple(
        ChosenBit(number, place, a, b)
        if isinstance(a, int) and isinstance(b, int) and a != b
        else a
        if a == b
        else None
        for a, b in zip(zero, one, strict=True)
    )


def _logic(kind: str, operands: Sequence[tuple[Bits, bool]], width: int) -> Bits:
    """Cells that are exact on known bits only; a known bit of $and and $or may be enough."""
    words = [bits for bits, _ in operands]
    if kind in ("$and", "$or", "$xor", "$not"):
        extended = [_extended(bits, width, signed) for bits, signed in operands]
        if kind == "$not":
            return tuple(1 - a if isinstance(a, int) else None for a in extended[0])
        return tuple(_bitwise(kind, a, b) for a, b in zip(*extended, strict=True))
    if kind in ("$reduce_and", "$reduce_or", "$reduce_bool", "$logic_not", "$reduce_xor"):
        found = _reduced(kind, words[0])
        return (found, *(0,) * (width - 1))
    a, b = (value_of(bits, signed=signed) for bits, signed in operands)
    place = words[1][0]
    if kind == "$shr" and isinstance(a, int) and len(words[1]) == 1 and isinstance(place, tuple):
        a &= (1 << len(words[0])) - 1  # a table with a row for each sign
        return _chosen(*place, *(tuple(a >> s + k & 1 for k in range(width)) for s in range(2)))
    if kind == "$shr" and isinstance(a, int) and not isinstance(b, int):
        return _looked_up(a & (1 << len(words[0])) - 1, words[1], width)
    if not isinstance(b, int) or not isinstance(a, int):
        return (None,) * width
    if kind in _COMPARING:
        return (int(_COMPARING[kind](a, b)), *(0,) * (width - 1))
    if kind in ("$shl", "$shr"):
        a &= (1 << len(words[0])) - 1
        total = a << b if kind == "$shl" else a >> b
        return tuple(total >> k & 1 for k in range(width))
    raise NotImplementedError(f"no rule for a cell of the kind {kind}")


def _looked_up(table: int, address: Bits, width: int) -> Bits:
    """A table, from an address on of which some bits may be anything."""
    if sum(not isinstance(bit, int) for bit in address) > _FREE_BITS:
        return (None,) * width
    places = [0]
    for k, bit in enumerate(address):
        values = (bit,) if isinstance(bit, int) else (0, 1)
        places = [place | value << k for place in places for value in values]
    rows = {table >> place for place in places}
    return tuple(
        found.pop() if len(found := {row >> k & 1 for row in rows}) == 1 else None
        for k in range(width)
    )


def _extended(bits: Bits, width: int, signed: bool) -> Bits:
    return (*bits, *((bits[-1] if signed else 0,) * (width - len(bits))))[:width]


def _bitwise(kind: str, a: Bit, b: Bit) -> Bit:
    if isinstance(b, int):
        a, b = b, a
    if isinstance(a, int) and isinstance(b, int):
        return {"$and": a & b, "$or": a | b, "$xor": a ^ b}[kind]
    if not isinstance(a, int) or kind == "$xor":
        return b if a == 0 and isinstance(a, int) else None
    absorbing = 0 if kind == "$and" else 1
    return absorbing if a == absorbing else b


def _reduced(kind: str, bits: Bits) -> Bit:
    known = [bit for bit in bits if isinstance(bit, int)]
    if kind == "$reduce_and":
        return 0 if 0 in known else 1 if len(known) == len(bits) else None
    if kind == "$reduce_xor":
        return sum(known) % 2 if len(known) == len(bits) else None
    found: Bit = 1 if 1 in known else 0 if len(known) == len(bits) else None
    return (1 - found if isinstance(found, int) else None) if kind == "$logic_not" else found
