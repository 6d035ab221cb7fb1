"""A sweep's specification in TOML, and the points that it asks for.

docs/sweeps.md tells the keys with examples.
"""

import difflib
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from coprime.catalog import (
    CLUSTER,
    CLUSTER_PARAMETERS,
    FAMILIES,
    AnyParameter,
    Choice,
    ChoiceParameter,
    ClusterChoice,
    Family,
    ModulusParameter,
    family_named,
)
from coprime.engine.contract import Command
from coprime.flow.ecp5 import DEFAULT_DEVICE, DEVICES
from coprime.flow.package import PARTS, check_part

from .multiplication import ALONE
from .operands import EXPONENTS, has_exponent

__all__ = [
    "TARGETS",
    "AreaTask",
    "PlannedPoint",
    "RunTask",
    "parse_specification",
    "read_specification",
]

TARGETS = ("xc7", "ecp5", "unit-gate")
OPERATIONS = tuple(command.name for command in Command if command is not Command.WIPE)
ALL = "all"
SHIPPED = {
    "all": ("all", "compression"),
    "compression": ("compression",),
    "full": ("all", "compression", "full"),
}
"""Specifications that come with Coprime, each with the files that it is made of."""
SIZE = "bits"
"""A parameter of this value follows the size."""
_BITS = "{bits}"
"""In a text, as of a modulus: the size."""
SIMULATE_CYCLES = 50_000_000
"""An operation of more cycles is predicted and not simulated, unless the specification says so."""

_KEYS = (
    *("families", "parameters", "bits", "operations", "exponents", "operand_seed"),
    *("targets", "part", "cores", "route", "device", "route_seeds", "simulate_cycles"),
)
_PARTS = (*PARTS, CLUSTER)
_CORES = {parameter.name: parameter for parameter in CLUSTER_PARAMETERS}["cores"]
_RANGE_KEYS = ("from", "to", "step", "factor")


@dataclass(frozen=True)
class _Design:
    """A family with its parameters, as workers are told of it."""

    family: str
    parameters: tuple[tuple[str, int | str], ...]

    @property
    def choice(self) -> Choice:
        """The point of the catalogue."""
        settings = {name: str(value) for name, value in self.parameters}
        return family_named(self.family).choose(settings)


@dataclass(frozen=True)
class AreaTask(_Design):
    """Map a part of a design to a target; place and route it if `route_seeds` names seeds.

    The part CLUSTER is `cores` engines on a chain.
    """

    target: str
    part: str
    route_seeds: tuple[int, ...]
    device: str
    """What it is placed on, one of `coprime.flow.ecp5.DEVICES`; empty if it is not."""
    cores: int = 0
    """Of a cluster; 0 for the other parts."""

    @property
    def built(self) -> Choice | ClusterChoice:
        """What `coprime build` makes: the design, or a cluster of it."""
        return ClusterChoice(self.choice, self.cores) if self.part == CLUSTER else self.choice


@dataclass(frozen=True)
class RunTask(_Design):
    """Count the cycles of an operation; predict them only if there are over `simulate_cycles`."""

    bits: int
    operation: str
    """A command's name, or one of ALONE's: what a part does by itself."""
    exponents: str
    operand_seed: int
    simulate_cycles: int


@dataclass(frozen=True)
class PlannedPoint:
    """A point to measure: what its area and what its cycles come from."""

    area: AreaTask
    run: RunTask


def read_specification(name: str) -> list[PlannedPoint]:
    """Read a specification's file, or one of those that come with Coprime (`SHIPPED`).

    Raises OSError if it cannot be read, ValueError as `parse_specification` does.
    """
    shipped = resources.files("coprime.explore")
    files = [shipped.joinpath(f"{part}.toml") for part in SHIPPED.get(name, ())] or [Path(name)]
    try:
        return parse_specification("\n".join(file.read_text("utf-8") for file in files))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def parse_specification(text: str) -> list[PlannedPoint]:
    """Give the points that a specification asks for, each once, in its order.

    Raises ValueError, in one sentence, for what is not TOML, an unknown key, family, parameter,
    operation or target, or a value out of its range.
    """
    document = tomllib.loads(text)
    _check_keys("the file", document, ("sweep",))
    entries = document.get("sweep")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("there must be at least one table [[sweep]]")
    points = (point for entry in entries for point in _entry(entry))
    return list(dict.fromkeys(points))


# --- One table ----------------------------------------------------------------------------------


def _entry(entry: Mapping[str, Any]) -> Iterator[PlannedPoint]:
    _check_keys("[[sweep]]", entry, _KEYS)
    (part,) = _names("part", _text("part", entry.get("part", _PARTS[0])), _PARTS)
    alone = part in ALONE
    if alone and "operations" in entry:
        does = "multiplies" if part == "multiplier" else "reduces words"
        raise ValueError(f"part {part!r} {does}: it takes no operations")
    if part != CLUSTER and "cores" in entry:
        raise ValueError(f"cores are those of the part 'cluster': part {part!r} has none")
    optional = {"operations": alone, "cores": part != CLUSTER}
    for key in ("families", "bits", "operations", "targets", "cores"):
        if key not in entry and not optional.get(key):
            raise ValueError(f"[[sweep]] must have the key {key!r}")
    sizes = _integers("bits", entry["bits"], 1)
    exponents = _names("exponents", entry.get("exponents", EXPONENTS[0]), EXPONENTS)
    targets = _names("targets", entry["targets"], TARGETS)
    (operand_seed,) = _integers("operand_seed", _one("operand_seed", entry, 1), 0)
    (simulate,) = _integers("simulate_cycles", _one("simulate_cycles", entry, SIMULATE_CYCLES), 0)
    route = entry.get("route", True)
    if not isinstance(route, bool):
        raise ValueError(f"route must be true or false, not {route!r}")
    route_seeds = tuple(_integers("route_seeds", entry.get("route_seeds", 1), 0))
    device = _text("device", entry.get("device", DEFAULT_DEVICE))
    _names("device", device, list(DEVICES))
    if "device" in entry and not (route and "ecp5" in targets):
        raise ValueError("device is what ecp5 is placed and routed on; nothing is, here")
    if part in ("accelerator", CLUSTER) and "unit-gate" in targets:
        raise ValueError(
            "part must be 'engine' or 'multiplier', or one on words, for the target unit-gate"
        )
    cores = _cores(entry["cores"]) if part == CLUSTER else [0]

    families = _families(entry["families"])
    every = entry["families"] == ALL
    settings = _settings(families, entry.get("parameters", {}))
    for family, size in itertools.product(families, sizes):
        for choice in _choices(family, size, settings, skip=every):
            check_part(choice, part)
            own = choice.design.capabilities
            if every and not own.min_length <= size <= own.max_length:
                continue
            design = (family.name, tuple(choice.values.items()))
            operations = (
                [ALONE[part]] if alone else _operations(choice, entry["operations"], skip=every)
            )
            runs = [
                RunTask(*design, size, operation, which, operand_seed, simulate)
                for operation in operations
                for which in (exponents if _has_exponent(operation) else EXPONENTS[-1:])
            ]
            areas = [
                AreaTask(*design, target, part, *routing, number)
                for target in targets
                for routing in [(route_seeds, device) if route and target == "ecp5" else ((), "")]
                for number in cores
            ]
            yield from (PlannedPoint(area, run) for area in areas for run in runs)


def _families(value: object) -> Sequence[Family]:
    if value == ALL:
        return tuple(FAMILIES.values())
    return [family_named(_text("families", name)) for name in _list("families", value)]


def _settings(families: Sequence[Family], table: object) -> Mapping[str, Sequence[int | str]]:
    """Values of each parameter, which at least one of the families has."""
    if not isinstance(table, dict):
        raise ValueError(f"parameters must be a table of names and values, not {table!r}")
    known = {parameter.name: parameter for family in families for parameter in family.parameters}
    _check_keys("parameters", table, list(known))
    return {
        name: [
            setting
            for one in (value if isinstance(value, list) else [value])
            for setting in _values(known[name], one)
        ]
        for name, value in table.items()
    }


def _values(parameter: AnyParameter, value: object) -> Sequence[int | str]:
    if value == SIZE:
        return [SIZE]
    if isinstance(parameter, ModulusParameter):
        return [_text(parameter.name, value)]
    if isinstance(parameter, ChoiceParameter):
        return _names(parameter.name, value, parameter.choices)
    return _integers(parameter.name, value, None)


def _choices(
    family: Family, size: int, settings: Mapping[str, Sequence[int | str]], *, skip: bool
) -> Iterator[Choice]:
    """The family with every combination of values; `skip` those out of range that are the size."""
    names = [parameter.name for parameter in family.parameters if parameter.name in settings]
    for values in itertools.product(*(settings[name] for name in names)):
        chosen = {
            name: str(size if value == SIZE else value).replace(_BITS, str(size))
            for name, value in zip(names, values, strict=True)
        }
        try:
            yield family.choose(chosen)
        except ValueError as error:
            if skip and SIZE in values:
                continue
            raise ValueError(f"{family.name}: {error}") from error


def _operations(choice: Choice, value: object, *, skip: bool) -> Sequence[str]:
    """Operations of a design; `skip` those that it does not do."""
    able = [command.name for command in sorted(choice.design.capabilities.required)]
    if value == ALL:
        return able
    wanted = _names("operations", value, OPERATIONS)
    for name in wanted:
        if name not in able and not skip:
            raise ValueError(f"{choice.family.name} does not do {name}; it does {', '.join(able)}")
    return [name for name in wanted if name in able]


def _cores(value: object) -> list[int]:
    return [_CORES.parse(str(number)) for number in _integers("cores", value, None)]


def _has_exponent(operation: str) -> bool:
    return operation not in ALONE.values() and has_exponent(Command[operation])


# --- Values -------------------------------------------------------------------------------------


def _check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"{where} has no key {key!r}; {_nearest(key, known)}")


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name.lower(), {one.lower(): one for one in known}, n=1)
    for one in known:
        if near and one.lower() == near[0]:
            return f"did you mean {one}?"
    return f"there are: {', '.join(known) or 'none'}"


def _list(key: str, value: object) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{key} must have at least one value")
    return values


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} must be text, not {value!r}")
    return value


def _one(key: str, entry: Mapping[str, Any], default: int) -> object:
    value = entry.get(key, default)
    if isinstance(value, list | dict):
        raise ValueError(f"{key} must be one integer, not {value!r}")
    return value


def _names(key: str, value: object, known: Sequence[str]) -> Sequence[str]:
    names = [_text(key, one) for one in _list(key, value)]
    for name in names:
        if name not in known:
            raise ValueError(f"{key} has no value {name!r}; {_nearest(name, known)}")
    return names


def _integers(key: str, value: object, minimum: int | None) -> list[int]:
    """Integers, of a list, alone or as ranges."""
    numbers: list[int] = []
    for one in _list(key, value):
        numbers += _range(key, one) if isinstance(one, dict) else [_integer(key, one)]
    for number in numbers:
        if minimum is not None and number < minimum:
            raise ValueError(f"{key} must be {minimum} or more, not {number}")
    return numbers


def _integer(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} must be an integer or a range, not {value!r}")
    return value


def _range(key: str, table: Mapping[str, Any]) -> Iterable[int]:
    """{from, to, step} or {from, to, factor}, both ends included."""
    _check_keys(f"a range of {key}", table, _RANGE_KEYS)
    if not {"from", "to"} <= table.keys() or {"step", "factor"} <= table.keys():
        raise ValueError(f"a range of {key} must have from, to, and one of step and factor")
    numbers = {name: _integer(f"{name} of {key}", value) for name, value in table.items()}
    first, last = numbers["from"], numbers["to"]
    step, factor = numbers.get("step", 1), numbers.get("factor")
    if first > last:
        raise ValueError(f"a range of {key} must not go from {first} down to {last}")
    if factor is None:
        if step < 1:
            raise ValueError(f"step of {key} must be 1 or more, not {step}")
        return range(first, last + 1, step)
    if factor < 2 or first < 1:
        raise ValueError(f"a range of {key} with a factor needs from >= 1 and factor >= 2")
    powers = itertools.takewhile(
        lambda n: n <= last, (first * factor**k for k in itertools.count())
    )
    return list(powers)
