"""What a testbench of engines of byte strings has: its checks, and how many cycles they take."""

from coprime.bus import registers
from coprime.calls.interface import WIPE, CallDesign
from coprime.engine.capabilities import Error

from ..description import Description, TestbenchParts
from ..templates import filled
from .call_checks import CallChecks
from .random_bytes import SEED_CYCLES
from .register_checks import RegisterChecks

_LIMIT = 30_000
"""Cycles for the accesses from one check to the next; there is twice the longest call, too, and a
cycle for each bit of a slot, as its words are moved."""
_REGISTER_CYCLES = 10_000  # about; of the checks of all registers, and the resets among them
_REFUSAL_CYCLES = 20_000  # about; of the checks of what is refused


def call_codes(design: CallDesign) -> dict[str, int]:
    """The codes of an engine's calls, and of WIPE."""
    return {"WIPE": WIPE, **{call.name: call.code for call in design.interface.calls}}


def call_bench(description: Description, design: CallDesign) -> TestbenchParts:
    """The checks of an accelerator for byte strings."""
    longest = 32

    def number(value: int, bits: int) -> str:
        """A number of so many bits, at least 1; no task takes a longer one than the longest."""
        nonlocal longest
        longest = max(longest, -(-bits // 32) * 32)
        return f"{max(bits, 1)}'h{value:x}"

    engine, quick_engine = (CallChecks(design, description.source) for _ in range(2))
    given = {
        "own": description,
        "registers": RegisterChecks(description),
        "number": number,
        "little": lambda data: int.from_bytes(data, "little"),
        "status": registers.STATUS,
        "spare": "INTERRUPT_ENABLE",
    }
    checks = filled("calls_checks.v.j2", engine=engine, **given)
    quick = filled("calls_quick.v.j2", engine=quick_engine, **given)
    tasks = filled(
        "calls.v.j2",
        shared=False,
        streamed=engine.streamed,
        window=registers.DATA_WINDOW.words,
    )
    return TestbenchParts(
        tasks=tasks,
        checks=checks,
        quick=quick,
        longest=longest,
        limit=_LIMIT + 2 * engine.most_cycles + longest + (SEED_CYCLES if description.trng else 0),
        cycles=_expected_cycles(engine.all_cycles + _REFUSAL_CYCLES),
        quick_cycles=_expected_cycles(quick_engine.all_cycles),
        codes={
            "COMMAND": call_codes(design),
            "ERROR": {error.name: error.value for error in Error},
        },
        spare="INTERRUPT_ENABLE",
    )


def _expected_cycles(cycles: int) -> int:
    """About how many cycles checks take, in thousands, with those of the registers."""
    return max(1000, round(cycles + _REGISTER_CYCLES, -3))
