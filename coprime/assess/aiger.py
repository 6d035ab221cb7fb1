"""And-inverter graphs with registers: the AIGER format, which Yosys writes and ABC reads."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

Step = Callable[[list[int], list[int], int], tuple[list[int], list[int]]]
_SYMBOL = re.compile(r"([ilo])(\d+) !?(.*)")


@dataclass(frozen=True)
class Graph:
    """Inputs, registers that start as 0, AND gates and outputs.

    A literal is twice a variable, plus 1 if that is inverted. Variable 0 is the constant 0; then
    come the inputs, the registers, and the gates, each after what enters it.
    """

    inputs: int  # number of inputs
    nexts: Sequence[int]  # literal that enters each register
    gates: Sequence[tuple[int, int]]  # the two literals that enter each gate
    outputs: dict[str, int]  # literal of each output, by its name
    names: dict[str, int]  # variable of each input and register that has a name

    @classmethod
    def read(cls, path: Path) -> "Graph":
        """Read a file in the ASCII form with symbols, as `write_aiger -ascii -symbols` writes it.

        Raises ValueError for variables in another order.
        """
        head, *lines = path.read_text("utf-8").splitlines()
        _, inputs, registers, outputs, gates = map(int, head.split()[1:6])
        first_gate = inputs + registers + outputs
        rows = [[int(word) for word in line.split()] for line in lines[: first_gate + gates]]
        order = [row[0] for row in (*rows[: inputs + registers], *rows[first_gate:])]
        if order != [2 * k for k in range(1, len(order) + 1)]:
            raise ValueError(
                f"the variables of {path.name} must be in order: inputs, registers, gates"
            )
        found = [
            match.groups() for line in lines[len(rows) :] if (match := _SYMBOL.fullmatch(line))
        ]
        first = {"i": 1, "l": 1 + inputs}
        return cls(
            inputs,
            [row[1] for row in rows[inputs : inputs + registers]],
            [(row[1], row[2]) for row in rows[first_gate:]],
            {name: rows[inputs + registers + int(k)][0] for kind, k, name in found if kind == "o"},
            {name: first[kind] + int(k) for kind, k, name in found if kind != "o"},
        )

    def write(self, path: Path) -> None:
        """Write the binary form, without names."""
        first, count = 1 + self.inputs + len(self.nexts), len(self.gates)
        sizes = (first - 1 + count, self.inputs, len(self.nexts), len(self.outputs), count)
        lines = [f"aig {' '.join(map(str, sizes))}", *map(str, self.nexts)]
        data = bytearray("\n".join([*lines, *map(str, self.outputs.values()), ""]).encode())
        for index, gate in enumerate(self.gates, first):
            low, high = sorted(gate)
            for delta in (2 * index - high, high - low):
                while delta > 127:
                    data.append(delta & 127 | 128)
                    delta >>= 7
                data.append(delta)
        path.write_bytes(data)

    def asserting_equal(
        self, pairs: Iterable[tuple[int, int]], condition: str, other: str
    ) -> "Graph":
        """Give the same graph with one output, `wrong`.

        It is 1 where the output `other` is, or where the variables of some of the `pairs` differ
        and the output `condition` is 1.
        """
        gates = list(self.gates)

        def both(a: int, b: int) -> int:
            gates.append((a, b))
            return 2 * (self.inputs + len(self.nexts) + len(gates))

        same = 1
        for a, b in pairs:
            same = both(same, both(both(2 * a, 2 * b + 1) ^ 1, both(2 * a + 1, 2 * b) ^ 1))
        differs = both(same ^ 1, self.outputs[condition])
        wrong = both(differs ^ 1, self.outputs[other] ^ 1) ^ 1
        return replace(self, gates=gates, outputs={"wrong": wrong})

    def following(self, replaced: Mapping[int, int]) -> "Graph":
        """Give a graph whose registers' next values read other registers.

        `replaced` has, by the variable of a register, that of the register in its place. Outputs
        still read each register itself.
        """
        first, count = 1 + self.inputs + len(self.nexts), len(self.gates)

        def literal(old: int) -> int:
            variable = old >> 1
            new = variable + count if variable >= first else replaced.get(variable, variable)
            return 2 * new | old & 1

        copied = [(literal(a), literal(b)) for a, b in self.gates]
        nexts = [literal(one) for one in self.nexts]
        return replace(self, gates=[*self.gates, *copied], nexts=nexts)

    def compiled(self) -> Step:
        """Give a function that simulates a cycle, in as many runs at once as integers have bits.

        It takes the registers, the inputs, and an integer of as many ones as there are runs; it
        returns the registers' next values, and the outputs.
        """

        def text(literal: int) -> str:
            if literal < 2:
                return "ones" if literal else "0"
            return f"(v{literal >> 1} ^ ones)" if literal & 1 else f"v{literal >> 1}"

        def all_of(texts: Iterable[str]) -> str:
            return f"[{', '.join(texts)}]"

        register, gate = 1 + self.inputs, 1 + self.inputs + len(self.nexts)
        lines = [
            "def step(registers, inputs, ones):",
            f" {all_of(f'v{k}' for k in range(1, register))} = inputs",
            f" {all_of(f'v{k}' for k in range(register, gate))} = registers",
            *(f" v{gate + k} = {text(a)} & {text(b)}" for k, (a, b) in enumerate(self.gates)),
            f" return {all_of(map(text, self.nexts))}, {all_of(map(text, self.outputs.values()))}",
        ]
        scope: dict[str, Step] = {}
        exec("\n".join(lines), scope)
        return scope["step"]
