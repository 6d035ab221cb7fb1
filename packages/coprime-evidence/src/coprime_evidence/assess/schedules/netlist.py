"""The exported Verilog of a component, as a function that executes one of its cycles.

Yosys reads the Verilog and flattens it; its cells are executed in their order, each as the Yosys
manual defines it: on integers here, on symbols by `Rules`.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, compress
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog

from .cells import Bit, NetCell, in_fields, reached_from, without_reset
from .symbols import ANYTHING, Rules, Word

_TOP = "coprime_top"
_YOSYS = (
    f"hierarchy -check -top {_TOP}",
    "proc -norom",
    "flatten",
    "opt_clean",
    "memory_collect",
    "check -assert",
    "write_json top.json",
)
_ADDING = {"$add": ("add", "+"), "$sub": ("sub", "-"), "$mul": ("mul", "*")}
_BITWISE = {"$and": ("both", "&"), "$or": ("either", "|"), "$xor": ("differ", "^")}
_COMPARING = {"$eq": "==", "$ne": "!=", "$lt": "<", "$le": "<=", "$gt": ">", "$ge": ">="}
_REDUCING = {
    "$reduce_or": "int(a != 0)",
    "$reduce_bool": "int(a != 0)",
    "$reduce_and": "int(a == {ones})",
    "$reduce_xor": "a.bit_count() & 1",
    "$logic_not": "int(a == 0)",
}
_NONZERO = ("$reduce_or", "$reduce_bool")
_LOGIC = {"$logic_and": "int(a != 0 and b != 0)", "$logic_or": "int(a != 0 or b != 0)"}
_IGNORED = ("$scopeinfo",)

_DIGIT = 16
"""Bits of a digit, at least: inputs that have fewer are of control."""
_OFTEN = 300
"""Cycles in which the same of control is known before there is a function for that."""
Step = Callable[[Sequence[Word], Mapping[str, Word], Rules], tuple[list[Word], dict[str, Word]]]


@dataclass(frozen=True)
class Netlist:
    """A component: its registers, and what happens in a cycle.

    Parameters
    ----------
    widths : bits of each input
    registers : the name of each register, and of each word of a memory, and what it holds first
    register_widths : bits of each
    step : from the registers and the inputs to the registers in the next cycle and the outputs
    """

    widths: Mapping[str, int]
    registers: Mapping[str, Word]
    register_widths: Sequence[int]
    step: Step

    @classmethod
    def read(cls, component: wiring.Component) -> "Netlist":
        """Export it, and read what is exported; NotImplementedError of an unknown kind of cell."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "top.v").write_text(to_verilog(component, _TOP), encoding="utf-8")
            run_yosys(["read_verilog top.v", *_YOSYS], folder)
            design = json.loads((folder / "top.json").read_text(encoding="utf-8"))
        return _Reader(design["modules"][_TOP]).netlist()


class _Step:
    """Executes a cycle; after some time faster, as far as the words of control are integers.

    Parameters
    ----------
    sizes : where each memory begins and ends in the state
    """

    def __init__(self, reader: "_Reader", sizes: Sequence[tuple[int, int]]) -> None:
        self.reader, self.sizes = reader, sizes
        control = reader.control()
        self.ports = [name for name in reader.inputs if f"i_{name}" in control]
        self.registers = [f"r_{k}" in control for k in range(len(reader.kept))]
        self.names = [name for name in control if name[0] == "r"]
        self.names += [f"i_{name}" for name in self.ports]
        self.any = reader.function(sizes)
        self.seen: Counter[tuple[type, ...]] = Counter()
        self.known: dict[tuple[type, ...], Step] = {}

    def __call__(
        self, state: Sequence[Word], inputs: Mapping[str, Word], rules: Rules
    ) -> tuple[list[Word], dict[str, Word]]:
        registers = compress(state, self.registers)
        kinds = (*map(type, registers), *[type(inputs[name]) for name in self.ports])
        step = self.known.get(kinds)
        if step is None:
            self.seen[kinds] += 1
            if self.seen[kinds] == _OFTEN:
                known = [name for name, kind in zip(self.names, kinds, strict=True) if kind is int]
                self.known[kinds] = self.reader.function(self.sizes, known)
            return self.any(state, inputs, rules)
        with suppress(KeyError):
            return step(state, inputs, rules)
        return self.any(state, inputs, rules)


class _Reader:
    """Writes the function, a line or two for each cell."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        ports = module["ports"]
        cells = [cell for cell in module["cells"].values() if cell["type"] not in _IGNORED]
        cells, bits = without_reset(cells, ports)
        self.inputs = {n: bits[n] for n in bits if ports[n]["direction"] == "input"}
        self.outputs = {n: bits[n] for n in bits if ports[n]["direction"] == "output"}
        digits = {bit for word in self.inputs.values() if len(word) >= _DIGIT for bit in word}
        self.of_digits = reached_from(cells, digits)
        cells = in_fields(cells, bits.values(), self.of_digits)
        self.kept = [cell for cell in cells if cell["type"] == "$dff"]
        self.memories = [cell for cell in cells if cell["type"] == "$mem_v2"]
        others = [cell for cell in cells if cell["type"] not in ("$dff", "$mem_v2")]
        self.logic = {f"v_{k}": cell for k, cell in enumerate(others)}
        self.places: dict[Bit, tuple[str, int]] = {}  # of a bit: its word and its place there
        self.widths: dict[str, int] = {}
        self.names: dict[Bit, str] = {}
        self.init: dict[Bit, str] = {}
        for name, net in module["netnames"].items():
            for k, bit in enumerate(net["bits"]):
                if not net["hide_name"] or bit not in self.names:
                    self.names[bit] = name
                if "init" in net["attributes"]:
                    self.init[bit] = net["attributes"]["init"][::-1][k]
        self.lines: list[str] = []
        self.registers: dict[str, Word] = {}
        self.register_widths: list[int] = []
        self.temporaries = 0
        self.symbolic: set[str] = set()

    def netlist(self) -> Netlist:
        """Compile it."""
        for name, bits in self.inputs.items():
            self._drives(f"i_{name}", bits)
        for k, cell in enumerate(self.kept):
            self._register(f"r_{k}", cell["connections"]["Q"])
        sizes = [self._memory(f"m_{k}", cell) for k, cell in enumerate(self.memories)]
        for name, cell in self.logic.items():
            self._drives(name, cell["connections"]["Y"])
        widths = {name: len(bits) for name, bits in self.inputs.items()}
        return Netlist(widths, self.registers, self.register_widths, _Step(self, sizes))

    def control(self) -> list[str]:
        """Inputs and registers that no digit leads to, nor a memory."""
        found = {f"i_{name}": bits for name, bits in self.inputs.items()}
        found |= {f"r_{k}": cell["connections"]["Q"] for k, cell in enumerate(self.kept)}
        return [name for name, bits in found.items() if not self.of_digits.intersection(bits)]

    def function(self, sizes: Sequence[tuple[int, int]], known: Collection[str] = ()) -> Step:
        """One that executes a cycle, for any words but these registers and inputs: integers.

        It raises KeyError if several conditions of a multiplexer are 1.
        """
        self.symbolic = {"ANYTHING", *self.widths} - {*known}
        self.lines = [f"i_{port} = inputs[{port!r}]" for port in self.inputs]
        self.lines += [f"r_{k} = state[{k}]" for k in range(len(self.kept))]
        self.lines += [f"m_{k} = state[{a}:{b}]" for k, (a, b) in enumerate(sizes)]
        for cell in self._in_order(self.logic):
            self._cell(cell, self.logic[cell])
        nexts = [self._operand(cell["connections"]["D"]) for cell in self.kept]
        nexts += [self._written(f"m_{k}", cell) for k, cell in enumerate(self.memories)]
        found = ", ".join(f"{port!r}: {self._operand(bits)}" for port, bits in self.outputs.items())
        self.lines.append(f"return [{', '.join(nexts)}], {{{found}}}")
        scope: dict[str, Any] = {"ANYTHING": ANYTHING}
        exec("def step(state, inputs, rules):\n " + "\n ".join(self.lines), scope)
        step: Step = scope["step"]
        return step

    def _register(self, name: str, bits: Sequence[Bit]) -> None:
        """A word of the state."""
        self._drives(name, bits)
        first = "".join(self.init.get(bit, "x") for bit in reversed(bits))
        value = int(first, 2) if set(first) <= {"0", "1"} else ANYTHING
        own = self.names[bits[0]]
        self.registers[own if own not in self.registers else f"{own}, {name}"] = value
        self.register_widths.append(len(bits))

    def _memory(self, name: str, cell: NetCell) -> tuple[int, int]:
        """A memory's words are words of the state, where it begins and ends is the result.

        Its ports for reading are cells.
        """
        numbers = {key: value for key, value in cell["parameters"].items() if key != "MEMID"}
        size, width, abits, reads = (
            int(numbers[key], 2) for key in ("SIZE", "WIDTH", "ABITS", "RD_PORTS")
        )
        if "1" in numbers["RD_CLK_ENABLE"] + numbers["INIT"] + numbers["OFFSET"]:
            raise NotImplementedError("a memory that is read with a clock, or has contents")
        if int(numbers["WR_PORTS"], 2) != 1:
            raise NotImplementedError("a memory that is written through several ports")
        first = len(self.registers)
        for k in range(size):
            self.registers[f"{cell['parameters']['MEMID'][1:]}[{k}]"] = 0
            self.register_widths.append(width)
        ports = cell["connections"]
        written = {"E": ports["WR_EN"], "W": ports["WR_ADDR"], "D": ports["WR_DATA"]}
        self.logic |= {
            f"{name}_{k}": {
                "type": f"read {name}",
                "connections": {
                    "A": ports["RD_ADDR"][k * abits : (k + 1) * abits],
                    **written,
                    "Y": ports["RD_DATA"][k * width : (k + 1) * width],
                },
                "port_directions": {**dict.fromkeys("AEWD", "input"), "Y": "output"},
                "parameters": {},
            }
            for k in range(reads)
        }
        return first, len(self.registers)

    def _written(self, name: str, cell: Mapping[str, Any]) -> str:
        """A memory's words in the next cycle."""
        ports = cell["connections"]
        names = ("WR_EN", "WR_ADDR", "WR_DATA")
        enable, address, word = (self._operand(ports[port]) for port in names)
        ones = (1 << len(ports["WR_EN"])) - 1
        self.lines.append(f"if {enable}.__class__ is not int or {enable}:")
        self.lines.append(f"  rules.write({name}, {enable}, {ones}, {address}, {word})")
        return f"*{name}"

    def _drives(self, name: str, bits: Sequence[Bit]) -> None:
        self.widths[name] = len(bits)
        for place, bit in enumerate(bits):
            self.places[bit] = name, place

    def _in_order(self, logic: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Cells after those that drive them."""
        done: set[str] = set()
        stack = list(logic)
        while stack:
            name = stack[-1]
            before = () if name in done else self._drivers(logic[name])
            waits = [driver for driver in before if driver in logic and driver not in done]
            if waits:
                stack += waits
                continue
            stack.pop()
            if name not in done:
                done.add(name)
                yield name

    def _drivers(self, cell: Mapping[str, Any]) -> set[str]:
        return {
            self.places[bit][0]
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "input" and port != "CLK"
            for bit in bits
            if isinstance(bit, int)
        }

    # --- Operands --------------------------------------------------------------------------------

    def _assign(self, text: str, *words: str) -> str:
        """A name for an expression of these words."""
        self.temporaries += 1
        name = f"t_{self.temporaries}"
        self._let(name, text, *words)
        return name

    def _let(self, name: str, text: str, *words: str) -> None:
        """What a name stands for, an expression of these words."""
        self.lines.append(f"{name} = {text}")
        if not self._known(*words):
            self.symbolic.add(name)
        else:
            self.symbolic.discard(name)

    def _known(self, *words: str) -> bool:
        """Whether all are integers whenever the function is called."""
        return not any(word in self.symbolic for word in words)

    def _either(self, exact: str, rule: str, *words: str) -> str:
        """An expression that is exact if the words are integers, else the rule."""
        tests = [f"{word}.__class__ is int" for word in words if not self._known(word)]
        return f"{exact} if {' and '.join(tests)} else {rule}" if tests else exact

    def _operand(self, bits: Sequence[Bit], rule: str = "joined") -> str:
        """An expression of a word out of these bits, that `rule` makes of several parts."""
        parts = [self._segment(*segment) for segment in self._segments(bits)]
        if len(parts) == 1:
            return parts[0][0]
        words = [word for word, _ in parts]
        text = f"rules.{rule}({', '.join(f'({a}, {n})' for a, n in parts)})"
        if self._known(*words):
            places = accumulate((bits for _, bits in parts), initial=0)
            text = " | ".join(f"{word} << {at}" for word, at in zip(words, places, strict=False))
        return self._assign(text, *words)

    def _segments(self, bits: Sequence[Bit]) -> Iterator[tuple[str | None, int, int, int]]:
        """Word, first place, bits of the word that follow, and how often the last is repeated.

        Of a constant None, its value and its bits; of undefined bits an empty name.
        """
        at = 0
        while at < len(bits):
            end = at + 1
            if isinstance(bits[at], str):
                known = bits[at] != "x"
                while end < len(bits) and bits[end] in (("0", "1") if known else ("x",)):
                    end += 1
                text = "".join(map(str, bits[at:end][::-1]))
                yield (None, int(text, 2), end - at, 0) if known else ("", 0, end - at, 0)
                at = end
                continue
            word, place = self.places[bits[at]]
            while end < len(bits) and self.places.get(bits[end]) == (word, place + end - at):
                end += 1
            last = end
            while last < len(bits) and bits[last] == bits[end - 1]:
                last += 1
            yield word, place, end - at, last - end
            at = last

    def _segment(self, word: str | None, place: int, bits: int, more: int) -> tuple[str, int]:
        """An expression, and its bits."""
        if word is None:
            return str(place), bits
        if not word:
            return "ANYTHING", bits
        found = word
        if (place, bits) != (0, self.widths[word]):
            exact = f"{word} >> {place} & {(1 << bits) - 1}"
            rule = f"rules.part({word}, {place}, {bits}, {self.widths[word]})"
            found = self._assign(self._either(exact, rule, word), word)
        if more:
            signed = self._signed(found, bits)
            exact = f"{signed} & {(1 << bits + more) - 1}"
            found = self._assign(self._either(exact, signed, signed), signed)
        return found, bits + more

    def _signed(self, word: str, bits: int) -> str:
        """A name for the word as an integer in two's complement."""
        half = 1 << bits - 1
        exact = f"({word} ^ {half}) - {half}"
        return self._assign(self._either(exact, f"rules.signed({word}, {bits})", word), word)

    # --- Cells -----------------------------------------------------------------------------------

    def _cell(self, name: str, cell: Mapping[str, Any]) -> None:
        """The line that makes the word of a cell."""
        kind, parameters = cell["type"], cell["parameters"]
        reads = kind.startswith("read")
        operands = {
            port: self._operand(bits, "address" if reads and port == "A" else "joined")
            for port, bits in cell["connections"].items()
            if port != "Y"
        }
        width = self.widths[name]
        ones = (1 << width) - 1
        if reads:
            ports = ", ".join(operands[port] for port in "AEWD")
            return self._let(name, f"rules.read({kind.split()[1]}, {ports})", name)
        if kind in ("$mux", "$pmux"):
            return self._multiplexer(name, cell, operands)
        signs = [
            port
            for port in operands
            if int(parameters[f"{port}_SIGNED"], 2) and kind not in _REDUCING
        ]
        for port, word in operands.items():
            bits = int(parameters[f"{port}_WIDTH"], 2)
            if port in signs:
                if bits < width or kind in _COMPARING:
                    operands[port] = self._signed(word, bits)
            elif bits < width and kind not in _LOGIC and not self._known(word):
                rule = f"rules.unsigned({word}, {bits})"
                operands[port] = self._assign(self._either(word, rule, word), word)
        a, b = operands["A"], operands.get("B", "0")
        if kind in _ADDING:
            rule, sign = _ADDING[kind]
            exact, else_ = f"({a} {sign} {b}) & {ones}", f"rules.{rule}({a}, {b}, {width})"
        elif kind in _BITWISE:
            rule, sign = _BITWISE[kind]
            exact, else_ = f"({a} {sign} {b}) & {ones}", f"rules.{rule}({a}, {b}, {width})"
        elif kind == "$neg":
            exact, else_ = f"-{a} & {ones}", f"rules.neg({a}, {width})"
        elif kind == "$not":
            exact, else_ = f"~{a} & {ones}", f"rules.invert({a}, {width})"
        elif kind in _COMPARING:
            exact, else_ = f"int({a} {_COMPARING[kind]} {b})", "ANYTHING"
        elif kind in _REDUCING:
            bits = len(cell["connections"]["A"])
            text = _REDUCING[kind].format(ones=(1 << bits) - 1).replace("a", a, 1)
            exact = text
            else_ = f"rules.nonzero({a}, {bits})" if kind in _NONZERO else "ANYTHING"
            if bits == 1:
                else_ = f"rules.invert({a}, 1)" if kind == "$logic_not" else a
        elif kind in _LOGIC:
            exact = _LOGIC[kind].replace("a ", f"{a} ", 1).replace("b ", f"{b} ", 1)
            else_ = "ANYTHING"
        else:
            raise NotImplementedError(f"no rule for a cell of the kind {kind}")
        return self._let(name, self._either(exact, else_, a, b), a, b)

    def _multiplexer(self, name: str, cell: Mapping[str, Any], operands: Mapping[str, str]) -> None:
        width = self.widths[name]
        zero, select = operands["A"], operands["S"]
        if cell["type"] == "$mux":
            one = operands["B"]
            exact = f"({one} if {select} else {zero})"
            rule = f"rules.select({zero}, {one})"
            return self._let(name, self._either(exact, rule, select), zero, one, select)
        bits = cell["connections"]["B"]
        rows = [self._operand(bits[k : k + width]) for k in range(0, len(bits), width)]
        cases = ", ".join(f"{1 << k}: {row}" for k, row in enumerate(rows))
        found = f"{{0: {zero}, {cases}}}"
        if self._known(select):
            return self._let(name, f"{found}[{select}]", zero, *rows)
        exact = f"{found}.get({select}, ANYTHING)"
        return self._let(name, self._either(exact, "ANYTHING", select), select)
