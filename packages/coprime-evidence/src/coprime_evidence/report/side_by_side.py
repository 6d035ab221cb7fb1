"""The papers' figures beside what is measured here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coprime.bus.kinds import Bus
from coprime.catalog import CLUSTER, NODES
from coprime.explore.points import Point
from coprime.explore.rebuild import area_command, cycles_command
from coprime.flow.part_names import SYSTEM
from coprime_evidence.papers.published import (
    Column,
    Computed,
    Derived,
    Figure,
    Measured,
    Row,
    Table,
)

_SIMULATED = ("cycles", "predicted_cycles", "software_cycles", "utilization")
_TIMES = ("milliseconds", "area_time")
_ROUTED = ("fmax_mhz", *_TIMES)
_GATES = ("gate_area", "gate_delay")
_PARTS = {
    "multiplier": "the multiplier of ",
    "accelerator": "the accelerator of ",
    "reduction": "the reduction of a word by ",
    "word-multiplier": "the product of two words by ",
    CLUSTER: "a cluster of ",
    SYSTEM: "a RISC-V system with ",
}


DERIVED = "derived"
"""The kind of what follows from the paper's other figures."""


@dataclass(frozen=True, kw_only=True)
class Counterpart:
    """A counterpart of one published figure: ours, or what follows from the paper's others."""

    where: str
    """What it was measured on, or follows from; figures of one place may share a column."""
    value: float | None
    """In the published figure's unit; None if the results have no such point."""
    ratio: float | None
    """`value` over published; None if either is no number, or the published one is 0."""
    kind: str
    """Of ours, what it rests on, separated by ", ": "simulated" or "predicted" cycles, "mapped",
    "routed", an estimate in "unit gates", "computed" from the design. Else DERIVED."""
    how: str
    command: str
    """The `coprime` commands that measure it, again or for the first time, separated by "; "; empty
    for what is derived, and for what is computed without a measurement."""
    devices: tuple[str, ...] = ()  # those of the points that it rests on, routed ones

    @property
    def label(self) -> str:
        """`where`, which says so of cycles that were predicted in place of simulated."""
        if self.value is not None and "predicted" in self.kind.split(", "):
            return self.where.replace("Simulation", "Prediction")
        return self.where


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One published figure with all of its counterparts."""

    row: str
    x: float | None
    quantity: str
    unit: str
    published: int | float | str
    measurements: tuple[Counterpart, ...]  # ours
    derived: tuple[Counterpart, ...] = ()  # arithmetic on the paper's own figures
    reason: str = ""
    """Why there are no `measurements`, in a phrase; empty if there are."""


def compare(table: Table, points: Sequence[Point]) -> list[Comparison]:
    """Each published figure of a table, in the paper's order, with its counterparts."""
    return [
        _comparison(row, column, points)
        for row in table.rows
        for column in table.columns
        if column.name in row.published
    ]


def _comparison(row: Row, column: Column, points: Sequence[Point]) -> Comparison:
    published, sources = row.published[column.name], row.here.get(column.name, ())
    ours = [source for source in sources if not isinstance(source, Derived)]
    return Comparison(
        row=row.label,
        x=row.x,
        quantity=column.name,
        unit=column.unit,
        published=published,
        measurements=tuple(_counterpart(source, published, points) for source in ours),
        derived=tuple(
            _derived(source, published) for source in sources if isinstance(source, Derived)
        ),
        reason="" if ours else row.reasons.get(column.name, ""),
    )


def _derived(source: Derived, published: Figure) -> Counterpart:
    value = source.value()
    return Counterpart(
        where=source.where,
        value=value,
        ratio=_ratio(value, published),
        kind=DERIVED,
        how=source.how,
        command="",
    )


def _counterpart(
    source: Measured | Computed, published: Figure, points: Sequence[Point]
) -> Counterpart:
    parts = source.of if isinstance(source, Computed) else (source,)
    found = [(part, find_point(part, points)) for part in parts]
    values = [_figure(part, point) for part, point in found]
    ways = _each(_way(part, point) for part, point in found)
    kinds = _each(kind for part, point in found for kind in _kinds(part, point))
    if isinstance(source, Computed):
        value = None if None in values else source.value(*values)
        where, how = source.where, "; ".join([source.how, *ways])
        kinds = kinds or [source.kind]
    else:
        (value,), where, how = values, source.where or _where(source), "; ".join(ways)
    commands = _each(
        command for part, point in found for command in commands_of(part, point or wanted(part))
    )
    return Counterpart(
        where=where,
        value=value,
        ratio=_ratio(value, published),
        kind=", ".join(kinds),
        how=how,
        command="; ".join(commands),
        devices=tuple(
            _each(point.device or "" for part, point in found if point and part.column in _ROUTED)
        ),
    )


def _each(texts: Iterable[str]) -> list[str]:
    """Each text once, without empty ones."""
    return [text for text in dict.fromkeys(texts) if text]


def _ratio(value: float | None, published: Figure) -> float | None:
    if value is None or isinstance(published, str) or published == 0:
        return None
    return value / published


def reasons(lines: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Each reason why nothing of ours is compared with figures, and their columns and rows."""
    groups: dict[str, list[Comparison]] = {}
    for line in lines:
        if line.reason:
            groups.setdefault(line.reason, []).append(line)
    every = {line.row for line in lines}

    def names(group: Sequence[Comparison]) -> str:
        rows = list(dict.fromkeys(comparison.row for comparison in group))
        quantities = "; ".join(dict.fromkeys(comparison.quantity for comparison in group))
        return quantities if {*rows} == every else f"{quantities} (rows: {'; '.join(rows)})"

    return [(reason, names(group)) for reason, group in groups.items()]


# --- Points -------------------------------------------------------------------------------------


def find_point(source: Measured, points: Sequence[Point]) -> Point | None:
    """The first point that the source asks for; with cycles a simulated one, if there is any."""
    found = [point for point in points if _matches(source, point)]
    simulated = (point for point in found if getattr(point, source.column) is not None)
    return next(simulated, found[0] if found else None)


def _matches(source: Measured, point: Point) -> bool:
    return (
        point.status == "ok"
        and point.family == source.family
        and point.bits == source.bits
        and point.operation == source.operation
        and point.part == source.part
        and (point.cores, point.link_registers, point.stamped) == (source.cores, 0, False)
        and (point.bus, point.node) == (source.bus, source.node)
        and source.exponents in (None, point.exponents)
        and source.target in (None, point.target)
        and source.device in (None, point.device)
        and source.fits(point.parameters)
        and _value(source, point) is not None
    )


def wanted(source: Measured) -> Point:
    """The point that a source asks for, without figures; a text that it leaves open is ""."""
    return Point(
        family=source.family,
        paper="",
        parameters=source.parameters,
        bits=source.bits,
        operation=source.operation,
        exponents=source.exponents or "",
        seed=1,
        target=source.target or "",
        device=source.device,
        part=source.part,
        cores=source.cores,
        node=source.node,
        bus=source.bus,
        fmax_mhz=0.0 if source.column in _ROUTED else None,
        status="missing",
        tools={},
        command="",
        key="",
    )


def _value(source: Measured, point: Point) -> float | None:
    """The column's figure, or predicted cycles in place of those that were not simulated."""
    value: float | None = getattr(point, source.column)
    return point.predicted_cycles if value is None and source.column == "cycles" else value


def _figure(source: Measured, point: Point | None) -> float | None:
    """The measured figure in the published unit."""
    value = _value(source, point) if point else None
    return source.convert(value) if value is not None and source.convert else value


# --- In words -----------------------------------------------------------------------------------


def _kinds(source: Measured, point: Point | None) -> list[str]:
    """What a figure rests on."""
    if source.column == "predicted_cycles":
        return ["predicted"]
    counted = "predicted" if point and point.cycles is None else "simulated"
    if source.column in _SIMULATED:
        return [counted]
    if source.column in _GATES:
        return ["unit gates"]
    return [counted] * (source.column in _TIMES) + [
        "routed" if source.column in _ROUTED else "mapped"
    ]


def _way(source: Measured, point: Point | None) -> str:
    figure = _value(source, point) if point and source.convert else None
    raw = f"{source.column} {figure:,}" if figure is not None else ""
    return ", ".join(filter(None, (_how(source, point), raw, source.note)))


def commands_of(source: Measured, point: Point) -> list[str]:
    """What measures the point again, as far as the column rests on it."""
    commands = []
    if source.column in (*_SIMULATED, *_TIMES):
        commands.append(cycles_command(point))
    if source.column not in _SIMULATED and point.target:  # without one any will do
        commands.append(area_command(point))
    return commands


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
    node = {} if source.node == NODES[0] else {"node": source.node}
    bus = {} if source.bus == Bus.AXI4_LITE.value else {"bus": source.bus}
    pairs = (cores | node | dict(source.parameters) | bus).items()
    settings = ", ".join(f"{name} {value}" for name, value in pairs)
    design = f"{source.family} with {settings}" if settings else source.family
    design = _PARTS.get(source.part, "") + design
    if point is None:
        place = source.device or source.target
        target = f" on {place}" if place else ""
        return f"not in these results: {source.column} of {design}, {operation}{target}"
    device = point.device or point.target
    counted = "simulated" if point.cycles is not None else "predicted"
    how = "counted in simulation" if point.cycles is not None else "predicted"
    ways = {
        "cycles": f"{how}: {design}, {operation}",
        "predicted_cycles": f"predicted: {design}, {operation}",
        "software_cycles": f"counted in simulation: software alone on the same processor,"
        f" {operation}",
        "utilization": f"{how}: {design}, {operation}",
        "fmax_mhz": f"placed and routed: {design} on {device}",
        "milliseconds": f"{counted} cycles of {operation} over the clock of {design}, placed and"
        f" routed on {device}",
        "gate_area": f"unit-gate area of {design}",
        "gate_delay": f"unit-gate delay of {design}",
    }
    return ways.get(source.column, f"mapped with Yosys: {design} to {device}")
