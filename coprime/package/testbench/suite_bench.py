"""What a testbench of a suite has: each engine's registers, and its operations or calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coprime.bus import registers
from coprime.bus.shared_registers import RANDOM_REGISTERS
from coprime.calls.interface import CallDesign
from coprime.catalog import CallChoice
from coprime.engine.contract import Command, Error, Operand

from ..description import Description, TestbenchParts
from ..predicted import PredictedOnce
from ..templates import filled
from .call_bench import call_codes
from .call_checks import CallChecks
from .curve_vectors import curve_vectors
from .engine_checks import EngineChecks
from .padding_checks import PaddedNumbers
from .random_bytes import SEED_CYCLES
from .register_checks import RegisterChecks
from .vectors import numbers_of

_LIMIT = 30_000
"""Cycles for the accesses from one check to the next; there is twice the longest command, too, and
200 cycles for each bit of a number, as operands are loaded."""
_PADDED_LIMIT = 400_000  # for those of a private operation with padding
_REGISTER_CYCLES = 10_000  # about; of the checks of the registers of a core
_NOT_OF_CORE = (registers.CORE_SELECT, *RANDOM_REGISTERS)


@dataclass(frozen=True)
class CoreBench:
    """The checks of a core.

    Parameters
    ----------
    engine, quick_engine : count the cycles of the commands of all checks, and of the quick ones
    checks, quick : statements: of all checks, and of the quick ones
    begin, end : statements that start a command, and that wait for its end and check it
    codes : the codes that these name
    """

    engine: EngineChecks | CallChecks
    quick_engine: EngineChecks | CallChecks
    checks: str
    quick: str
    begin: str
    end: str
    codes: dict[str, dict[str, int]]


def suite_bench(description: Description) -> TestbenchParts:
    """The checks of a suite."""
    numbers = Numbers()
    cores = [
        _core(core, name, engine, numbers)
        for core, (name, engine) in enumerate(description.kind.engines(description))
    ]
    first = description.kind.selected(description)
    spare = "INTERRUPT_ENABLE" if isinstance(first.choice, CallChoice) else "MODULUS_LENGTH"
    given = {"own": description, "registers": RegisterChecks(first), "spare": spare, "cores": cores}
    codes: dict[str, dict[str, int]] = {}
    for core in cores:
        for kind, known in core.codes.items():
            codes.setdefault(kind, {}).update(known)
    most = max(core.engine.most_cycles for core in cores)
    return TestbenchParts(
        tasks=_tasks(description, [core.engine for core in cores]),
        checks=filled("suite_checks.v.j2", quick=False, **given),
        quick=filled("suite_checks.v.j2", quick=True, **given),
        longest=numbers.longest,
        limit=_LIMIT
        + 2 * most
        + 200 * numbers.longest
        + (_PADDED_LIMIT if description.paddings else 0)
        + (SEED_CYCLES if description.trng else 0),
        cycles=_expected_cycles([core.engine for core in cores]),
        quick_cycles=_expected_cycles([core.quick_engine for core in cores]),
        codes=codes,
        spare=spare,
    )


def _expected_cycles(engines: Sequence[EngineChecks | CallChecks]) -> int:
    """About how many cycles checks take, in thousands: accesses, too, and those of registers."""
    cycles = sum(engine.all_cycles + _REGISTER_CYCLES for engine in engines)
    return max(1000, round(cycles, -3))


def _tasks(description: Description, engines: Sequence[EngineChecks | CallChecks]) -> str:
    """The tasks of both kinds of engines, as far as there are some."""
    found = [filled("commands.v.j2")]
    numbers = [engine for engine in engines if isinstance(engine, EngineChecks)]
    if numbers:
        checked = next((engine for engine in numbers if engine.residue_modulus), numbers[0])
        found.append(filled("accelerator.v.j2", shared=True, own=description, engine=checked))
    if len(numbers) < len(engines):
        window = registers.DATA_WINDOW.words
        found.append(filled("calls.v.j2", shared=True, streamed=True, window=window))
    return "\n".join(found)


class Numbers:
    """Writes numbers for Verilog, and remembers how long the longest is.

    Attributes
    ----------
    longest (int): bits, a multiple of 32
    """

    def __init__(self) -> None:
        self.longest = 32

    def __call__(self, value: int, bits: int) -> str:
        """A number of so many bits, at least 1."""
        self.longest = max(self.longest, -(-bits // 32) * 32)
        return f"{max(bits, 1)}'h{value:x}"


def _core(core: int, name: str, description: Description, number: Numbers) -> CoreBench:
    given = {
        "own": description,
        "core": core,
        "name": name,
        "registers": _OfCore(description),
        "number": number,
        "status": registers.STATUS,
    }
    if isinstance(description.choice, CallChoice):
        return _calls(description.choice.design, description, given)
    return _numbers(description, given)


def _numbers(description: Description, given: dict[str, object]) -> CoreBench:
    """The checks of an engine of numbers: operations on numbers from a key."""
    numbers = numbers_of(description)
    engine, quick_engine = (EngineChecks(description, numbers) for _ in range(2))
    curves = curve_vectors(description.core.design)
    quick = engine.quick(curves)
    private = numbers.private_vector(pow(numbers.x, numbers.e, numbers.n)) if numbers.key else None

    vector = private or quick[0]
    # From the start to the interrupt other cores are used, too.
    done = replace(quick_engine.outcome_of(vector), whole=0)
    engine.outcome_of(vector)

    def statements(part: str, vectors: Sequence[object] = (), by: object = engine) -> str:
        values = {"part": part, "vectors": vectors, "engine": by, "vector": vector, "done": done}
        return filled("core_numbers.v.j2", **given, **values)

    checks = statements("checks", [*quick, *numbers.others, *curves, *engine.vectors])
    padded = PaddedNumbers(description, numbers.own)
    if padded.are_checked:
        checks += filled("padded_checks.v.j2", numbers=padded, number=given["number"])
    return CoreBench(
        engine=engine,
        quick_engine=quick_engine,
        checks=checks,
        quick=statements("checks", quick, quick_engine),
        begin=statements("begin"),
        end=statements("end"),
        codes={
            kind: {code.name: code.value for code in codes}
            for kind, codes in {"COMMAND": Command, "OPERAND": Operand, "ERROR": Error}.items()
        },
    )


def _calls(design: CallDesign, description: Description, given: dict[str, object]) -> CoreBench:
    """The checks of an engine of byte strings: each call."""
    design = PredictedOnce(design)
    engine, quick_engine = (CallChecks(design, description.source) for _ in range(2))
    calls = [quick_engine.first(call) for call in design.interface.calls]
    vector = next((candidate for _, candidate in quick_engine.together([0])), None)

    def statements(part: str, vectors: Sequence[object] = ()) -> str:
        values = {"part": part, "vectors": vectors, "engine": engine, "vector": vector}
        return filled("core_calls.v.j2", little=_little, **given, **values)

    return CoreBench(
        engine=engine,
        quick_engine=quick_engine,
        checks=statements("checks", engine.vectors),
        quick=statements("checks", calls),
        begin=statements("begin"),
        end=statements("end"),
        codes={
            "COMMAND": call_codes(design),
            "ERROR": {error.name: error.value for error in Error},
        },
    )


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


class _OfCore(RegisterChecks):
    """The registers of a core, without those that are no core's."""

    @property
    def values(self) -> list[tuple[object, int]]:
        """Those that have the value that they have after a reset."""
        return [pair for pair in self.after_reset if pair[0] not in _NOT_OF_CORE]
