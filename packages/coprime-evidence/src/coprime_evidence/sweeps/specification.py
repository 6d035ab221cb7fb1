"""A sweep's specification in TOML, and the points that it asks for.

pydantic validates the shape of a table; `_sentence` puts its first finding into our words. What
depends on a family (parameters, operations, parts) is checked as the points are made. The keys are
described with examples in docs/sweeps.md.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from coprime.bus.kinds import Bus
from coprime.calls.interface import Call
from coprime.catalog import (
    CALL_FAMILIES,
    CLUSTER,
    CLUSTER_PARAMETERS,
    FAMILIES,
    NODES,
    CallChoice,
    CallFamily,
    Choice,
    ClusterChoice,
    Family,
    call_names,
    choose_engine,
    family_named,
)
from coprime.cells.target import Target
from coprime.engine.contract import Command
from coprime.engine.former_parameters import check_former
from coprime.errors import hint
from coprime.explore.system import OPERATION
from coprime.flow.part_names import ALONE, PARTS, SYSTEM
from coprime.flow.parts import check_part
from coprime.flow.stamping.stamp import STAMPING
from coprime.flow.targets import DEVICES, FLOWS, flow_of, route_targets
from coprime.parameters import (
    AnyParameter,
    BudgetParameter,
    ChoiceParameter,
    ModulusParameter,
    Parameter,
)
from coprime.runs.exponents import EXPONENTS
from coprime.soc.exponentiation import MAX_BITS

from .specification_names import SPECIFICATIONS

NOT_MAPPED = Target.GENERIC.value  # a target without area
TARGETS = (*(target.value for target in FLOWS), "unit-gate", NOT_MAPPED)
OPERATIONS = tuple(command.name for command in Command if command.operation.computes)
CALLS = tuple(call_names())
BUSES = tuple(bus.value for bus in Bus)  # the default first
ALL = "all"
SIZE = "bits"  # a parameter of this value follows the size
_BITS = "{bits}"  # in a text, such as a modulus: the size
SIMULATE_CYCLES = 50_000_000
"""An operation of more cycles is predicted and not simulated, unless the specification says so."""
Value = TypeVar("Value")
_ON_A_BUS = ("accelerator", CLUSTER, SYSTEM)  # parts with a bus
_OF_A_CLUSTER = {
    parameter.name: parameter
    for parameter in CLUSTER_PARAMETERS
    if isinstance(parameter, Parameter)
}


# --- Points -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Design:
    """A family with its parameters, in a form that is sent to workers."""

    family: str
    parameters: tuple[tuple[str, int | str], ...]

    @property
    def choice(self) -> Choice | CallChoice:
        """The point of the catalogue."""
        return choose_engine(self.family, {name: str(value) for name, value in self.parameters})


@dataclass(frozen=True)
class AreaTask(_Design):
    """Map a part of a design to a target; place and route it if `route_seeds` names seeds.

    The part CLUSTER is `cores` engines on a chain.
    """

    target: str
    part: str
    route_seeds: tuple[int, ...]
    device: str
    """What it is placed on, one of `coprime.flow.targets.DEVICES`; empty if it is not placed."""
    cores: int = 0
    """Of a cluster; 0 for the other parts."""
    link_registers: int = 0  # of a cluster, too
    node: str = NODES[0]  # the same
    stamped: bool = False
    """Whether a cluster's node is placed once and copied; `route_seeds` are then those of it."""
    bus: str = Bus.AXI4_LITE.value
    """Of the accelerator, the cluster or the system; without meaning for the other parts."""

    @property
    def built(self) -> Choice | CallChoice | ClusterChoice:
        """What `coprime build` makes: the design, or a cluster of it."""
        choice = self.choice
        if self.part != CLUSTER or isinstance(choice, CallChoice):
            return choice
        core = replace(choice, bare=self.node != NODES[0])
        return ClusterChoice(core, self.cores, self.link_registers)


@dataclass(frozen=True)
class RunTask(_Design):
    """Count the cycles of an operation; only predict them if there are over `simulate_cycles`."""

    bits: int
    operation: str  # a command's name, or one of ALONE's: what a part does alone
    exponents: str
    operand_seed: int
    simulate_cycles: int
    system_bus: str = ""
    """Of the part SYSTEM, whose processor does the operation: the accelerator's bus; else empty."""
    parameter_set: str = ""
    """Of a call of an engine of byte strings."""


@dataclass(frozen=True)
class PlannedPoint:
    """A point to measure: what its area and what its cycles come from."""

    area: AreaTask
    run: RunTask
    refusal: str | None = None
    """Why it cannot be, in one sentence; such a point fails without being measured."""


def read_specification(name: str) -> list[PlannedPoint]:
    """Read a specification's file, or one of those that come with Coprime (`SPECIFICATIONS`).

    Raises OSError if it cannot be read, ValueError as `parse_specification` does.
    """
    shipped = [Path(__file__).with_name(f"{part}.toml") for part in SPECIFICATIONS.get(name, ())]
    files = shipped or [Path(name)]
    try:
        return parse_specification("\n".join(file.read_text("utf-8") for file in files))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def parse_specification(text: str) -> list[PlannedPoint]:
    """The points that a specification asks for, each once, in its order.

    Raises ValueError, in one sentence, for what is not TOML, an unknown key, family, parameter,
    operation or target, or a value out of its range.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last = len(text.splitlines())
        raise ValueError(
            str(error).replace("at end of document", f"at its end, line {last}")
        ) from None
    try:
        _check_keys("the file", document, ("sweep",))
    except _WrongKey as error:
        raise ValueError(f"{error} (line {_line_of(text, 0, error.key)})") from None
    tables = document.get("sweep")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError("there must be at least one table [[sweep]]")
    points: dict[PlannedPoint, None] = {}
    for number, table in enumerate(tables, 1):
        try:
            for part in _listed(table.get("part", PARTS[0])):
                points |= dict.fromkeys(_points(_validated(_Sweep, {**table, "part": part})))
        except ValueError as error:
            key = error.key if isinstance(error, _WrongKey) else ""
            raise ValueError(f"{error} (line {_line_of(text, number, key)})") from error
    return list(points)


class _WrongKey(ValueError):  # noqa: N818
    """What is wrong with the value of a key, or with its name."""

    def __init__(self, message: str, key: str):
        super().__init__(message)
        self.key = key


def _line_of(text: str, number: int, key: str) -> int:
    """The line of a key in the table [[sweep]] of this number, 0 for what is before the first one.

    Of the table if the key is not in it, as where it is missing.
    """
    named = re.escape(key)
    wanted = re.compile(rf"(?:^|[\s,{{.\"']){named}[\"']?\s*=|^\s*\[+\s*(?:sweep\.)?{named}\s*\]")
    found, table = 1, 0
    for line, content in enumerate(text.splitlines(), 1):
        if _TABLE.match(content):
            table += 1
            found = line if table == number else found
        if key and table == number and wanted.search(content.partition("#")[0]):
            return line
    return found


_TABLE = re.compile(r"\s*\[\[\s*sweep\s*\]\]")


# --- The shape of a table -----------------------------------------------------------------------


class _Table(BaseModel):
    """A table with these keys only, whose values have exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Range(_Table):
    """{from, to, step} or {from, to, factor}, both ends included."""

    first: int = Field(alias="from")
    last: int = Field(alias="to")
    step: int = Field(1, ge=1)
    factor: int | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if {"step", "factor"} <= self.model_fields_set:
            raise ValueError("as a range must have from, to, and one of step and factor")
        if self.first > self.last:
            raise ValueError(f"as a range must not go from {self.first} down to {self.last}")
        if self.factor is not None and (self.factor < 2 or self.first < 1):
            raise ValueError("as a range with a factor must have from >= 1 and factor >= 2")
        return self

    @property
    def numbers(self) -> Sequence[int]:
        """Every number of it."""
        if self.factor is None:
            return range(self.first, self.last + 1, self.step)
        powers = (self.first * self.factor**k for k in itertools.count())
        return list(itertools.takewhile(lambda number: number <= self.last, powers))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _numbers(value: object) -> list[Any]:
    """A list of integers, in which each range becomes its numbers."""
    each = (
        _Range(**entry).numbers if isinstance(entry, dict) else [entry] for entry in _listed(value)
    )
    return [number for numbers in each for number in numbers]


def _among(known: Sequence[str]) -> AfterValidator:
    """Refuses a text, or a text of a list, that is not known."""

    def check(value: Value) -> Value:
        for name in _listed(value):
            if name not in known:
                raise ValueError(f"has no value {name!r}; {hint(name, known)}")
        return value

    return AfterValidator(check)


_SOME = Field(min_length=1)
_Texts = Annotated[list[str], BeforeValidator(_listed), _SOME]
_Integers = Annotated[list[int], BeforeValidator(_numbers), _SOME]
_Sizes = Annotated[list[Annotated[int, Field(ge=1)]], BeforeValidator(_numbers), _SOME]
_Seeds = Annotated[list[Annotated[int, Field(ge=0)]], BeforeValidator(_numbers), _SOME]


class _Sweep(_Table):
    """A table [[sweep]], which is the product of its lists; a value alone is a list of one."""

    families: _Texts
    parameters: dict[str, Annotated[list[Any], BeforeValidator(_listed)]] = {}
    bits: _Sizes | None = None
    sets: _Texts | None = None
    operations: Annotated[_Texts, _among((ALL, *OPERATIONS, *CALLS))] | None = None
    exponents: Annotated[_Texts, _among(EXPONENTS)] = [EXPONENTS[0]]
    operand_seed: int = Field(1, ge=0)
    targets: Annotated[_Texts, _among(TARGETS)]
    part: Annotated[str, _among((*PARTS, CLUSTER, SYSTEM))] = PARTS[0]
    bus: Annotated[_Texts, _among(BUSES)] | None = None
    cores: _Integers | None = None
    link_registers: _Integers | None = None
    node: Annotated[str, _among(NODES)] | None = None
    stamp: bool = False
    route: bool = True
    device: Annotated[str, _among(list(DEVICES))] | None = None
    route_seeds: _Seeds = [1]
    simulate_cycles: int = Field(SIMULATE_CYCLES, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.alone and self.operations is not None:
            does = "multiplies" if self.part == "multiplier" else "reduces words"
            raise ValueError(f"part {self.part!r} {does}: it takes no operations")
        for key in ("cores", "link_registers", "node"):
            if self.part != CLUSTER and getattr(self, key) is not None:
                raise ValueError(f"{key!r} is for the part 'cluster': part {self.part!r} has none")
        if self.bus is not None and self.part not in _ON_A_BUS:
            raise ValueError(
                f"bus is of the parts {', '.join(map(repr, _ON_A_BUS))}: part {self.part!r} has"
                " none"
            )
        if self.part == SYSTEM and self.operations not in (None, [OPERATION]):
            raise ValueError(f"part 'system' does {OPERATION} only")
        if self.stamp and (
            self.part != CLUSTER or not self.route or self.targets != [STAMPING.value]
        ):
            raise ValueError(
                f"stamp is for the part 'cluster', placed and routed on {STAMPING.value} only"
            )
        numbers = not {*self.families} <= {*CALL_FAMILIES}
        if numbers and self.sets is not None:
            raise ValueError("sets are of engines of byte strings: engines of numbers have none")
        if not numbers and self.part not in PARTS[:2]:
            raise ValueError(f"part {self.part!r} is of engines of numbers, not of byte strings")
        for key, needed in (
            ("bits", numbers),
            ("operations", not self.alone),
            ("cores", self.part == CLUSTER),
        ):
            if needed and getattr(self, key) is None:
                raise ValueError(f"[[sweep]] must have the key {key!r}")
        if self.device is not None and not (
            self.route and any(self.device in _devices(target) for target in self.targets)
        ):
            raise ValueError(f"device {self.device} is of no target that is placed and routed here")
        if self.part != SYSTEM and NOT_MAPPED in self.targets:
            raise ValueError(f"the target {NOT_MAPPED} has no area: it is for the part 'system'")
        if self.part in _ON_A_BUS and "unit-gate" in self.targets:
            raise ValueError(
                "part must be 'engine' or 'multiplier', or one on words, for the target unit-gate"
            )
        return self

    @property
    def alone(self) -> bool:
        """Whether the part has one operation only."""
        return self.part in ALONE

    @property
    def every(self) -> bool:
        """Whether every family is asked for, each as far as it can."""
        return self.families == [ALL]


# --- Its errors ---------------------------------------------------------------------------------


def _validated(kind: Any, value: object, key: str = "") -> Any:
    """The value as a type of pydantic's; `key` is its name, unless it is a whole [[sweep]].

    Raises ValueError, in one sentence.
    """
    config = None if kind is _Sweep else ConfigDict(strict=True)
    try:
        return TypeAdapter(kind, config=config).validate_python(value)
    except ValidationError as error:
        # An unknown key comes first, since it may be the reason that another is missing.
        found = min(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
    path = [key, *found["loc"]] if key else list(found["loc"])
    sentence = _sentence(found["type"], path, found["input"], found.get("ctx", {}))
    raise _WrongKey(sentence, str(path[0]) if path else "")


def _sentence(
    kind: str, path: Sequence[int | str], value: object, context: Mapping[str, Any]
) -> str:
    """One of pydantic's errors in our words: the key, what its value must be, and what it is."""
    names = [part for part in path if isinstance(part, str)]
    key = names[-1] if names else ""
    model: type[_Table] = _Sweep
    table, name = "[[sweep]]", key
    if len(names) > 1:  # a key of a range
        model, table, name = _Range, f"a range of {names[0]}", f"{key} of {names[0]}"
    if kind == "extra_forbidden":
        keys = [field.alias or name for name, field in model.model_fields.items()]
        return _unknown_key(table, key, keys)
    if kind == "missing":
        return f"{table} must have the key {key!r}"
    if kind == "value_error":
        return f"{name} {context['error']}".lstrip()
    if kind == "too_short":
        return f"{name} must have at least one value"
    if kind == "greater_than_equal":
        return f"{name} must be {context['ge']} or more, not {value}"
    wanted = {
        "bool_type": "true or false",
        "dict_type": "a table of names and values",
        "int_type": "one integer" if path[-1] == key else "an integer or a range",
        "string_type": "text",
    }
    return f"{name} must be {wanted.get(kind, 'of another type')}, not {value!r}"


def _check_keys(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            raise _WrongKey(_unknown_key(where, key, known), key)


def _unknown_key(where: str, key: str, known: Sequence[str]) -> str:
    return f"{where} has no key {key!r}; {hint(key, known)}"


# --- From tables to points ----------------------------------------------------------------------


def _points(table: _Sweep) -> Iterator[PlannedPoint]:
    chains = [
        (cores, registers)
        for cores in _of_a_cluster("cores", table.cores)
        for registers in _of_a_cluster("link_registers", table.link_registers)
    ]
    families: Sequence[Family | CallFamily] = (
        tuple(FAMILIES.values())
        if table.every
        else [CALL_FAMILIES.get(name) or family_named(name) for name in table.families]
    )
    settings = _settings(families, table.parameters)
    for family, size in itertools.product(families, table.bits or [0]):
        for choice in _choices(family, size, settings, skip=table.every):
            if isinstance(choice, Choice):
                check_part(choice, table.part)
                capabilities = choice.design.capabilities
                if table.every and not capabilities.min_length <= size <= capabilities.max_length:
                    continue
            design = (family.name, tuple(choice.values.items()))
            for bus in table.bus or BUSES[:1]:
                runs = [
                    RunTask(
                        *(*design, size, name, exponents),
                        *(table.operand_seed, table.simulate_cycles),
                        system_bus=bus if table.part == SYSTEM else "",
                        parameter_set=parameter_set,
                    )
                    for name, exponents, parameter_set in _work(choice, table, size)
                ]
                areas = [
                    AreaTask(
                        *(*design, target, table.part, *_routing(target, table)),
                        cores=cores,
                        link_registers=registers,
                        node=table.node or NODES[0],
                        stamped=table.stamp,
                        bus=bus,
                    )
                    for target in table.targets
                    for cores, registers in chains
                ]
                yield from (
                    PlannedPoint(area, run, _refusal(choice, run)) for area in areas for run in runs
                )


def _of_a_cluster(name: str, values: Sequence[int] | None) -> Sequence[int]:
    """Values of one of its parameters; 0 where there are none."""
    return [_OF_A_CLUSTER[name].parse(str(value)) for value in values or []] or [0]


def _refusal(choice: Choice | CallChoice, run: RunTask) -> str | None:
    """Why a design cannot do an operation at this size; None if it can."""
    if isinstance(choice, CallChoice):
        return None
    capabilities, name, bits = choice.design.capabilities, choice.family.name, run.bits
    if run.operation not in OPERATIONS:
        return None
    if capabilities.fixed_modulus is not None and bits != capabilities.fixed_modulus.bit_length():
        return (
            f"{name} is for a modulus of {capabilities.fixed_modulus.bit_length()} bits, not {bits}"
        )
    if not capabilities.min_length <= bits <= capabilities.max_length:
        allowed = f"{capabilities.min_length} to {capabilities.max_length}"
        return f"{name} with these parameters takes moduli of {allowed} bits, not {bits}"
    if run.system_bus and bits > MAX_BITS:
        return f"the system's firmware exponentiates up to {MAX_BITS} bits, not {bits}"
    encoding = Command[run.operation].operation.encoding
    if bits < encoding.least_bits:
        return f"a key must have {encoding.least_bits} bits or more, not {bits}"
    prime = encoding.lengths_of(bits).prime
    if capabilities.max_prime_length and prime > capabilities.max_prime_length:
        most = capabilities.max_prime_length
        return f"{name} with these parameters takes primes of up to {most} bits, not {prime}"
    return None


def _work(choice: Choice | CallChoice, table: _Sweep, size: int) -> Iterator[tuple[str, str, str]]:
    """Each operation of a design, with the exponents to use and the parameter set; those that it
    lacks are left out where every family is asked for."""
    if isinstance(choice, CallChoice):
        yield from _calls(choice, table, size)
        return
    if table.alone:
        yield ALONE[table.part], "random", ""
        return
    able = [command.name for command in sorted(choice.design.capabilities.required)]
    wanted = able if table.operations == [ALL] else table.operations or []
    for name in wanted:
        if name in able:
            kinds = table.exponents if Command[name].operation.has_secret_exponent else ["random"]
            yield from ((name, exponents, "") for exponents in kinds)
        elif not table.every:
            raise ValueError(f"{choice.family.name} does not do {name}; it does {', '.join(able)}")


def _calls(choice: CallChoice, table: _Sweep, size: int) -> Iterator[tuple[str, str, str]]:
    """Each call with each parameter set. ValueError for one that the engine has not."""
    interface = choice.design.interface
    names = table.operations or []
    calls = interface.calls if names == [ALL] else [interface.named(name) for name in names]
    for call, name in (
        (asked, name) for asked in calls for name in table.sets or interface.sets_of(asked)
    ):
        interface.check_set(call, name)
        if interface.has_stream(call) != bool(size):
            raise ValueError(_about_length(call, takes_stream=interface.has_stream(call)))
        yield call.name, "random", name


def _about_length(call: Call, *, takes_stream: bool) -> str:
    if takes_stream:
        return f"{call.name} takes a stream: name its length in bits with the key 'bits'"
    return f"{call.name} takes no stream of any length: leave the key 'bits' out"


def _routing(target: str, table: _Sweep) -> tuple[tuple[int, ...], str]:
    """Seeds and device; none where nothing is placed and routed."""
    if not table.route or target not in route_targets():
        return (), ""
    known = _devices(target)
    device = table.device if table.device in known else known[0]
    return tuple(table.route_seeds), device or ""


def _devices(target: str) -> Sequence[str]:
    return list(flow_of(Target(target)).devices) if target in route_targets() else []


def _settings(
    families: Sequence[Family | CallFamily], parameters: Mapping[str, Sequence[object]]
) -> Mapping[str, Sequence[int | str]]:
    """Values of each parameter, which at least one of the families has."""
    known = {parameter.name: parameter for family in families for parameter in family.settings}
    names = ", ".join(family.name for family in families)
    for name, values in parameters.items():
        for value in values:
            check_former(names, known, name, str(value))
    _check_keys("parameters", parameters, list(known))
    return {
        name: [setting for value in values for setting in _values(known[name], value)]
        for name, values in parameters.items()
    }


def _values(parameter: AnyParameter | BudgetParameter, value: object) -> Sequence[int | str]:
    if value == SIZE:
        return [SIZE]
    if isinstance(parameter, ModulusParameter):
        kind: Any = _Texts
    elif isinstance(parameter, ChoiceParameter):
        kind = Annotated[_Texts, _among(parameter.choices)]
    else:
        kind = _Integers
    values: list[int | str] = _validated(kind, value, parameter.name)
    return values


def _choices(
    family: Family | CallFamily,
    size: int,
    settings: Mapping[str, Sequence[int | str]],
    *,
    skip: bool,
) -> Iterator[Choice | CallChoice]:
    """The family with every combination of values; `skip` those out of range that are the size."""
    names = [parameter.name for parameter in family.settings if parameter.name in settings]
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
