"""The exported Verilog of a component, as a function that executes one of its cycles.

Yosys reads the Verilog and flattens it; its cells are executed in their order, each as the Yosys
manual defines it: on integers here, on symbols by `Rules`.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog

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

Bit = int | str
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


class _Reader:
    """Writes the function, a line or two for each cell."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.module = module
        self.cells = {
            name: cell for name, cell in module["cells"].items() if cell["type"] not in _IGNORED
        }
        self.ports = module["ports"]
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

    def netlist(self) -> Netlist:
        """Compile it."""
        inputs = {n: p["bits"] for n, p in self.ports.items() if p["direction"] == "input"}
        outputs = {n: p["bits"] for n, p in self.ports.items() if p["direction"] == "output"}
        for name, bits in inputs.items():
            self._drives(f"i_{name}", bits)
            if name != "clk":
                self.lines.append(f"i_{name} = inputs[{name!r}]")
        kept = [cell for cell in self.cells.values() if cell["type"] == "$dff"]
        memories = [cell for cell in self.cells.values() if cell["type"] == "$mem_v2"]
        logic = {
            f"v_{k}": cell
            for k, cell in enumerate(self.cells.values())
            if cell["type"] not in ("$dff", "$mem_v2")
        }
        for k, cell in enumerate(kept):
            self._register(f"r_{k}", cell["connections"]["Q"])
        for k, cell in enumerate(memories):
            logic |= self._memory(f"m_{k}", cell)
        for name, cell in logic.items():
            self._drives(name, cell["connections"]["Y"])
        for name in self._in_order(logic):
            self._cell(name, logic[name])
        nexts = [self._operand(cell["connections"]["D"]) for cell in kept]
        nexts += [self._written(f"m_{k}", cell) for k, cell in enumerate(memories)]
        found = ", ".join(f"{name!r}: {self._operand(bits)}" for name, bits in outputs.items())
        self.lines.append(f"return [{', '.join(nexts)}], {{{found}}}")
        scope: dict[str, Any] = {"ANYTHING": ANYTHING}
        exec("def step(state, inputs, rules):\n " + "\n ".join(self.lines), scope)
        widths = {name: len(bits) for name, bits in inputs.items() if name != "clk"}
        return Netlist(widths, self.registers, self.register_widths, scope["step"])

    def _register(self, name: str, bits: Sequence[Bit]) -> None:
        """A word of the state."""
        self._drives(name, bits)
        self.lines.append(f"{name} = state[{len(self.registers)}]")
        first = "".join(self.init.get(bit, "x") for bit in reversed(bits))
        value = int(first, 2) if set(first) <= {"0", "1"} else ANYTHING
        own = self.names[bits[0]]
        self.registers[own if own not in self.registers else f"{own}, {name}"] = value
        self.register_widths.append(len(bits))

    def _memory(self, name: str, cell: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """A memory's words are words of the state; its ports for reading are cells."""
        numbers = {key: value for key, value in cell["parameters"].items() if key != "MEMID"}
        size, width, abits, reads = (
            int(numbers[key], 2) for key in ("SIZE", "WIDTH", "ABITS", "RD_PORTS")
        )
        if "1" in numbers["RD_CLK_ENABLE"] + numbers["INIT"] + numbers["OFFSET"]:
            raise NotImplementedError("a memory that is read with a clock, or has contents")
        if int(numbers["WR_PORTS"], 2) != 1:
            raise NotImplementedError("a memory that is written through several ports")
        first = len(self.registers)
        self.lines.append(f"{name} = state[{first}:{first + size}]")
        for k in range(size):
            self.registers[f"{cell['parameters']['MEMID'][1:]}[{k}]"] = 0
            self.register_widths.append(width)
        ports = cell["connections"]
        written = {"E": ports["WR_EN"], "W": ports["WR_ADDR"], "D": ports["WR_DATA"]}
        return {
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
            waits = [one for one in before if one in logic and one not in done]
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
            if cell["port_directions"][port] == "input"
            for bit in bits
            if isinstance(bit, int)
        }

    # --- Operands --------------------------------------------------------------------------------

    def _assign(self, text: str) -> str:
        self.temporaries += 1
        name = f"t_{self.temporaries}"
        self.lines.append(f"{name} = {text}")
        return name

    def _operand(self, bits: Sequence[Bit]) -> str:
        """An expression of a word out of these bits."""
        parts = [self._segment(*segment) for segment in self._segments(bits)]
        if len(parts) == 1:
            return parts[0][0]
        return self._assign(f"rules.joined({', '.join(f'({a}, {n})' for a, n in parts)})")

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
            found = self._assign(
                f"{word} >> {place} & {(1 << bits) - 1} if {word}.__class__ is int"
                f" else rules.part({word}, {place}, {bits}, {self.widths[word]})"
            )
        if more:
            signed = self._assign(f"rules.signed({found}, {bits})")
            mask = (1 << bits + more) - 1
            found = self._assign(f"{signed} & {mask} if {signed}.__class__ is int else {signed}")
        return found, bits + more

    # --- Cells -----------------------------------------------------------------------------------

    def _cell(self, name: str, cell: Mapping[str, Any]) -> None:
        """The line that makes the word of a cell."""
        kind, parameters = cell["type"], cell["parameters"]
        operands = {
            port: self._operand(bits) for port, bits in cell["connections"].items() if port != "Y"
        }
        width = self.widths[name]
        ones = (1 << width) - 1
        if kind.startswith("read"):
            ports = ", ".join(operands[port] for port in "AEWD")
            self.lines.append(f"{name} = rules.read({kind.split()[1]}, {ports})")
            return None
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
                    operands[port] = self._assign(f"rules.signed({word}, {bits})")
            elif bits < width and kind not in _LOGIC and not word.isdigit():
                operands[port] = self._assign(
                    f"{word} if {word}.__class__ is int else rules.unsigned({word}, {bits})"
                )
        a, b = operands["A"], operands.get("B", "0")
        symbols = [one for one in (a, b) if not one.isdigit()]
        known = " and ".join(f"{one}.__class__ is int" for one in symbols) or "True"
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
        self.lines.append(f"{name} = {exact} if {known} else {else_}")
        return None

    def _multiplexer(self, name: str, cell: Mapping[str, Any], operands: Mapping[str, str]) -> None:
        width = self.widths[name]
        zero, select = operands["A"], operands["S"]
        if cell["type"] == "$mux":
            one = operands["B"]
            if select.isdigit():
                self.lines.append(f"{name} = {one if int(select) else zero}")
                return
            self.lines.append(
                f"{name} = ({one} if {select} else {zero}) if {select}.__class__ is int"
                f" else rules.select({zero}, {one})"
            )
            return
        bits = cell["connections"]["B"]
        rows = [self._operand(bits[k : k + width]) for k in range(0, len(bits), width)]
        cases = ", ".join(f"{1 << k}: {row}" for k, row in enumerate(rows))
        self.lines.append(
            f"{name} = {{0: {zero}, {cases}}}.get({select}, ANYTHING)"
            f" if {select}.__class__ is int else ANYTHING"
        )
