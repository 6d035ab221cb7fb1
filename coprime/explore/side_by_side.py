"""The papers' figures beside what is measured here."""

from collections.abc import Sequence
from dataclasses import dataclass

from coprime.bus.axi_accelerator import Bus
from coprime.catalog import CLUSTER
from coprime.explore.points import Point
from coprime.explore.rebuild import area_command, cycles_command
from coprime.explore.system import SYSTEM
from coprime.papers.published import Computed, Measured, Source, Table

_SIMULATED = ("cycles", "predicted_cycles", "software_cycles", "utilization")
_ROUTED = ("fmax_mhz", "milliseconds", "area_time")
_PARTS = {
    "multiplier": "the multiplier of ",
    "accelerator": "the accelerator of ",
    "reduction": "the reduction of a word by ",
    "word-multiplier": "the product of two words by ",
    CLUSTER: "a cluster of ",
    SYSTEM: "a RISC-V system with ",
}


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """Our counterpart of one published figure."""

    where: str
    """What it was measured on; figures of one place may share a column."""
    value: float | None
    """In the published figure's unit; None if the results have no such point."""
    ratio: float | None
    """Measured over published; None if either is no number, or the published one is 0."""
    how: str
    command: str
    """The `coprime` command that measures it again; empty where only a sweep or a test does."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One published figure with all of its counterparts."""

    row: str
    x: float | None
    quantity: str
    unit: str
    published: int | float | str
    measurements: tuple[Counterpart, ...]


def compare(table: Table, points: Sequence[Point]) -> list[Comparison]:
    """Each published figure of a table, in the paper's order, with what is measured here."""
    return [
        Comparison(
            row=row.label,
            x=row.x,
            quantity=column.name,
            unit=column.unit,
            published=row.published[column.name],
            measurements=tuple(
                _counterpart(source, row.published[column.name], points)
                for source in row.here.get(column.name, ())
            ),
        )
        for row in table.rows
        for column in table.columns
        if column.name in row.published
    ]


def _counterpart(
    source: Source, published: int | float | str, points: Sequence[Point]
) -> Counterpart:
    parts = source.of if isinstance(source, Computed) else (source,)
    found = [(one, _find(one, points)) for one in parts]
    values = [_figure(one, point) for one, point in found]
    ways = dict.fromkeys(_way(one, point) for one, point in found)
    commands = dict.fromkeys(_command(one, point) for one, point in found if point)
    if isinstance(source, Computed):
        value = None if None in values else source.value(*values)
        where, how = source.where, "; ".join([source.how, *ways])
    else:
        (value,), where, how = values, source.where or _where(source), "; ".join(ways)
    numbers = value is not None and not isinstance(published, str) and published != 0
    ratio = value / published if numbers else None  # type: ignore[operator]
    return Counterpart(
        where=where, value=value, ratio=ratio, how=how, command="; ".join(filter(None, commands))
    )


def _find(source: Measured, points: Sequence[Point]) -> Point | None:
    return next((point for point in points if _matches(source, point)), None)


def _figure(source: Measured, point: Point | None) -> float | None:
    """The measured figure in the published unit."""
    value: float | None = getattr(point, source.column) if point else None
    return source.convert(value) if value is not None and source.convert else value


def _way(source: Measured, point: Point | None) -> str:
    figure = getattr(point, source.column) if point and source.convert else None
    raw = f"{source.column} {figure:,}" if figure is not None else ""
    return ", ".join(filter(None, (_how(source, point), raw, source.note)))


def _command(source: Measured, point: Point) -> str:
    return cycles_command(point) if source.column in _SIMULATED else area_command(point)


def _matches(source: Measured, point: Point) -> bool:
    return (
        point.status == "ok"
        and point.family == source.family
        and point.bits == source.bits
        and point.operation == source.operation
        and point.part == source.part
        and (point.cores, point.link_registers, point.stamped) == (source.cores, 0, False)
        and point.bus == source.bus
        and source.exponents in (None, point.exponents)
        and source.target in (None, point.target)
        and source.device in (None, point.device)
        and source.fits(point.parameters)
        and getattr(point, source.column) is not None
    )


def _where(source: Measured) -> str:
    if source.column in _SIMULATED:
        return "Simulation"
    state = "routed" if source.column in _ROUTED else "mapped"
    return f"{source.target}, {state}" if source.target != "unit-gate" else "Unit-gate estimate"


def _how(source: Measured, point: Point | None) -> str:
    exponents = {"worst": ", every exponent bit 1", "random": ", random exponents"}
    operation = f"{source.operation} of {source.bits} bits" + exponents.get(
        source.exponents or "", ""
    )
    cores = {"cores": source.cores} if source.cores else {}
    bus = {} if source.bus == Bus.AXI4_LITE.value else {"bus": source.bus}
    pairs = (cores | dict(source.parameters) | bus).items()
    settings = ", ".join(f"{name} {value}" for name, value in pairs)
    design = f"{source.family} with {settings}" if settings else source.family
    design = _PARTS.get(source.part, "") + design
    if point is None:
        place = source.device or source.target
        target = f" on {place}" if place else ""
        return f"not in these results: {source.column} of {design}, {operation}{target}"
    device = point.device or point.target
    counted = "simulated" if point.cycles is not None else "predicted"
    ways = {
        "cycles": f"counted in simulation: {design}, {operation}",
        "predicted_cycles": f"predicted: {design}, {operation}",
        "software_cycles": f"counted in simulation: software alone on the same processor,"
        f" {operation}",
        "utilization": f"counted in simulation: {design}, {operation}",
        "fmax_mhz": f"placed and routed: {design} on {device}",
        "milliseconds": f"{counted} cycles of {operation} over the clock of {design}, placed and"
        f" routed on {device}",
        "gate_area": f"unit-gate area of {design}",
        "gate_delay": f"unit-gate delay of {design}",
    }
    return ways.get(source.column, f"mapped with Yosys: {design} to {device}")
