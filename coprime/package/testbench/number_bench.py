"""What a testbench of engines of numbers has: checks on numbers from a key, and their cycles."""

from coprime.bus import registers
from coprime.catalog import CLUSTER
from coprime.engine.contract import Command, Error, Operand

from ..description import Description, TestbenchParts
from ..templates import filled
from .curve_vectors import curve_vectors
from .engine_checks import EngineChecks
from .padding_checks import PaddedNumbers
from .random_bytes import SEED_CYCLES
from .register_checks import RegisterChecks
from .vectors import numbers_of

_LIMIT = 20_000
"""Cycles for the accesses from one check to the next; there is twice the longest command, too, and
200 cycles for each bit of a number, as operands are loaded."""
_REGISTER_CYCLES = 10_000  # about; of the checks of all registers, and the resets among them
_PADDED_LIMIT = 400_000  # for those of a private operation with padding
_SPARE = "MODULUS_LENGTH"
_TOO_LONG = 0xFFFF  # a length over every maximum
_UNKNOWN = 33  # a code that is no command, though its lower bits are


def number_bench(description: Description, kind: str) -> TestbenchParts:
    """The checks of an accelerator, a cluster or a lean cluster: the start of a template's name."""
    longest = 32

    def number(value: int, bits: int) -> str:
        """A number of so many bits, at least 1; no task takes a longer one than the longest."""
        nonlocal longest
        longest = max(longest, -(-bits // 32) * 32)
        return f"{max(bits, 1)}'h{value:x}"

    numbers = numbers_of(description)
    vectors = [*numbers.others, *curve_vectors(description.core.design)]
    engine, quick_engine = EngineChecks(description, numbers), EngineChecks(description, numbers)
    given = {
        "own": description,
        "registers": RegisterChecks(description),
        "engine": engine,
        "numbers": numbers,
        "number": number,
        "vectors": vectors,
        "pow": pow,
        "status": registers.STATUS,
        "spare": _SPARE,
        "too_long": _TOO_LONG,
        "unknown": _UNKNOWN,
        "shared": False,
    }
    group = kind.removeprefix("lean_")
    tasks = filled(f"{group}.v.j2", **given)
    checks = filled(f"{kind}_checks.v.j2", **given)
    for vector in vectors if group == CLUSTER else ():
        engine.outcome_of(vector)
    limit = (
        _LIMIT + 2 * engine.most_cycles + 200 * longest + (SEED_CYCLES if description.trng else 0)
    )
    quick = filled(f"{group}_quick.v.j2", **given | {"engine": quick_engine})
    padded = PaddedNumbers(description, numbers.own)
    if padded.are_checked:
        checks += filled("padded_checks.v.j2", numbers=padded, number=number)
        limit += _PADDED_LIMIT
    return TestbenchParts(
        tasks=tasks,
        checks=checks,
        quick=quick,
        longest=longest,
        limit=limit,
        cycles=_expected_cycles(engine, 2),
        quick_cycles=_expected_cycles(quick_engine, 1),
        codes={
            kind: {code.name: code.value for code in codes}
            for kind, codes in {"COMMAND": Command, "OPERAND": Operand, "ERROR": Error}.items()
        },
        spare=_SPARE,
    )


def _expected_cycles(engine: EngineChecks, share: int) -> int:
    """About how many cycles checks take, in thousands: `share` times those of the commands whose
    outcome was asked for, as there are accesses, refusals and resets, too; and the registers'."""
    return max(1000, round(share * engine.all_cycles + _REGISTER_CYCLES, -3))
