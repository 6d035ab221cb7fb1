"""A family: an architecture that can be built, with typed parameters.

A family says which module builds its designs, and does not import it: so that listing families,
and reading their parameters, loads neither their operations nor hardware. `coprime.catalog` lists
them all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from coprime.cells.target import Target
from coprime.errors import hint
from coprime.exponentiators.names import BLINDINGS, EXPONENTIATORS
from coprime.parameters import AnyParameter, BudgetParameter, ChoiceParameter, Parameter
from coprime.random.kinds import RandomSource

from .budget import Candidate, SliceBudget
from .former_parameters import check_former

if TYPE_CHECKING:
    from coprime.operations.lengths import Lengths

    from .design import Design

MAX_BITS = "max_bits"  # the parameter of families that work with any modulus of up to so many bits
_SIZE_STEP = 1024
"""Sizes that MAX_BITS takes when it follows a length: few, so that few simulators are built."""
MODULUS = "modulus"  # the parameter of families that are made for one modulus


Settings = Mapping[str, str | int]
"""Parameters by name: a text as on the command line, or a number."""


def texts(settings: Settings) -> dict[str, str]:
    """The parameters as texts. TypeError for a value that is neither a text nor an integer."""
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise TypeError(f"{name} must be a str or an int, not {value!r}")
    return {name: str(value) for name, value in settings.items()}


def parse_known(
    family: str, parameters: Iterable[AnyParameter | BudgetParameter], settings: Settings
) -> None:
    """Raise TypeError or ValueError as `Family.check`, for a family with these parameters."""
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in texts(settings).items():
        check_former(family, known, name, value)
        if name not in known:
            nearest = hint(name, known, "it has")
            raise ValueError(f"{family} has no parameter {name!r}; {nearest}")
        known[name].parse(value)


def values_of(parameters: Iterable[AnyParameter], given: Mapping[str, str]) -> dict[str, int | str]:
    """The value of each parameter: what is given, else its default, which a sparse one lacks.

    ValueError for a text that is no value of its parameter.
    """
    values: dict[str, int | str] = {}
    for parameter in parameters:
        text = given.get(parameter.name)
        value = parameter.default if text is None else parameter.parse(text)
        is_sparse = isinstance(parameter, ChoiceParameter) and parameter.sparse
        if not is_sparse or value != parameter.default:
            values[parameter.name] = value
    return values


# --- Parameters of several families ---------------------------------------------------------------


def longest_modulus(least: int, most: int, default: int) -> Parameter:
    """MAX_BITS of a family."""
    return Parameter(MAX_BITS, least, most, default, "longest modulus in bits")


def multipliers_each(default: int) -> Parameter:
    """How many multipliers an engine has."""
    summary = "multipliers; two process both primes, or square and multiply, in parallel"
    return Parameter("multipliers", 1, 2, default, summary)


def exponentiation(default: str) -> tuple[ChoiceParameter, Parameter]:
    """The algorithm of a lane that works alone, and the size of its windows."""
    summary = "algorithm when one multiplier works alone; fixed-window is constant-time"
    windows = "bits of a window, if the exponentiator has windows: 1, 2 or 4"
    return (
        ChoiceParameter("exponentiator", EXPONENTIATORS, default, summary),
        Parameter("window", 1, 4, 4, windows),
    )


BLINDING = ChoiceParameter(
    "blinding", BLINDINGS, "none", "whether random numbers blind all of a private operation"
)


# --- Families and choices -------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """One architecture.

    Parameters
    ----------
    name : as on the command line
    paper : short name of the publication that it implements; empty for our own
    summary : one line
    parameters : what `design` takes, each with its default
    builder : the function that makes the engine's design, as MODULE:NAME
    budget : of DSP slices, from which some of the parameters can be selected
    bare_builder : the same of the design of a core of a lean node; empty if there is none
    """

    name: str
    paper: str
    summary: str
    parameters: tuple[AnyParameter, ...]
    builder: str
    budget: SliceBudget | None = None
    bare_builder: str = ""

    @property
    def design(self) -> "Callable[..., Design]":
        """Makes the engine's design from a value for each parameter."""
        return _function(self.builder)

    @property
    def bare(self) -> "Callable[..., Design] | None":
        """Makes the design of a core of a lean node; None if there is none."""
        return _function(self.bare_builder) if self.bare_builder else None

    @property
    def operations(self) -> tuple[Parameter, ...]:
        """A parameter for each optional operation, which has a value only where it is 1."""
        from coprime.operations.commands import OPERATIONS

        if any(parameter.name == MODULUS for parameter in self.parameters):
            return ()
        return tuple(
            Parameter(
                operation.name.lower(), 0, 1, 0, f"1: with {operation.name}, {operation.formula}"
            )
            for operation in OPERATIONS.values()
            if operation.optional and operation.setting is None
        )

    @property
    def settings(self) -> tuple[AnyParameter | BudgetParameter, ...]:
        """What can be set: the parameters, optional operations, and the budget."""
        budget = [self.budget.parameter] if self.budget else []
        return (*self.parameters, *self.operations, *budget)

    def check(self, settings: Settings) -> None:
        """Raise what `choose` raises for a name or a value that is wrong by itself: of no design.

        TypeError for a value that is neither a text nor an integer; ValueError for an unknown or a
        former name, and for a value out of range or a former one.
        """
        parse_known(self.name, self.settings, settings)

    def choose(
        self,
        settings: Settings,
        lengths: "Lengths | None" = None,
        *,
        option: str = "-p ",
        others: Iterable["Family"] = (),
    ) -> "Choice":
        """Give every parameter a value: that in `settings`, else its default.

        With `lengths` the design is one that holds such numbers. Then max_bits, if it is not in
        `settings`, is the default if that is enough, else the next multiple of 1024 that is, or the
        maximum. A family for one modulus has no max_bits, and ignores the lengths. With a budget,
        the parameters that it stands for are those of the fastest design within it; of these, what
        `settings` has stays as it is.

        Raises as `check`; and ValueError for a budget that no design keeps, or a design that is too
        short for `lengths`; that error names the max_bits that is not, set with `option` before it,
        or those of the `others` that hold such numbers.
        """
        settings = texts(settings)
        self.check(settings)
        values = values_of(self.parameters, settings)
        operations: dict[str, int | str] = {
            operation.name: 1
            for operation in self.operations
            if operation.name in settings and operation.parse(settings[operation.name])
        }

        def of_size(bits: int | str | None) -> Choice:
            sized = values if bits is None else {**values, MAX_BITS: bits}
            picked = self._candidates(sized, settings)
            return Choice(self, {**(picked[0].values if picked else sized), **operations})

        if lengths is None or not self.sizes:
            return of_size(None)
        fitting = self._fitting(of_size, lengths)
        if MAX_BITS in settings:
            choice = of_size(None)
        else:
            choice = fitting or of_size(self.sizes[-1])
        excess = lengths.excess(choice.design.capabilities)
        if not excess:
            return choice
        longer = [other.name for other in others if other.holds(lengths)]
        if fitting is not None:
            remedy = f"set {option}{MAX_BITS}={fitting.values[MAX_BITS]}, or leave it out"
        else:
            remedy = f"these take them: {', '.join(longer)}" if longer else "no family takes more"
        size = f"{MAX_BITS}={choice.values[MAX_BITS]}"
        raise ValueError(f"{self.name} with {size} takes {excess}; {remedy}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """What max_bits may follow to: the default, multiples of 1024, the maximum; or nothing."""
        for parameter in self.parameters:
            if isinstance(parameter, Parameter) and parameter.name == MAX_BITS:
                steps = range(_SIZE_STEP, parameter.maximum, _SIZE_STEP)
                return (parameter.default, *steps, parameter.maximum)
        return ()

    def holds(self, lengths: "Lengths") -> bool:
        """Whether a design of the family for any modulus holds numbers of these lengths."""
        return self._fitting(self.choose({}).of_size, lengths) is not None

    def within_budget(
        self, settings: Settings, lengths: "Lengths | None" = None
    ) -> list[Candidate]:
        """What the budget in `settings` picks from, the one that `choose` gives first.

        The size is that of this design. Raises ValueError as `choose`, or if there is no budget.
        """
        found = self._candidates(self.choose(settings, lengths).parameters, texts(settings))
        if not found:
            raise ValueError(f"{self.name} is given no budget of DSP slices")
        return found

    def _candidates(
        self, values: Mapping[str, int | str], settings: Mapping[str, str]
    ) -> list[Candidate]:
        """Designs with these values, but for what the budget in `settings` stands for; or none."""
        if self.budget is None or self.budget.parameter.name not in settings:
            return []
        limit = self.budget.parameter.parse(settings[self.budget.parameter.name])
        return self.budget.candidates(self.design, values, settings, limit)

    def _fitting(self, of_size: Callable[[int], "Choice"], lengths: "Lengths") -> "Choice | None":
        """The design of the first of `sizes` that is enough; None if none is."""
        candidates = map(of_size, self.sizes)
        return next(
            (candidate for candidate in candidates if lengths.fit(candidate.design.capabilities)),
            None,
        )


def _function(name: str) -> "Callable[..., Design]":
    """The function MODULE:NAME."""
    module, _, function = name.partition(":")
    found: Callable[..., Design] = getattr(import_module(module), function)
    return found


@dataclass(frozen=True)
class Choice:
    """A family with a value for each of its parameters: one point of the design space.

    Optional operations that it has are values, too: 1, by their names in lower case. If it is
    `bare` it is a core of a lean node. `source` is where its accelerator has random bytes from.
    """

    family: Family
    values: Mapping[str, int | str]
    bare: bool = False
    source: RandomSource = RandomSource.STREAM

    def __hash__(self) -> int:
        return hash((self.family.name, frozenset(self.values.items())))

    @property
    def core(self) -> "Choice":
        """Itself; of a cluster, what each of its cores is."""
        return self

    @property
    def design(self) -> "Design":
        """The engine's design. Raises ValueError for a bare one that the family does not have."""
        from coprime.operations.commands import Command

        from .design import EngineDesign

        more = [command for command in Command if command.name.lower() in self.values]
        if self.bare:
            if self.family.bare is None:
                raise ValueError(f"{self.family.name} has no core for lean nodes: use node=full")
            if more:
                raise ValueError(f"a core of a lean node has no {more[0].name}: use node=full")
            return self.family.bare(**self.parameters)
        design = self.family.design(**self.parameters)
        if not more:
            return design
        assert isinstance(design, EngineDesign)
        return design.with_operations(more)

    @property
    def parameters(self) -> Mapping[str, int | str]:
        """The values of the family's parameters, without optional operations."""
        return {
            parameter.name: self.values[parameter.name]
            for parameter in self.family.parameters
            if parameter.name in self.values  # all but sparse ones
        }

    def of_size(self, bits: int) -> "Choice":
        """The same with another max_bits."""
        return replace(self, values={**self.values, MAX_BITS: bits})

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return module_name(self.family.name)

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line that treats this point again, as `coprime VERB FAMILY ...`."""
        return command_line(verb, self.family.name, self.values, target, self.source)


def module_name(family: str) -> str:
    """Name of the top module of an accelerator."""
    return "coprime_" + family.replace("-", "_")


def command_line(
    verb: str,
    name: str,
    values: Mapping[str, int | str],
    target: Target | None,
    source: RandomSource = RandomSource.STREAM,
) -> str:
    """`coprime VERB NAME -p ...`, with the values and the target, if one is given, and the source
    of random bytes, if it is in the hardware.
    """
    words = ["coprime", verb, name, *(f"-p {key}={value}" for key, value in values.items())]
    if source is not RandomSource.STREAM:
        words.append(f"--random {source.value}")
    if target is not None:
        words.append(f"--target {target.value}")
    return " ".join(words)
