"""What the data sheet of engines of numbers has: operations, lengths, software's beside them."""

import math
from collections.abc import Iterator
from dataclasses import asdict, replace

from coprime.ec.samples import curves_of
from coprime.engine.contract import Capabilities

from .description import Description, SheetParts
from .figures import OperationFigures
from .sheet import Cell

_PREDICTED = "predicted, exact"


def number_sheet(description: Description, mhz: float | None, template: str) -> SheetParts:
    """The parts of a data sheet, by its template: of an accelerator, or of a cluster."""
    design = description.core.design
    layout = getattr(design, "layout", None)
    software = _software(description, mhz)
    return SheetParts(
        template=template,
        values={
            "caps": design.capabilities,
            "software": software,
            "cleared": _cleared(description),
            "layout": layout,
        },
        first=list(_first(description)),
        headline=list(_headline(description, mhz)),
        rows={
            "operations": [
                _times(description, figures, mhz) for figures in description.figures.operations
            ],
            "software": software,
            "memory": layout.memory_map() if layout else [],
        },
    )


def _first(description: Description) -> Iterator[tuple[str, Cell, str]]:
    """What a reader looks for first."""
    caps = description.core.design.capabilities
    yield "operations", ", ".join(command.name for command in sorted(caps.required)), ""
    if caps.fixed_modulus is None:
        yield "modulus", f"{caps.min_length} to {caps.max_length} bits", ""
        curves = _curves(caps)
        if curves:
            yield "curves", ", ".join(curves), ""
    else:
        yield "modulus", f"{description.core.values['modulus']}, {caps.max_length} bits", ""
    proved = any(
        assessed.assessment == "constant time" for assessed in description.figures.assessed
    )
    found = "proved, see Assessments" if proved else "declared, not proved"
    yield "constant time", caps.constant_time, found if caps.constant_time else ""
    yield "results checked in hardware", caps.checked, ""
    if caps.blinded:
        names = ", ".join(command.name for command in caps.blinded)
        points = caps.supported(lambda operation: operation.encoding.gives_point)
        others = ", ".join(
            f"not {command.name}" for command in points if command not in caps.blinded
        )
        yield "scalars blinded", f"{names}: half the order's length in random bits", others


def _headline(description: Description, mhz: float | None) -> Iterator[tuple[str, Cell, str]]:
    """The longest operation that the engine is for: private, or else a power."""
    caps = description.core.design.capabilities
    headline = (*caps.private, *caps.powers)[0]
    longest = [
        figures for figures in description.figures.operations if figures.operation == headline.name
    ]
    for figures in longest[-1:]:
        cycles = figures.command_cycles or figures.engine_cycles
        text = f"{cycles:,} cycles"
        if mhz is not None:
            text += f", {cycles / mhz / 1000:.4g} ms"
        found = _PREDICTED if mhz is None else f"{_PREDICTED}; at {mhz:.4g} MHz"
        yield f"{figures.operation}, {figures.bits} bits", text, found


def _curves(caps: Capabilities) -> list[str]:
    """Names of the curves whose numbers the engine holds, of the operations that it has."""
    names = [
        curve.name
        for command in (*caps.on_curve, *sorted(caps.commands))
        for curve in curves_of(command)
        if replace(curve.lengths, exponent=0).fit(caps)
    ]
    return list(dict.fromkeys(names))


def _cycles(figures: OperationFigures) -> int:
    return (figures.command_cycles or figures.engine_cycles) + (figures.moving_cycles or 0)


def _times(
    description: Description, figures: OperationFigures, mhz: float | None
) -> dict[str, Cell]:
    """Cycles and times of an operation."""
    return {
        **asdict(figures),
        "milliseconds": _cycles(figures) / mhz / 1000 if mhz else None,
        "per_second": mhz * 1e6 / _cycles(figures) * description.cores if mhz else None,
        "found": _PREDICTED,
    }


def _software(description: Description, mhz: float | None) -> list[dict[str, Cell]]:
    """Operations a second beside software's; nothing for an engine without private operations."""
    caps, figures = description.core.design.capabilities, description.figures
    if not (caps.private and caps.public):
        return []
    cycles = {
        (measured.operation, measured.bits): _cycles(measured) for measured in figures.operations
    }
    names = {"private": caps.private[0].name, "public": caps.public[0].name}
    return [
        {
            "bits": software.bits,
            **{
                column: mhz * 1e6 / cycles[name, software.bits] * description.cores if mhz else None
                for column, name in names.items()
            },
            "openssl_private": software.private_per_second,
            "openssl_public": software.public_per_second,
            "found": figures.software_found,
        }
        for software in figures.software
        if (names["private"], software.bits) in cycles
    ]


def _cleared(description: Description) -> int:
    """Cycles after a reset in which an accelerator's buffers are cleared."""
    words = math.ceil(description.core.design.capabilities.max_length / 32)
    return (1 << max(1, (words - 1).bit_length())) + words
