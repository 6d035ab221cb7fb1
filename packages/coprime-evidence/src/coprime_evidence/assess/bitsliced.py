"""Build an accelerator's Verilog into a library that simulates it hundreds of times at once.

Bit k of a machine word is a bit of the circuit in run k, so that one instruction of the processor
does what a gate does in all runs. Source: Biham 1997, "A fast new DES implementation in software".
What differs: memories, whose words are selected by addresses that may differ between the runs; and
the bits of registers that change are counted in every cycle, by adders of the same kind.

Yosys maps the circuit to functions of three bits, which are single instructions of AVX-512. Here
they are written as C++, in the order in which signals depend on each other.
"""

import ctypes
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coprime.flow.cache import cached
from coprime.flow.simulation import load_library
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import find_compiler, run_tool, run_yosys, tool_version

_WRAPPER = Path(__file__).with_name("bitsliced.cpp")
_LIBRARY = "bitsliced.so"
_FLAGS = ("-std=c++20", "-fPIC", "-O1", "-march=native", "-w", "-fno-semantic-interposition")
_BLOCK = 250  # functions of three bits in one of C++, whose time to compile grows faster
_OTHERS = "t:$mem_v2 t:$alu %u t:$fa %u %n"  # than memories and adders
_MAPPED = (
    *("read_verilog design.v", "proc", "opt_expr", "opt_clean", "memory_collect"),
    # Adders have a function of three bits for each bit of the sum, and of the carries.
    *("alumacc", "maccmap", f"techmap {_OTHERS}", "simplemap", "opt_expr", "opt_clean"),
    *("simplemap", "abc -lut 3", "opt_clean"),
)
_XOR, _SUM, _CARRY = 0x6, 0x96, 0xE8
_ONES = ("s_axi_aresetn", "s_axis_random_tvalid")  # inputs that are 1; the others of the bus are 0
_RANDOM, _TAKEN = "s_axis_random_tdata", "s_axis_random_tready"
_CLOCK, _INTERRUPT = "s_axi_aclk", "irq"

_SHOWN = re.compile(r"^  reg (?=.*/\*verilator public)", re.MULTILINE)

Bit = int | str  # a net of Yosys's, or a constant


@dataclass(frozen=True)
class BitslicedLibrary:
    """What was built, and the bits that a run begins with.

    Parameters
    ----------
    path : of the library
    bits : register or memory, word, and bit in the word, of each bit, in the library's order
    """

    path: Path
    bits: Sequence[tuple[str, int, int]]


def build_bitsliced(verilog: str, top: str, columns: Mapping[str, int]) -> BitslicedLibrary:
    """Give the library that simulates `top`, building it if need be.

    Parameters
    ----------
    verilog : what `show_registers` gave
    top : the module, as of `build_simulation`
    columns : for each register and memory the column that its bits are counted in, from 0 on

    Raises ToolError without a C++ compiler.
    """
    compiler = find_compiler()
    # What -march=native means differs from machine to machine.
    machine = run_tool(
        "the C++ compiler", [*compiler.command, "-march=native", "-dM", "-E", "-xc++", "/dev/null"]
    )

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            work = Path(temporary)
            kept = _SHOWN.sub("  (* keep *) reg ", verilog)  # Verilator counts unused ones, too
            (work / "design.v").write_text(kept, encoding="utf-8")
            run_yosys([*_MAPPED, "write_json netlist.json"], work)
            module = json.loads((work / "netlist.json").read_text("utf-8"))["modules"][top]
        circuit = _Circuit(module, columns)
        header = folder / "netlist.h"
        header.write_text("\n".join(circuit.lines()) + "\n", encoding="utf-8")
        (folder / "bits.json").write_text(json.dumps(circuit.bits), encoding="utf-8")
        command = [*compiler.command, *_FLAGS, "-I", str(folder), str(_WRAPPER)]
        run_tool("the C++ compiler", [*command, "-shared", "-o", str(folder / _LIBRARY)])

    recipe = [path.read_text("utf-8") for path in (Path(__file__), _WRAPPER)]
    versions = (tool_version("pyosys"), compiler.version, *compiler.command, machine)
    key = (*versions, *recipe, top, json.dumps(columns, sort_keys=True), verilog)
    folder = cached("bitsliced", key, build)
    bits = json.loads((folder / "bits.json").read_text("utf-8"))
    return BitslicedLibrary(folder / _LIBRARY, [(name, word, bit) for name, word, bit in bits])


def load_bitsliced(library: BitslicedLibrary) -> ctypes.CDLL:
    """Load it, with the C functions' types declared; bitsliced.cpp describes them."""
    handle, count = ctypes.c_void_p, ctypes.c_uint64
    types: Mapping[str, tuple[type | None, list[type]]] = {
        "create": (handle, []),
        "destroy": (None, [handle]),
        "runs": (count, []),
        "load": (None, [handle, count, ctypes.c_char_p, handle, ctypes.c_char_p, count, count]),
        "run": (
            ctypes.c_int64,
            [
                *(handle, count, ctypes.c_int, handle, ctypes.c_int),
                *(count, count, count, ctypes.c_int),
                *(handle, handle),
                *(handle, count, handle),
            ],
        ),
    }
    return load_library(library.path, "bitsliced", types)


# --- The circuit as C++ -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A port of a memory that reads."""

    memory: int
    address: Sequence[Bit]
    data: Sequence[Bit]


@dataclass(frozen=True)
class _Write:
    """A port of a memory that writes; `enable` and `data` have an entry for each bit of a word."""

    memory: int
    address: Sequence[Bit]
    enable: Sequence[Bit]
    data: Sequence[Bit]


@dataclass(frozen=True)
class _Memory:
    name: str
    width: int
    address_bits: int
    offset: int  # of its first bit among those of all memories


@dataclass(frozen=True)
class _Function:
    """A function of up to three bits; `table` has its values, as of Yosys's $lut."""

    inputs: Sequence[Bit]
    table: int


class _Circuit:
    """A module of functions, registers and memories, as Yosys has written it."""

    def __init__(self, module: Mapping[str, Any], columns: Mapping[str, int]):
        self._ports = {name: port["bits"] for name, port in module["ports"].items()}
        self._functions: dict[Bit, _Function] = {}
        self._read_of: dict[Bit, _Read] = {}
        self._next: dict[Bit, Bit] = {}  # what registers take, by their net
        self._memories: list[_Memory] = []
        self._reads: list[_Read] = []
        self._writes: list[_Write] = []
        for cell in module["cells"].values():
            self._add(cell["type"], cell["parameters"], cell["connections"])
        inputs = {
            bit
            for port in module["ports"].values()
            if port["direction"] == "input"
            for bit in port["bits"]
        }
        self.bits: list[tuple[str, int, int]] = []
        self._registers: dict[Bit, int] = {}  # the place of each net
        self._column_of: list[int] = []
        for name, net in module["netnames"].items():
            if name not in columns:
                continue
            for k, bit in enumerate(net["bits"]):
                held = not self._is_driven(bit) and bit not in inputs
                if isinstance(bit, int) and bit not in self._registers and held:
                    self._registers[bit] = len(self.bits)
                    self._column_of.append(columns[name])
                    self.bits.append((name, 0, k))
        missing = self._next.keys() - self._registers.keys()
        if missing:
            raise ToolError(f"{len(missing)} bits of registers have no name")
        for memory in self._memories:
            for word in range(1 << memory.address_bits):
                self.bits += [(memory.name, word, k) for k in range(memory.width)]
        self._columns = max(columns.values()) + 1
        self._memory_column = [columns[memory.name] for memory in self._memories]
        self._wires: dict[Bit, int] = {}  # the place of each net that is kept
        self._inputs: dict[Bit, str] = {}  # what stands for each one
        for name, bits in self._ports.items():
            for k, bit in enumerate(bits if bits[0] in inputs else ()):
                self._inputs[bit] = (
                    f"random[{k}]" if name == _RANDOM else "ONES" if name in _ONES else "ZERO"
                )

    def _add(self, kind: str, parameters: Mapping[str, str], nets: Mapping[str, Any]) -> None:
        if kind == "$lut":
            table = int(parameters["LUT"], 2)
            self._functions[nets["Y"][0]] = _Function(nets["A"], table)
        elif kind == "$fa":
            for a, b, c, x, y in zip(*(nets[name] for name in "ABCXY"), strict=True):
                self._functions |= {y: _Function([c, b, a], _SUM), x: _Function([c, b, a], _CARRY)}
        elif kind == "$alu":
            self._add_alu(parameters, nets)
        elif kind == "$_DFF_P_" and nets["C"] == self._ports[_CLOCK]:
            self._next[nets["Q"][0]] = nets["D"][0]
        elif kind == "$mem_v2" and "1" not in parameters["RD_CLK_ENABLE"]:
            self._add_memory(parameters, nets)
        else:
            raise ToolError(f"a cell {kind} cannot be simulated in many runs at once")

    def _add_alu(self, parameters: Mapping[str, str], nets: Mapping[str, Any]) -> None:
        """A + B + CI, where B is inverted if BI is 1; X is A ^ B, and CO has all carries."""
        (carry,), (inverts,) = nets["CI"], nets["BI"]

        def bit(name: str, k: int) -> Bit:
            own: list[Bit] = nets[name]
            signed = "1" in parameters[f"{name}_SIGNED"]
            return own[k] if k < len(own) else own[-1] if signed else "0"

        for k, (x, y, carried) in enumerate(zip(nets["X"], nets["Y"], nets["CO"], strict=True)):
            b = -x  # a net of its own
            self._functions |= {
                b: _Function([bit("B", k), inverts], _XOR),
                x: _Function([b, bit("A", k)], _XOR),
                y: _Function([carry, b, bit("A", k)], _SUM),
                carried: _Function([carry, b, bit("A", k)], _CARRY),
            }
            carry = carried

    def _add_memory(self, parameters: Mapping[str, str], nets: Mapping[str, Any]) -> None:
        width, bits = int(parameters["WIDTH"], 2), int(parameters["ABITS"], 2)
        offset = sum(memory.width << memory.address_bits for memory in self._memories)
        index = len(self._memories)
        name = parameters["MEMID"].removeprefix("\\")
        self._memories.append(_Memory(name, width, bits, offset))
        for address, data in zip(
            _parts(nets["RD_ADDR"], bits), _parts(nets["RD_DATA"], width), strict=True
        ):
            read = _Read(index, address, data)
            self._reads.append(read)
            self._read_of |= dict.fromkeys(data, read)
        # Yosys makes a port of each bit that has a condition of its own.
        merged: dict[tuple[Bit, ...], tuple[list[Bit], list[Bit]]] = {}
        ports = (
            _parts(nets[port], size)
            for port, size in (("WR_ADDR", bits), ("WR_EN", width), ("WR_DATA", width))
        )
        for address, enable, data in zip(*ports, strict=True):
            own = merged.setdefault(tuple(address), (["0"] * width, ["0"] * width))
            for k, bit in enumerate(enable):
                if bit != "0":
                    if own[0][k] != "0":
                        raise ToolError(f"{name} has a bit that is written by two ports")
                    own[0][k], own[1][k] = bit, data[k]
        self._writes += [_Write(index, key, *value) for key, value in merged.items()]

    def _is_driven(self, bit: Bit) -> bool:
        return bit in self._functions or bit in self._read_of

    # --- In order -------------------------------------------------------------------------------

    def _roots(self) -> Iterator[Bit]:
        yield from self._next.values()
        for write in self._writes:
            yield from (*write.address, *write.enable, *write.data)
        yield self._ports[_INTERRUPT][0]
        yield from self._ports.get(_TAKEN, [])

    def _ordered(self) -> Iterator[list[Bit] | _Read]:
        """Blocks of functions, each by the net that it drives, and reads; what they need first."""
        done: set[Bit] = set()
        block: list[Bit] = []
        for root in self._roots():
            waiting = [(root, False)]
            while waiting:
                bit, ready = waiting.pop()
                if bit in done or not self._is_driven(bit):
                    continue
                read = self._read_of.get(bit)
                if not ready:
                    waiting.append((bit, True))
                    needed = self._functions[bit].inputs if read is None else read.address
                    waiting += [(input_bit, False) for input_bit in needed]
                elif read is None:
                    done.add(bit)
                    block.append(bit)
                    if len(block) == _BLOCK:
                        yield block
                        block = []
                else:
                    done |= {*read.data}
                    yield block
                    block = []
                    yield read
        yield block

    # --- Text -----------------------------------------------------------------------------------

    def _text(self, bit: Bit, local: Mapping[Bit, str] | None = None) -> str:
        """An expression for a net."""
        if isinstance(bit, str):
            return "ONES" if bit == "1" else "ZERO"
        if local is not None and bit in local:
            return local[bit]
        if bit in self._inputs:
            return self._inputs[bit]
        if bit in self._registers:
            return f"now[{self._registers[bit]}]"
        return f"wires[{self._wires[bit]}]"

    def lines(self) -> Iterator[str]:
        """netlist.h."""
        ordered = [step for step in self._ordered() if step]
        self._keep_wires(ordered)
        planes = [*self._planes()]
        functions: list[str] = []
        calls: list[str] = []
        for number, step in enumerate(ordered):
            if isinstance(step, _Read):
                calls += self._read(step)
            else:
                calls.append(f"block_{number}();")
                functions += [
                    f"__attribute__((noinline)) void block_{number}() {{",
                    *self._block(step),
                    "}",
                ]
        memory_bits = sum(memory.width << memory.address_bits for memory in self._memories)
        starts = [0]
        for width in (width for width, _ in planes):
            starts.append(starts[-1] + width)
        yield f"constexpr uint64_t REGISTERS = {len(self._registers)};"
        yield f"constexpr uint64_t COLUMNS = {self._columns};"
        yield f"constexpr uint64_t MEMORY_BITS = {memory_bits};"
        yield f"constexpr uint64_t WIRES = {len(self._wires)};"
        yield f"constexpr uint64_t PLANES = {starts[-1]};"
        yield f"constexpr uint64_t FIRST_PLANE[] = {{{', '.join(map(str, starts))}}};"
        counted = sum(self._memories[write.memory].width for write in self._writes)
        yield "struct Circuit {"
        yield "Slice registers[2][REGISTERS]{};"
        yield "Slice memory[MEMORY_BITS + 1]{};"
        yield "Slice wires[WIRES + 1]{};"
        yield "Slice planes[PLANES]{};"
        yield "Slice random[8]{};"
        yield f"Slice counted[{counted + 1}]{{}};"
        yield "Slice* now = registers[0];"
        yield "Slice* next = registers[1];"
        yield f"Slice interrupt() const {{ return {self._text(self._ports[_INTERRUPT][0])}; }}"
        (taken,) = self._ports.get(_TAKEN, ["0"])
        yield f"Slice random_taken() const {{ return {self._text(taken)}; }}"
        yield from functions
        yield "void compute() {"
        yield from calls
        yield "}"
        for number, (_, lines) in enumerate(planes):
            yield f"__attribute__((noinline)) void count_{number}(const Slice& weighed) {{"
            yield f"Slice* to = planes + {starts[number]};"
            yield from lines
            yield "}"
        yield "void count(bool weight) {"
        yield from self._write_all()
        yield "const Slice weighed = weight ? ZERO : ONES;"
        yield from (f"count_{number}(weighed);" for number in range(len(planes)))
        yield "std::swap(now, next);"
        yield "}"
        yield "};"

    def _keep_wires(self, ordered: Sequence[list[Bit] | _Read]) -> None:
        """Find the nets that are used outside the block that computes them."""
        block_of: dict[Bit, int] = {}
        for number, step in enumerate(ordered):
            block_of |= dict.fromkeys(step.data if isinstance(step, _Read) else step, number)
        kept: dict[Bit, None] = {}
        for number, step in enumerate(ordered):
            if isinstance(step, _Read):
                kept |= dict.fromkeys([*step.address, *step.data])
                continue
            for bit in step:
                inputs = self._functions[bit].inputs
                kept |= dict.fromkeys(each for each in inputs if block_of.get(each) != number)
        takes = set(self._next.values())
        kept |= dict.fromkeys(bit for bit in self._roots() if bit not in takes)
        # A register that takes what a memory or another one gives is written where it is counted.
        self._taken_by: dict[Bit, list[int]] = {}
        self._moved: list[tuple[int, Bit]] = []
        for net, bit in self._next.items():
            if bit in self._functions:
                self._taken_by.setdefault(bit, []).append(self._registers[net])
            else:
                self._moved.append((self._registers[net], bit))
        held = self._registers.keys() - self._next.keys()
        self._moved += [(self._registers[net], net) for net in held]
        for bit in kept:
            if self._is_driven(bit):
                self._wires[bit] = len(self._wires)

    def _block(self, nets: Sequence[Bit]) -> Iterator[str]:
        local: dict[Bit, str] = {}
        for net in nets:
            function = self._functions[net]
            inputs = [self._text(bit, local) for bit in function.inputs]
            local[net] = name = f"n{net}".replace("-", "m")
            yield f"const Slice {name} = {_call(function.table, inputs)};"
            if net in self._wires:
                yield f"wires[{self._wires[net]}] = {name};"
            for place in self._taken_by.get(net, ()):
                yield f"next[{place}] = {name};"

    def _read(self, read: _Read) -> Iterator[str]:
        memory = self._memories[read.memory]
        yield "{"
        yield f"const Slice address[] = {{{', '.join(map(self._text, read.address))}}};"
        yield f"Slice data[{memory.width}];"
        kind = f"<{memory.width}, {memory.address_bits}>"
        yield f"read_memory{kind}(memory + {memory.offset}, address, data);"
        for k, bit in enumerate(read.data):
            if bit in self._wires:
                yield f"{self._text(bit)} = data[{k}];"
        yield "}"

    def _write_all(self) -> Iterator[str]:
        for place, bit in self._moved:
            yield f"next[{place}] = {self._text(bit)};"
        start = 0
        for write in self._writes:
            memory = self._memories[write.memory]
            yield "{"
            for name, bits in (
                ("address", write.address),
                ("enable", write.enable),
                ("data", write.data),
            ):
                texts = ", ".join(map(self._text, bits))
                yield f"const Slice {name}[] = {{{texts}}};"
            kind = f"<{memory.width}, {memory.address_bits}>"
            yield (
                f"write_memory{kind}(memory + {memory.offset}, address, enable, data, weight,"
                f" counted + {start});"
            )
            yield "}"
            start += memory.width

    def _planes(self) -> Iterator[tuple[int, list[str]]]:
        """For each column, and for their sum, the bits of its number, and what computes them."""
        bits: list[list[str]] = [[] for _ in range(self._columns)]
        for place, column in enumerate(self._column_of):
            bits[column].append(f"((now[{place}] & weighed) ^ next[{place}])")
        start = 0
        for write in self._writes:
            width = self._memories[write.memory].width
            column = self._memory_column[write.memory]
            bits[column] += [f"counted[{start + k}]" for k in range(width)]
            start += width
        every: list[list[str]] = [[] for _ in range(16)]
        first = 0
        for own in bits:
            width, lines = _added([own])
            yield width, lines
            for k in range(width):
                every[k].append(f"planes[{first + k}]")
            first += width
        yield _added(every)


def _added(weighed: Sequence[Sequence[str]]) -> tuple[int, list[str]]:
    """Add bits of weights 1, 2, 4 and so on: how many bits the sum has, and the statements."""
    columns = [list(column) for column in weighed]
    lines: list[str] = []
    width = k = 0
    while k < len(columns):
        bits = columns[k]
        while len(bits) > 1:
            taken = [bits.pop(0) for _ in range(min(3, len(bits)))]
            number = len(lines)
            lines.append(
                f"const Slice a{number} = {taken[0]}, b{number} = {taken[1]},"
                f" c{number} = {taken[2] if len(taken) > 2 else 'ZERO'};"
            )
            given = f"a{number}, b{number}, c{number}"
            lines.append(f"const Slice s{number} = sum({given}), r{number} = carry({given});")
            bits.append(f"s{number}")
            if k + 1 == len(columns):
                columns.append([])
            columns[k + 1].append(f"r{number}")
        if bits or any(columns[k:]):
            width = k + 1
            lines.append(f"to[{k}] = {bits[0] if bits else 'ZERO'};")
        k += 1
    return width, lines


def _call(table: int, inputs: Sequence[str]) -> str:
    """The function of these inputs, the lowest bit of the table's index first."""
    if len(inputs) == 1:
        inputs, table = [inputs[0]] * 2, table & 1 | (table & 2) << 2
    name = f"lut{len(inputs)}<{table}>"
    return f"{name}({', '.join(reversed(inputs))})"


def _parts(bits: Sequence[Any], size: int) -> list[list[Any]]:
    return [list(bits[first : first + size]) for first in range(0, len(bits), size)]
