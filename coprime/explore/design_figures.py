"""The figures of a design's data sheet: cycles are predicted, area and clock were measured.

They come from the measurements that ship with Coprime, so that the same build gives the same bytes;
or from the tools, now (`measured`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coprime.bus.axi_accelerator import transfer_cycles
from coprime.bus.command_control import front_end_cycles
from coprime.bus.kinds import Bus
from coprime.catalog import (
    CLUSTER,
    AnyDesign,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
)
from coprime.cells.target import Target
from coprime.device.jobs import EngineError
from coprime.engine.contract import Command, Error
from coprime.flow.mapping import Resources
from coprime.flow.routing import RoutedDesign
from coprime.flow.targets import flow_of
from coprime.flow.tool_errors import ToolError
from coprime.operations.encodings.rsa_key import WorstCaseNumbers, key_numbers
from coprime.operations.operation import Numbers
from coprime.package.figures import ClockFigures, Figures, OperationFigures, PartFigures
from coprime.padding.scheme import Padding
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers, sizes_of

from . import assessed, openssl
from .measure import PartToMap
from .points import Point
from .shipped import find, shipped_points
from .standard_keys import standard_key

LENGTHS = (512, 1024, 2048, 3072, 4096, 8192)
"""Bits of the moduli that operations are predicted for, and the design's longest one."""
SEEDS = (1, 2, 3, 4)  # of the placements that a clock is the best and the mean of
_WORD = 32
_PARTS = ("engine", "accelerator")
_LEAST_KEY = 64


def shipped(
    choice: AnyDesign,
    target: Target,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
) -> Figures:
    """The figures that are known without a measurement.

    Area and clock are those of the results that ship, where this very design is among them; an
    accelerator was measured without padding. The cycles of engines of byte strings are predicted as
    their data sheets are made.
    """
    if isinstance(choice, SuiteChoice):
        return Figures(engines=_engines(choice, target, bus, paddings))
    parts = []
    for part in _PARTS:
        if isinstance(choice, ClusterChoice):
            break
        on_bus = bus if part == "accelerator" else Bus.AXI4_LITE
        points = find(choice, target.value, part, on_bus)
        if points and (part == "engine" or not paddings):
            parts.append(_of_point(points[0], part))
    if isinstance(choice, CallChoice):
        return Figures(parts=parts, assessed=assessed.find(choice))
    return _figures(choice, bus, paddings, parts, openssl.shipped())


def measured(
    choice: AnyDesign,
    target: Target,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
    note: Callable[[str], None] = lambda _: None,
) -> Figures:
    """The figures as the tools find them now: minutes, unless they are in the cache.

    Engine and accelerator, or the cluster, are mapped; where the target has devices, they are
    placed and routed too, from each of `SEEDS`, on the device of the measurements that ship, or on
    a larger one if they do not fit that. OpenSSL is measured on this machine, for numbers only.
    `note` is called with what begins.
    Raises ValueError for a target without area, ToolError if a tool fails or no device is large
    enough.
    """
    parts = []
    single = isinstance(choice, Choice) or (isinstance(choice, CallChoice) and choice.cores == 1)
    whole = CLUSTER if isinstance(choice, ClusterChoice) else "accelerator"
    for part in _PARTS if single else (whole,):
        around = ((), Bus.AXI4_LITE) if part == "engine" else (tuple(paddings), bus)
        source = PartToMap(choice, part, target, *around)
        note(f"mapping the {part}")
        mapped = source.map()
        clock = None
        if flow_of(target).devices:
            note(f"placing and routing the {part} from {len(SEEDS)} seeds")
            clock = _clock(_route(source))
        parts.append(_part(part, mapped.resources, mapped.tools, mapped.target, clock))
    if isinstance(choice, SuiteChoice):
        return Figures(parts=parts, engines=_engines(choice, target, bus, paddings))
    if isinstance(choice, CallChoice):
        return Figures(parts=parts, assessed=assessed.find(choice))
    note("measuring OpenSSL")
    return _figures(choice, bus, paddings, parts, openssl.measure())


def _engines(
    choice: SuiteChoice, target: Target, bus: Bus, paddings: Collection[Padding]
) -> list[Figures]:
    """The figures of each engine, without area and clock, which are those of the engine alone."""
    return [
        replace(
            shipped(engine, target, bus, paddings if isinstance(engine, Choice) else ()),
            parts=(),
        )
        for engine in choice.engines
    ]


def _figures(
    choice: Choice | ClusterChoice,
    bus: Bus,
    paddings: Collection[Padding],
    parts: Sequence[PartFigures],
    software: openssl.SoftwareRun,
) -> Figures:
    return Figures(
        parts=parts,
        operations=_operations(choice, bus, padding=bool(paddings)),
        software=software.figures,
        software_found=software.found,
        assessed=assessed.find(choice),
    )


# --- Area and clock -----------------------------------------------------------------------------


def _of_point(point: Point, part: str) -> PartFigures:
    clock = None
    if point.fmax_mhz is not None:
        clock = ClockFigures(
            mean_mhz=point.fmax_mhz,
            best_mhz=point.fmax_best_mhz or point.fmax_mhz,
            seeds=point.placements or 1,
            found=_routed(point.tools, point.device),
        )
    resources = {name: getattr(point, name) for name in Resources.__dataclass_fields__}
    return _part(part, resources, point.tools, point.target, clock)


def _part(
    part: str,
    resources: Mapping[str, Any],
    tools: Mapping[str, str],
    target: str,
    clock: ClockFigures | None,
) -> PartFigures:
    found = f"mapped by Yosys {tools['yosys']} for {target}"
    return PartFigures(part=part, resources=Resources(**resources), found=found, clock=clock)


def _devices(target: Target) -> list[str]:
    """The target's devices on which a design is tried: first the one that most of the measurements
    that ship were made on, so that clocks compare; then larger ones."""
    known = list(flow_of(target).devices)
    used = Counter(
        device
        for point in shipped_points()
        for device in known
        if point.target == target.value and (point.device or "").startswith(device)
    )
    return known[max((known.index(device) for device, _ in used.most_common(1)), default=0) :]


def _route(source: PartToMap) -> RoutedDesign:
    """Place and route it on the first device that it fits."""
    *smaller, largest = _devices(source.target)
    for device in smaller:
        try:
            return source.route(device, SEEDS)
        except ToolError as error:
            if "does not fit" not in str(error):
                raise
    return source.route(largest, SEEDS)


def _clock(design: RoutedDesign) -> ClockFigures:
    clocks = design.fmax_by_seed.values()
    return ClockFigures(
        mean_mhz=round(sum(clocks) / len(clocks), 2),
        best_mhz=design.fmax_mhz,
        seeds=len(clocks),
        found=_routed(design.tools, design.device),
    )


def _routed(tools: Mapping[str, str], device: str | None) -> str:
    version = next(tools[name] for name in tools if name.startswith("nextpnr"))
    return f"placed and routed by nextpnr {version} for {device}"


# --- Cycles -------------------------------------------------------------------------------------


def _operations(
    choice: Choice | ClusterChoice, bus: Bus, *, padding: bool
) -> list[OperationFigures]:
    """Each operation at each length that the design takes, by operation and length."""
    core = choice.core
    capabilities = core.design.capabilities
    if capabilities.fixed_modulus is None:
        fitting = {
            bits for bits in LENGTHS if capabilities.min_length <= bits <= capabilities.max_length
        }
        lengths = sorted(fitting | {capabilities.max_length})
    else:
        lengths = [capabilities.max_length]
    found = []
    of_commands = [
        (command, bits)
        for command in sorted(capabilities.required)
        for bits in sizes_of(command, lengths)
    ]
    for command, bits in of_commands:
        numbers = _numbers(core, command, bits)
        if numbers is None:
            continue
        try:
            cycles = predict_operation(core.design, command, numbers).cycles
        except EngineError as error:  # the columns of two scalars may be too long
            if error.code is not Error.LENGTH_OVER:
                raise
            continue
        moved = command.operation.encoding.span(bits, capabilities.half_bits)
        words = -(-moved // _WORD)
        alone = isinstance(choice, Choice)
        front = front_end_cycles(capabilities, moved, padding=padding)
        found.append(
            OperationFigures(
                operation=command.name,
                bits=bits,
                engine_cycles=cycles,
                command_cycles=cycles + front if alone else None,
                moving_cycles=transfer_cycles(bus, words, words) if alone else None,
            )
        )
    return found


def _numbers(core: Choice, command: Command, bits: int) -> Numbers | None:
    """The worst case of an operation at a length; None if there are no such numbers."""
    capabilities = core.design.capabilities
    if not command.operation.is_private:
        public = random_numbers(
            command, bits, 1, exponents="worst", modulus=capabilities.fixed_modulus
        )
        # Where moduli are short, 65537 may be too long.
        return public if command.operation.encoding.lengths(public).fit(capabilities) else None
    half = bits // 2
    if (
        bits < _LEAST_KEY
        or bits % 2
        or half > capabilities.max_prime_length
        or half < capabilities.min_length
    ):
        return None
    key = standard_key(bits)
    if key is None:
        return None
    return {"x": 2, **key_numbers(key if capabilities.checked else WorstCaseNumbers.of_key(key))}
