"""Mutants of a design's Verilog: the score of the testbench that comes with the design.

    python -m tests.package.mutants compact ring fdfm karatsuba lattice --count 60 --seed 1

Each mutant has one change, of one of the KINDS, in the logic of the exported text: not in
declarations, initial values and instances. `count` of all that there are, drawn from `seed`, are
simulated with the package's own testbench, in Icarus Verilog, which should end with FAIL. A
survivor counts against the score unless Yosys proves that it does the same as the design
(`equivalence.py`), or ABC that it does so in every state that is reached from reset, so that only a
fault in the hardware could show it (`reachable.py`). The same seed gives the same mutants.
"""

import argparse
import math
import random
import re
import resource
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coprime.catalog import choose_engine
from coprime.cells.target import Target
from coprime.package.package import write_package

from .equivalence import is_equivalent
from .reachable import is_never_seen

KINDS = ("constant", "operator", "comparison", "branch", "enable", "reset", "assignment")
"""A bit of a constant; another operator; a comparison that is off by one; the branches of an `if`
or of `?:` swapped; an enable of a register inverted; a reset, or another assignment, left out."""

_SMALL = {
    "compression": {"modulus": "2^16+1"},
    "direct": {"modulus": "2^16+1"},
    "lattice": {"sets": "ml-kem-512"},
    "shake": {"slices": "8"},
}
_LONGER = 4
"""Times the processor time of the design's own simulation, after which a mutant's is stopped, and
counts as noticed; the testbench's watchdog counts cycles, and so does not see one without any."""
_OPERATORS = {
    " & ": " | ",
    " | ": " & ",
    " ^ ": " & ",
    " + ": " - ",
    " - ": " + ",
    " * ": " + ",
    " << ": " >> ",
    " >> ": " << ",
    " >>> ": " >> ",
    " == ": " != ",
    " != ": " == ",
}
_OFF_BY_ONE = {" < ": " <= ", " > ": " >= ", " >= ": " > "}
_LITERAL = re.compile(r"\b(\d+)'h([0-9a-f]+)")
_TARGET = re.compile(r"(?:\\?\w+ ?|\{[^}]*\})(?:\[[^\]]*\])? <= ")
"""The left side of an assignment to a register; what else has the same sign is a comparison."""
_ENABLE = re.compile(r"if \((?!rst\))(.*)\) (?=" + _TARGET.pattern + ")")
_RESET = re.compile(r"if \(rst\) .*;$", re.S)
_CONDITION = re.compile(r"if \((?!rst\)|time_zero\))(.*)\) (?=begin)")
_SKIPPED = re.compile(
    r" *(?:module|input|output|inout|wire|reg|localparam|initial|integer|for|endmodule|//|/\*|\(\*"
    r"|\.|\);|if \(time_zero\)|memory\[word\])"
)


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of a text.

    Parameters
    ----------
    start, end : where the text is replaced
    new : what replaces it
    kind : one of KINDS
    """

    start: int
    end: int
    new: str
    kind: str

    def of(self, text: str) -> str:
        """The changed text."""
        return text[: self.start] + self.new + text[self.end :]

    def module(self, text: str) -> str:
        """Name of the module that it is in."""
        return re.findall(r"^module (\w+)", text[: self.start], re.M)[-1]

    def place(self, text: str) -> str:
        """Where it is: the module, the line's number, and the change."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        line = " ".join(text[first:last].split())
        changed = " ".join((text[first : self.start] + self.new + text[self.end : last]).split())
        number = text.count("\n", 0, self.start) + 1
        return f"{self.module(text)}, line {number}: {line}  ->  {changed or 'nothing'}"


def mutants(text: str, seed: int) -> list[Mutant]:
    """All of a design; the seed selects which bit of a constant changes."""
    generator = random.Random(seed)
    found = [
        each
        for start, statement in _statements(text)
        for each in _of_statement(start, statement, generator)
    ]
    return sorted(set(found))


def drawn(text: str, seed: int) -> list[Mutant]:
    """The same, in the order in which they are drawn: each is as likely as any other."""
    found = mutants(text, seed)
    random.Random(seed).shuffle(found)
    return found


@dataclass
class Score:
    """What a testbench did with the mutants of a family.

    Parameters
    ----------
    family : whose design it is
    possible : mutants that there are, of which a sample was simulated
    killed : how many ended with FAIL, by kind
    equivalent : those that did not, and are proved to do the same as the design
    never_seen : those of the rest that are proved to do the same in every state that is reached
    survived : the others
    """

    family: str
    possible: int
    killed: Counter[str] = field(default_factory=Counter)
    equivalent: list[str] = field(default_factory=list)
    never_seen: list[str] = field(default_factory=list)
    survived: list[str] = field(default_factory=list)

    @property
    def value(self) -> float:
        """Part of the mutants that were killed, of all that are not proved to do the same."""
        killed = self.killed.total()
        return killed / max(1, killed + len(self.survived))

    def __str__(self) -> str:
        proved = len(self.equivalent) + len(self.never_seen)
        count = self.killed.total() + proved + len(self.survived)
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(self.killed.items()))
        lines = [
            f"{self.family}: {self.value:.1%} of {count} mutants, drawn from {self.possible}:"
            f" {self.killed.total()} killed ({kinds}), {len(self.equivalent)} proved equivalent,"
            f" {len(self.never_seen)} proved never seen, {len(self.survived)} survived",
            *(f"  equivalent: {one}" for one in self.equivalent),
            *(f"  never seen: {one}" for one in self.never_seen),
            *(f"  survived: {one}" for one in self.survived),
        ]
        return "\n".join(lines)


def score(
    family: str, count: int, seed: int, note: Callable[[str], None] = lambda _: None
) -> Score:
    """Simulate mutants of a small design of a family; `note` is called with each."""
    choice = choose_engine(family, _SMALL.get(family, {"max_bits": "64"}))
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder)
        write_package(choice, Target.GENERIC, package)
        design = package / f"{choice.module_name}.v"
        text = design.read_text()
        before = _processor_time()
        assert _simulates(package), f"the testbench of {family} does not pass"
        limit = _LONGER * math.ceil(_processor_time() - before)
        every = drawn(text, seed)
        found = Score(family, len(every))
        left = count
        for mutant in every:
            if not left:
                break
            design.write_text(mutant.of(text))
            if not _compiles(package):
                continue
            left -= 1
            what = f"{mutant.kind}, {mutant.place(text)}"
            if not _simulates(package, limit):
                found.killed[mutant.kind] += 1
                note(f"killed: {what}")
            elif is_equivalent(text, mutant.of(text), mutant.module(text)):
                found.equivalent.append(what)
                note(f"equivalent: {what}")
            elif is_never_seen(text, mutant.of(text), mutant.module(text)):
                found.never_seen.append(what)
                note(f"never seen: {what}")
            else:
                found.survived.append(what)
                note(f"survived: {what}")
    return found


def _compiles(package: Path) -> bool:
    return _make(package, "build/icarus")


def _simulates(package: Path, limit: int | None = None) -> bool:
    return _make(package, "icarus", limit)


def _make(package: Path, what: str, limit: int | None = None) -> bool:
    """Whether it ends well, within so many seconds of processor time."""
    limited = f"ulimit -t {limit or 'unlimited'}; exec make -s -C {package / 'sim'} {what} FIRST=1"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, check=False)
    return done.returncode == 0


def _processor_time() -> float:
    """Seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements that have logic, each with its place: lines, with those that continue them."""
    place, lines = 0, text.splitlines(keepends=True)
    k = 0
    while k < len(lines):
        statement, first = lines[k], place
        place += len(lines[k])
        k += 1
        is_open = not re.search(r"(;|begin|:|end|endcase|\)|else)\s*(//.*)?$", statement)
        while is_open and k < len(lines) and statement.strip():
            statement += lines[k]
            place += len(lines[k])
            is_open = not lines[k].rstrip().endswith((";", "begin"))
            k += 1
        if statement.strip() and not _SKIPPED.match(statement):
            yield first, statement.rstrip("\n")


def _of_statement(start: int, text: str, generator: random.Random) -> Iterator[Mutant]:
    def change(first: int, last: int, new: str, kind: str) -> Mutant:
        return Mutant(start + first, start + last, new, kind)

    reset = _RESET.search(text)
    if reset:
        yield change(reset.start(), reset.end(), ";", "reset")
        return
    targets = {found.end() for found in _TARGET.finditer(text)}
    for found in _LITERAL.finditer(text):
        width, value = int(found[1]), int(found[2], 16)
        new = value ^ 1 << generator.randrange(width)
        yield change(found.start(2), found.end(2), f"{new:0{len(found[2])}x}", "constant")
        if text[: found.start()].endswith(("== ", "!= ")) and width > 1:
            near = (value + generator.choice((1, -1))) % (1 << width)
            yield change(found.start(2), found.end(2), f"{near:0{len(found[2])}x}", "comparison")
    for kind, table in (("operator", _OPERATORS), ("comparison", _OFF_BY_ONE)):
        for old, new in table.items():
            for found in re.finditer(re.escape(old), text):
                if found.end() not in targets:
                    yield change(found.start(), found.end(), new, kind)
    for found in re.finditer(r" \? ", text):
        yield change(found.start(), found.end(), " == 1'b0 ? ", "branch")
    for kind, pattern in (("branch", _CONDITION), ("enable", _ENABLE)):
        for found in pattern.finditer(text):
            yield change(found.start(1), found.end(1), f"!({found[1]})", kind)
    for found in _TARGET.finditer(text):
        if text.endswith(";"):
            yield change(found.start(), len(text), ";", "assignment")


def main() -> None:
    """Print the scores of families."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("families", nargs="+")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="a line for each mutant")
    options = parser.parse_args()
    for family in options.families:
        note = print if options.verbose else lambda _: None
        print(score(family, options.count, options.seed, note=note), flush=True)


if __name__ == "__main__":
    main()
