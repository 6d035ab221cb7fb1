"""And-inverter graphs with registers: the AIGER format, which Yosys writes and ABC reads."""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
            # A register that has several names keeps the first.
            {name.split()[0]: first[kind] + int(k) for kind, k, name in found if kind != "o"},
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
        self, pairs: Iterable[tuple[int, int]], condition: str, other: str | None = None
    ) -> "Graph":
        """Give the same graph with one output, `wrong`.

        It is 1 where the output `other` is, if there is one, or where the variables of some of the
        `pairs` differ and the output `condition` is 1.
        """
        gates = list(self.gates)

        def both(a: int, b: int) -> int:
            gates.append((a, b))
            return 2 * (self.inputs + len(self.nexts) + len(gates))

        same = 1
        for a, b in pairs:
            same = both(same, both(both(2 * a, 2 * b + 1) ^ 1, both(2 * a + 1, 2 * b) ^ 1))
        differs = both(same ^ 1, self.outputs[condition])
        wrong = both(differs ^ 1, self.outputs[other] ^ 1) ^ 1 if other else differs
        return replace(self, gates=gates, outputs={"wrong": wrong})

    def following(self, replaced: Mapping[int, int], unchanged: Collection[int] = ()) -> "Graph":
        """Give a graph whose registers' next values read other registers.

        `replaced` has, by the variable of a register, that of the register in its place. Outputs
        still read each register itself, and so do next values of those that are `unchanged`.
        """
        first, count = 1 + self.inputs + len(self.nexts), len(self.gates)

        def literal(old: int) -> int:
            variable = old >> 1
            new = variable + count if variable >= first else replaced.get(variable, variable)
            return 2 * new | old & 1

        copied = [(literal(a), literal(b)) for a, b in self.gates]
        nexts = [
            next_value if register in unchanged else literal(next_value)
            for register, next_value in enumerate(self.nexts, 1 + self.inputs)
        ]
        return replace(self, gates=[*self.gates, *copied], nexts=nexts)

    def read_by(self, output: str, cycles: int = 0) -> set[int]:
        """Variables of the inputs and registers that an output depends on in the same cycle, and
        through registers in so many cycles before."""
        first = 1 + self.inputs
        gate = first + len(self.nexts)
        found, todo = set[int](), {self.outputs[output] >> 1}
        for _ in range(cycles + 1):
            new = []
            while todo:
                variable = todo.pop()
                if variable not in found:
                    found.add(variable)
                    new.append(variable)
                    if variable >= gate:
                        todo |= {literal >> 1 for literal in self.gates[variable - gate]}
            todo = {
                self.nexts[register - first] >> 1 for register in new if first <= register < gate
            }
        return {leaf for leaf in found if leaf < gate}

    def merged(self, replaced: Mapping[int, int]) -> "Graph":
        """Give a graph in which everything reads other registers in the place of some.

        `replaced` has, by the variable of a register, that of the one in its place.
        """

        def literal(old: int) -> int:
            return 2 * replaced.get(old >> 1, old >> 1) | old & 1

        return replace(
            self,
            nexts=[literal(next_value) for next_value in self.nexts],
            gates=[(literal(a), literal(b)) for a, b in self.gates],
            outputs={name: literal(output) for name, output in self.outputs.items()},
        )

    def led_to(self, sources: Iterable[int], barriers: Collection[int]) -> dict[int, int]:
        """Variables that some inputs lead to, in any number of cycles, but through `barriers`.

        Each with the one before it on a shortest way; 0 before a source.
        """
        after: dict[int, list[int]] = {}
        gate = 1 + self.inputs + len(self.nexts)
        for number, literals in enumerate(self.gates, gate):
            for literal in literals:
                after.setdefault(literal >> 1, []).append(number)
        for number, literal in enumerate(self.nexts, 1 + self.inputs):
            after.setdefault(literal >> 1, []).append(number)
        found = dict.fromkeys(set(sources) - {0, *barriers}, 0)
        todo = deque(found)
        while todo:
            previous = todo.popleft()
            for number in after.get(previous, ()):
                if number not in found and number not in barriers:
                    found[number] = previous
                    todo.append(number)
        return found

    def freed(self, free: Mapping[int, int]) -> tuple["Graph", Mapping[int, int]]:
        """Give a graph in which some registers are inputs, and where the others have moved.

        `free` has, by the variable of such a register, that of the one whose input it shares, which
        may be itself. The second result has the new variable of every input and register.
        """
        first, gate = 1 + self.inputs, 1 + self.inputs + len(self.nexts)
        inputs = [*range(first), *sorted(set(free.values()))]
        kept = [register for register in range(first, gate) if register not in free]
        at = {old: new for new, old in enumerate([*inputs, *kept])}
        at |= {old: at[other] for old, other in free.items()}
        moved = len(inputs) + len(kept) - gate

        def literal(old: int) -> int:
            variable = old >> 1
            return 2 * (at[variable] if variable < gate else variable + moved) | old & 1

        found = Graph(
            len(inputs) - 1,
            [literal(self.nexts[register - first]) for register in kept],
            [(literal(a), literal(b)) for a, b in self.gates],
            {name: literal(output) for name, output in self.outputs.items()},
            {name: at[number] for name, number in self.names.items()},
        )
        return found, at

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
