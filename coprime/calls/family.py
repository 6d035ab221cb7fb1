"""A family of engines of byte strings: an architecture that can be built, with typed parameters.

As `coprime.engine.family`, it names the function that builds its designs, and does not import it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from coprime.cells.target import Target
from coprime.engine.family import (
    Settings,
    command_line,
    module_name,
    parse_known,
    texts,
    values_of,
)
from coprime.parameters import AnyParameter, Parameter
from coprime.random.kinds import RandomSource

from .interface import CallDesign, EngineInterface

CORES = Parameter("cores", 1, 32, 1, "engines, each with registers of its own, on one bus")
"""A parameter of every family, on which no engine depends."""


@dataclass(frozen=True)
class CallFamily:
    """One architecture.

    Parameters
    ----------
    name : as on the command line
    paper : short name of the publication that it implements; empty for our own
    summary : one line
    parameters : what the builder takes, each with its default
    builder : the function that makes the engine's design, as MODULE:NAME
    variants : settings of designs that have all calls, slots and parameter sets between them
    """

    name: str
    paper: str
    summary: str
    parameters: tuple[AnyParameter, ...]
    builder: str
    variants: tuple[Settings, ...] = ({},)

    @property
    def interfaces(self) -> list[EngineInterface]:
        """Those of `variants`."""
        return [self.choose(settings).design.interface for settings in self.variants]

    @property
    def settings(self) -> tuple[AnyParameter, ...]:
        """What can be set."""
        return (*self.parameters, CORES)

    def check(self, settings: Settings) -> None:
        """As `Family.check`."""
        parse_known(self.name, self.settings, settings)

    def choose(self, settings: Settings) -> "CallChoice":
        """Give every parameter a value: that in `settings`, else its default. Raises as `check`."""
        self.check(settings)
        given = texts(settings)
        values = values_of(self.parameters, given)
        cores = CORES.parse(given.get(CORES.name, str(CORES.default)))
        if cores != CORES.default:
            values[CORES.name] = cores
        return CallChoice(self, values)


@dataclass(frozen=True)
class CallChoice:
    """A family with a value for each of its parameters: one point of the design space.

    `values` has CORES only where there are several; `source` is where its accelerator has random
    bytes from.
    """

    family: CallFamily
    values: Mapping[str, int | str]
    source: RandomSource = RandomSource.STREAM

    def __hash__(self) -> int:
        return hash((self.family.name, frozenset(self.values.items())))

    @property
    def design(self) -> CallDesign:
        """The design of its engine, or of each of them."""
        own = {name: value for name, value in self.values.items() if name != CORES.name}
        module, _, function = self.family.builder.partition(":")
        made: CallDesign = getattr(import_module(module), function)(**own)
        return made

    @property
    def cores(self) -> int:
        """How many engines there are."""
        return int(self.values.get(CORES.name, CORES.default))

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return module_name(self.family.name)

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line that treats this point again, as `coprime VERB FAMILY ...`."""
        return command_line(verb, self.family.name, self.values, target, self.source)
