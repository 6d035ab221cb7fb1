"""What published figures of curves are compared with: our engines, whose records the results have.

Cycles are predicted, as they are counted by the accelerator: without the hash, and without the
loading of operands. Signatures make k G twice.
"""

from collections.abc import Mapping, Sequence

from coprime.engine.contract import Command

from .published import Measured, Source

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
    return {**dict([setting]), "ecdsa": "host"}
