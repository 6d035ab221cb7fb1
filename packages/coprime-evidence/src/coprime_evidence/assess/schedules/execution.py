"""A multiplier at work: its netlist, cycle by cycle, and the memory that it reads and writes."""

from collections.abc import Collection, Hashable, Mapping, Sequence

from .netlist import Netlist
from .symbols import ANYTHING, ProofError, Rules, Symbol, Word

COMMANDS = ("start", "prepare", "wipe")


class RegisterSet:
    """What registers may hold: each of them one value, or anything.

    Parameters
    ----------
    words : of each register an integer or ANYTHING
    """

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = [ANYTHING if isinstance(word, Symbol) else word for word in words]

    def join(self, words: Sequence[Word]) -> bool:
        """Whether they could hold these already; from now on they may."""
        joined = [
            own if isinstance(own, Symbol) or own == word else ANYTHING
            for own, word in zip(self.words, words, strict=True)
        ]
        same = all(a is b for a, b in zip(self.words, joined, strict=True))
        self.words = joined
        return same


class Execution:
    """An execution of a netlist, from some state of the registers on.

    Inputs that a cycle does not name are 0 if they are commands, or `quiet`; others may be
    anything.
    """

    def __init__(
        self,
        netlist: Netlist,
        registers: Sequence[Word],
        rules: Rules,
        quiet: Collection[str] = (),
    ) -> None:
        self.netlist, self.rules, self.quiet = netlist, rules, quiet
        zero = {*COMMANDS, *quiet}
        self.registers = list(registers)
        self._idle = {
            name: 0 if name.rpartition("__")[2] in zero else ANYTHING for name in netlist.widths
        }

    def step(self, inputs: Mapping[str, Word]) -> dict[str, Word]:
        """Execute a cycle; its outputs."""
        every = {**self._idle, **inputs}
        self.registers, outputs = self.netlist.step(self.registers, every, self.rules)
        return outputs

    def fork(self) -> "Execution":
        """Another execution, from here on."""
        return Execution(self.netlist, self.registers, self.rules, self.quiet)


def known(outputs: Mapping[str, Word], *names: str) -> tuple[int, ...]:
    """Outputs that no operand may change; ProofError if one could."""
    words = []
    for name in names:
        word = outputs[name]
        if isinstance(word, Symbol):
            raise ProofError(f"{name} depends on operands")
        words.append(word)
    return tuple(words)


class Memory:
    """Words, each at a place, with the cycles in which their reads and writes were asked for.

    What was never written, or is read and written in the same cycle, may be anything. `written`
    counts the words that were written but for those that were `put`.
    """

    def __init__(self) -> None:
        self.written = 0
        self._words: dict[Hashable, list[tuple[int, Word]]] = {}

    def put(self, name: str, words: Sequence[Word]) -> None:
        """An operand, before the first cycle."""
        for index, word in enumerate(words):
            self._words[name, index] = [(-1, word)]

    def write(self, place: Hashable, cycle: int, word: Word) -> None:
        """Later writes must be of later cycles."""
        self._words.setdefault(place, []).append((cycle, word))
        self.written += 1

    def read(self, place: Hashable, cycle: int) -> Word:
        """What was there in this cycle."""
        for written, word in reversed(self._words.get(place, [])):
            if written < cycle:
                return word
            if written == cycle:
                return ANYTHING
        return ANYTHING

    def words(self, name: str, count: int) -> list[Word]:
        """An operand, in the end."""
        return [self.read((name, index), 1 << 62) for index in range(count)]
