"""Every architecture that can be built, with typed parameters.

The command line, the documentation's tables, the sweeps and the tests derive from this list.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from coprime.calls.family import CallChoice, CallFamily
from coprime.calls.interface import EngineInterface
from coprime.cells.target import Target
from coprime.cluster.limits import MAX_CORES, MAX_LINK_REGISTERS
from coprime.engine.curve_settings import CurveSettings
from coprime.engine.families import (
    COMPACT,
    FDFM,
    INTERLEAVED_CSA,
    KARATSUBA,
    MONTGOMERY_1CSA,
    MONTGOMERY_2CSA,
    MONTGOMERY_R2,
    RING,
)
from coprime.engine.family import MAX_BITS, MODULUS, Choice, Family, Settings, command_line, texts
from coprime.errors import hint
from coprime.fixed_modulus.families import COMPRESSION, DIRECT
from coprime.lattice.family import LATTICE
from coprime.padding.scheme import Padding
from coprime.parameters import ChoiceParameter, Parameter
from coprime.random.kinds import RandomSource
from coprime.shake.family import SHAKE
from coprime.suites import (
    DEFAULT_ENGINES,
    ENGINES,
    SUITE,
    EnginesParameter,
    SuiteChoice,
    check_count,
    engine_names,
    split_settings,
)

if TYPE_CHECKING:
    from coprime.operations.commands import Command
    from coprime.operations.lengths import Lengths

__all__ = [
    "CALL_FAMILIES",
    "CLUSTER",
    "CLUSTER_PARAMETERS",
    "FAMILIES",
    "MAX_BITS",
    "MODULUS",
    "SUITE",
    "SUITE_ENGINES",
    "AnyDesign",
    "CallChoice",
    "CallFamily",
    "Choice",
    "ClusterChoice",
    "Family",
    "Settings",
    "SuiteChoice",
    "call_names",
    "calls_named",
    "check_one_core",
    "check_settings",
    "choose",
    "choose_calls",
    "choose_engine",
    "choose_suite",
    "draws_random",
    "family_named",
    "is_known",
    "most_bits",
    "settings_for",
]

CLUSTER = "cluster"
"""The name of a cluster, next to those of the families."""

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        *(FDFM, MONTGOMERY_2CSA, MONTGOMERY_1CSA, INTERLEAVED_CSA, MONTGOMERY_R2),
        *(KARATSUBA, COMPRESSION, DIRECT, COMPACT, RING),
    )
}

CALL_FAMILIES: Mapping[str, CallFamily] = {family.name: family for family in (SHAKE, LATTICE)}
"""Families of engines of byte strings; those of FAMILIES are engines of numbers."""


@dataclass(frozen=True)
class ClusterChoice:
    """Many engines of one kind on a chain: a family with its parameters, and how many cores."""

    core: Choice
    cores: int
    link_registers: int = 0
    """Registers between two nodes besides a node's own."""

    @property
    def node(self) -> str:
        """Kind of its nodes, one of `NODES`."""
        return "lean" if self.core.bare else "full"

    @property
    def values(self) -> Mapping[str, int | str]:
        """Every parameter: `engine`, `cores`, and those of the engine.

        `node` only where it is lean, and `link_registers` only where there are some.
        """
        own: dict[str, int | str] = {"engine": self.core.family.name, "cores": self.cores}
        if self.core.bare:
            own["node"] = self.node
        if self.link_registers:
            own["link_registers"] = self.link_registers
        return {**own, **self.core.values}

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return f"coprime_{CLUSTER}"

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line for this cluster, as `coprime VERB cluster ...`."""
        return command_line(verb, CLUSTER, self.values, target)


SUITE_ENGINES = EnginesParameter(
    ENGINES,
    DEFAULT_ENGINES,
    "families of the engines, joined by +; parameters follow with the engine's name, such as"
    " compact.max_bits",
    (
        *(
            name
            for name, family in FAMILIES.items()
            if all(parameter.name != MODULUS for parameter in family.parameters)
        ),
        *CALL_FAMILIES,
    ),
)
"""Of a suite, in addition to the parameters of each engine."""

AnyDesign = Choice | CallChoice | ClusterChoice | SuiteChoice
"""Whatever can be built."""

NODES = ("full", "lean")
"""What a node is: `coprime.cluster.node.Node`, or `coprime.cluster.lean_node.LeanNode`."""

CLUSTER_PARAMETERS: tuple[Parameter | ChoiceParameter, ...] = (
    Parameter("cores", 1, MAX_CORES, 8, "engines on the chain"),
    Parameter(
        "link_registers",
        0,
        MAX_LINK_REGISTERS,
        0,
        "further registers between two engines, where they are far apart",
    ),
    ChoiceParameter(
        "node",
        NODES,
        "full",
        "lean: two kinds of packets and RSA_PRIVATE alone, as published; of fdfm",
        sparse=True,
    ),
)
"""Of a cluster, in addition to `engine`, the family of its cores, and that family's parameters."""


def check_settings(name: str, settings: Settings) -> None:
    """Raise ValueError for an unknown name, and for what `Family.check` refuses: of no design."""
    if name in CALL_FAMILIES:
        CALL_FAMILIES[name].check(settings)
        return
    if name == SUITE:
        for engine, (family, own) in _suite_settings(settings).items():
            with _of_engine(engine):
                family.check(own)
        return
    if name != CLUSTER:
        _named(name, [*FAMILIES, *CALL_FAMILIES, CLUSTER, SUITE]).check(settings)
        return
    rest = texts(settings)
    family = _core_named(rest.pop("engine", "fdfm"))
    for parameter in CLUSTER_PARAMETERS:
        if parameter.name in rest:
            parameter.parse(rest.pop(parameter.name))
    family.check(rest)


def choose(
    name: str, settings: Settings, lengths: "Lengths | None" = None, *, option: str = "-p "
) -> Choice | ClusterChoice:
    """Choose a family, or a cluster of engines, with its parameters.

    `lengths` and `option` are as in `Family.choose`. Raises ValueError for an unknown name, and as
    `Family.choose`.
    """
    if name != CLUSTER:
        family = _named(name, [*FAMILIES, CLUSTER])
        return family.choose(settings, lengths, option=option, others=FAMILIES.values())
    rest = texts(settings)
    family = _core_named(rest.pop("engine", "fdfm"))
    own: dict[str, Any] = {
        parameter.name: parameter.parse(rest.pop(parameter.name, str(parameter.default)))
        for parameter in CLUSTER_PARAMETERS
    }
    core = family.choose(rest, lengths, option=option, others=FAMILIES.values())
    if own.pop("node") == "lean":
        core = replace(core, bare=True)
    if core.design.capabilities.draws:
        raise ValueError("the cores of a cluster have no source of random bytes for blinding")
    return ClusterChoice(core, **own)


def choose_calls(name: str, settings: Settings) -> CallChoice:
    """Choose a family of engines of byte strings with its parameters.

    Raises ValueError for an unknown name, and as `CallFamily.choose`.
    """
    if name in CALL_FAMILIES:
        return CALL_FAMILIES[name].choose(settings)
    if name == SUITE:
        raise ValueError(f"{SUITE} has several engines, and this takes one: name its family")
    if name in FAMILIES:
        raise ValueError(
            f"{name} works on numbers, not on byte strings: name one of {', '.join(CALL_FAMILIES)}"
        )
    raise ValueError(f"no family is called {name!r}; {hint(name, CALL_FAMILIES)}")


def choose_suite(
    settings: Settings, lengths: "Mapping[int, Lengths] | None" = None, *, option: str = "-p "
) -> SuiteChoice:
    """Choose the engines of a suite: ENGINES, and parameters such as compact.max_bits.

    `lengths` are of the numbers that engines hold, by the numbers of their cores; `option` is as in
    `Family.choose`. Raises ValueError for engines that no suite has, for a parameter of none of
    them, and as `Family.choose` and `CallFamily.choose`, with the engine's name.
    """
    engines: list[Choice | CallChoice] = []
    for core, (name, (family, own)) in enumerate(_suite_settings(settings).items()):
        with _of_engine(name):
            if isinstance(family, CallFamily):
                engines.append(family.choose(own))
                continue
            held = (lengths or {}).get(core)
            others = [
                candidate for candidate in FAMILIES.values() if not _has_fixed_modulus(candidate)
            ]
            engine = family.choose(own, held, option=f"{option}{name}.", others=others)
            engine.design  # noqa: B018  # its parameters may not go together
            engines.append(engine)
    return SuiteChoice(tuple(engines))


def _suite_settings(
    settings: Settings,
) -> Mapping[str, tuple[Family | CallFamily, Mapping[str, str]]]:
    """The family and the settings of each engine, by its name. ValueError as `choose_suite`."""
    rest = texts(settings)
    families = rest.pop(ENGINES, DEFAULT_ENGINES).split("+")
    check_count(len(families))
    found = [_suitable(name) for name in families]
    names = engine_names(families)
    own = split_settings(names, rest)
    return {name: (family, own[name]) for name, family in zip(names, found, strict=True)}


def _suitable(name: str) -> Family | CallFamily:
    """The family of an engine of a suite. ValueError for one that no suite has."""
    if name in CALL_FAMILIES:
        return CALL_FAMILIES[name]
    if name in (CLUSTER, SUITE):
        raise ValueError(f"{ENGINES}: a {name} has a bus slave of its own, and is no engine")
    if name not in FAMILIES:
        nearest = hint(name, [*FAMILIES, *CALL_FAMILIES])
        raise ValueError(f"{ENGINES}: no family is called {name!r}; {nearest}")
    if _has_fixed_modulus(FAMILIES[name]):
        raise ValueError(
            f"{ENGINES}: {name} is made for one modulus, and a suite's engines of numbers take the"
            " keys that software brings: build it by itself"
        )
    return FAMILIES[name]


def _has_fixed_modulus(family: Family) -> bool:
    return any(parameter.name == MODULUS for parameter in family.parameters)


@contextmanager
def _of_engine(name: str) -> Iterator[None]:
    """Name the engine of a suite that a ValueError is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{SUITE}, engine {name}: {error}") from None


def choose_engine(name: str, settings: Settings) -> Choice | CallChoice:
    """Choose a family of either kind with its parameters. Raises ValueError as its own `choose`."""
    return (CALL_FAMILIES.get(name) or family_named(name)).choose(settings)


def draws_random(choice: Choice | CallChoice) -> bool:
    """Whether its engine takes random bytes."""
    if isinstance(choice, CallChoice):
        return choice.design.interface.draws
    return choice.design.capabilities.draws


def takes_random(choice: AnyDesign, paddings: Collection[Padding] = ()) -> bool:
    """Whether an accelerator with these paddings takes random bytes."""
    if isinstance(choice, SuiteChoice):
        return any(takes_random(engine, paddings) for engine in choice.engines)
    return not isinstance(choice, ClusterChoice) and (bool(paddings) or draws_random(choice))


def takes_stream(choice: AnyDesign, paddings: Collection[Padding] = ()) -> bool:
    """Whether it takes them from outside, by a stream."""
    if isinstance(choice, ClusterChoice) or choice.source is not RandomSource.STREAM:
        return False
    return takes_random(choice, paddings)


_Any = TypeVar("_Any", Choice, CallChoice, SuiteChoice, Choice | ClusterChoice)


def with_source(choice: _Any, source: RandomSource, paddings: Collection[Padding] = ()) -> _Any:
    """The design whose accelerator, with these paddings, has random bytes from this source.

    Raises ValueError for a source in the hardware where nothing draws random bytes.
    """
    if source is RandomSource.STREAM:
        return choice
    if isinstance(choice, ClusterChoice) or not takes_random(choice, paddings):
        raise ValueError(
            f"{design_name(choice)} with these parameters draws no random bytes: leave"
            f" random={source.value} out"
        )
    return replace(choice, source=source)


def design_name(choice: AnyDesign) -> str:
    """As on the command line: the family's, or CLUSTER, or SUITE."""
    if isinstance(choice, ClusterChoice):
        return CLUSTER
    return SUITE if isinstance(choice, SuiteChoice) else choice.family.name


def check_one_core(choice: Choice | CallChoice, what: str) -> None:
    """Raise ValueError for an accelerator with several cores, where `what` has one."""
    if isinstance(choice, CallChoice) and choice.cores > 1:
        raise ValueError(f"{what} has one core: leave -p cores= out")


def calls_named(name: str) -> list[EngineInterface]:
    """The interfaces of engines of byte strings that have a call of this name."""
    own = (interface for family in CALL_FAMILIES.values() for interface in family.interfaces)
    return [interface for interface in own if name in interface.call]


def call_names() -> list[str]:
    """The names of the calls of engines of byte strings."""
    own = (interface for family in CALL_FAMILIES.values() for interface in family.interfaces)
    return list(dict.fromkeys(name for interface in own for name in interface.call))


def is_known(family: Family | CallFamily) -> bool:
    """Whether the catalogue has exactly this family under its name."""
    return family in (*FAMILIES.values(), *CALL_FAMILIES.values())


def most_bits() -> int:
    """Bits of the longest modulus that a family for any modulus takes."""
    return max(bits for family in FAMILIES.values() for bits in family.sizes)


def settings_for(name: str, settings: Settings, command: "Command") -> dict[str, str]:
    """The settings, and the command's operation, where that is optional and the family can have it.

    ValueError as `family_named`, for an operation that only other families can have, and for
    settings without it.
    """
    from coprime.engine.fdfm import BARE

    settings = texts(settings)
    family = family_named(settings.get("engine", "fdfm") if name == CLUSTER else name)
    if name == CLUSTER and settings.get("node") == "lean" and command is not BARE:
        raise ValueError(f"lean nodes have {BARE.name} alone, not {command.name}: use node=full")
    setting, value = command.operation.setting or (command.name.lower(), "1")
    others = dict(command.operation.settings)
    if _can_have(family, setting, others):
        known = {allowed.name: allowed for allowed in family.settings}
        needed = {setting: value, **{key: others[key] for key in others if key in known}}
        for name, wanted in needed.items():
            parameter, given = known[name], settings.get(name, wanted)
            assert isinstance(parameter, Parameter | ChoiceParameter)
            if not parameter.has(given, wanted):
                raise ValueError(f"{command.name} needs {name}={wanted}, and {name} is {given}")
        return {**needed, **settings}
    if command.operation.setting is not None:
        able = [
            candidate.name
            for candidate in FAMILIES.values()
            if _can_have(candidate, setting, others)
        ]
        raise ValueError(f"{family.name} cannot have {command.name}; {', '.join(able)} can")
    return settings


def _can_have(family: Family, setting: str, others: Mapping[str, str]) -> bool:
    """Whether it has this parameter, and each of the others, or for it no value but the default."""
    known = {parameter.name for parameter in family.settings}
    usual = CurveSettings()
    missing = (name for name in others if name not in known)
    return setting in known and all(getattr(usual, name) == others[name] for name in missing)


def family_named(name: str) -> Family:
    """Look a family up; ValueError that names the nearest ones if there is none."""
    return _named(name, list(FAMILIES))


def _core_named(name: str) -> Family:
    """The family of a cluster's cores. ValueError as `family_named`, and for byte strings."""
    if name in CALL_FAMILIES:
        raise ValueError(
            f"a cluster's packets carry numbers, and {name} works on byte strings: it has several"
            f" cores without packets, as {name} -p cores=4"
        )
    return family_named(name)


def _named(name: str, names: Sequence[str]) -> Family:
    if name in FAMILIES:
        return FAMILIES[name]
    if name == SUITE and SUITE not in names:
        raise ValueError(f"{SUITE} has several engines, and this takes one: name its family")
    if name in CALL_FAMILIES:
        raise ValueError(
            f"{name} works on byte strings, and this takes an engine of numbers, such as"
            f" {next(iter(FAMILIES))}"
        )
    raise ValueError(f"no family is called {name!r}; {hint(name, names)}")
