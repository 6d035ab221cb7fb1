"""What published figures of curves are compared with: our engines, whose records the results have.

Cycles are predicted, as they are counted by the accelerator: without the hash, and without the
loading of operands. Signatures are those with `base_multiple=twice` unless it says once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from coprime.catalog import family_named
from coprime.engine.contract import Command
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_operands

from .published import Computed, Measured, Source

_ENGINES: Sequence[tuple[str, str, Mapping[str, int | str]]] = (
    ("compact, 1 DSP slice", "compact", {}),
    ("ring, 6 DSP slices", "ring", {"tile": "bal50", "tiles": 1, "delay": "auto"}),
    ("ring, 18 DSP slices", "ring", {"tile": "kara95", "tiles": 1, "delay": "1"}),
)


def curve_cycles(operation: str, bits: int) -> tuple[Source, ...]:
    """Cycles of an operation on the curve with so many bits, on one engine after the other."""
    return tuple(
        Measured(
            column="predicted_cycles",
            family=family,
            bits=bits,
            operation=operation,
            parameters={**_curves(operation), **parameters},
            part="accelerator",
            where=where,
        )
        for where, family, parameters in _ENGINES
    )


def signature_cycles(bits: int) -> tuple[Source, ...]:
    """The same of ECDSA, and of `compact` with k G made once, as the others make it."""
    once = Computed(
        value=lambda: _once(bits),
        how="predicted: compact with curves weierstrass, base_multiple once, ECDSA_SIGN_WITH of"
        f" {bits} bits",
        where="compact, k G made once",
        kind="predicted",
    )
    compact, *others = curve_cycles("ECDSA_SIGN_WITH", bits)
    return (compact, once, *others)


def signatures_a_second(operation: str, bits: int) -> tuple[Source, ...]:
    """Operations a second of `compact` placed and routed on ECP5."""
    return (
        Measured(
            column="milliseconds",
            family="compact",
            bits=bits,
            operation=operation,
            parameters=_curves(operation),
            part="accelerator",
            target="ecp5",
            convert=lambda milliseconds: 1000 / milliseconds,
            where="compact on ECP5, without software",
            note="ms of the accelerator alone",
        ),
    )


def _curves(operation: str) -> dict[str, int | str]:
    setting = Command[operation].operation.setting
    assert setting is not None
    return {**dict([setting]), "nonce": "host"}


@lru_cache
def _once(bits: int) -> int:
    settings = {"curves": "weierstrass", "base_multiple": "once", "max_bits": "1024"}
    command = Command.ECDSA_SIGN_WITH
    design = family_named("compact").choose(settings).design
    return predict_operation(design, command, random_operands(command, bits, seed=1)).cycles
