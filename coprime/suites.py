"""Several engines of any kinds as one accelerator: which they are, with their parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coprime.calls.family import CORES, CallChoice
from coprime.cells.target import Target
from coprime.engine.family import Choice, command_line, module_name
from coprime.random.kinds import RandomSource

SUITE = "suite"
"""Its name, next to those of the families."""
ENGINES = "engines"
"""Its parameter: the families of its engines, joined by +."""
DEFAULT_ENGINES = "compact+lattice"
MOST_ENGINES = CORES.maximum


@dataclass(frozen=True)
class SuiteChoice:
    """Engines of numbers and of byte strings, each a core at one slave on a bus.

    Raises ValueError for fewer than 2 engines, and for more than MOST_ENGINES.

    Parameters
    ----------
    engines : by the numbers of their cores
    source : where all of them have random bytes from
    """

    engines: tuple[Choice | CallChoice, ...]
    source: RandomSource = RandomSource.STREAM

    def __post_init__(self) -> None:
        check_count(len(self.engines))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each: as `engine_names`."""
        return engine_names([engine.family.name for engine in self.engines])

    @property
    def modules(self) -> tuple[str, ...]:
        """The module that each core is an instance of: one for all engines that are the same."""
        first: dict[Choice | CallChoice, str] = {}
        for name, engine in zip(self.names, self.engines, strict=True):
            first.setdefault(engine, f"{self.module_name}_{name.replace('-', '_')}")
        return tuple(first[engine] for engine in self.engines)

    @property
    def values(self) -> Mapping[str, int | str]:
        """Every parameter: ENGINES, and those of each engine, with its name."""
        own = "+".join(engine.family.name for engine in self.engines)
        return {
            ENGINES: own,
            **{
                f"{name}.{parameter}": value
                for name, engine in zip(self.names, self.engines, strict=True)
                for parameter, value in engine.values.items()
            },
        }

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return module_name(SUITE)

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line for this suite, as `coprime VERB suite ...`."""
        return command_line(verb, SUITE, self.values, target, self.source)


def engine_names(families: Sequence[str]) -> tuple[str, ...]:
    """A name for each engine: its family's, and from the second one of a family on its number, too:
    compact, lattice, lattice2."""
    counts: dict[str, int] = {}
    names = []
    for family in families:
        counts[family] = counts.get(family, 0) + 1
        names.append(family if counts[family] == 1 else f"{family}{counts[family]}")
    return tuple(names)


def check_count(count: int) -> None:
    """Raise ValueError for a number of engines that no suite has."""
    if not 2 <= count <= MOST_ENGINES:
        raise ValueError(f"a suite has 2..{MOST_ENGINES} engines, not {count}")


def split_settings(
    names: Sequence[str], settings: Mapping[str, str]
) -> Mapping[str, dict[str, str]]:
    """The settings of each engine, of those that begin with its name and a dot.

    ValueError for one that does not begin with a name, and for the number of an engine's cores.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for setting, value in settings.items():
        name, dot, parameter = setting.partition(".")
        if not dot:
            raise ValueError(
                f"{SUITE} has no parameter {setting!r}: name the engine that it is for, such as"
                f" {names[0]}.{setting}"
            )
        if name not in found:
            raise ValueError(f"{setting}: the suite has no {name!r}, but {', '.join(names)}")
        if parameter == CORES.name:
            raise ValueError(f"{setting}: name {name} several times in {ENGINES}= instead")
        found[name][parameter] = value
    return found


@dataclass(frozen=True)
class EnginesParameter:
    """The families of a suite's engines, joined by +.

    Parameters
    ----------
    name, default, summary : as of other parameters
    families : which there are
    """

    name: str
    default: str
    summary: str
    families: tuple[str, ...]

    @property
    def record(self) -> Mapping[str, object]:
        """Type and families, as in `coprime list --json`."""
        return {"type": "engines", "choices": list(self.families)}
