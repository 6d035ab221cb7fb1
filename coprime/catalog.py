"""Every architecture that can be built, with typed parameters.

The command line, the documentation's tables, the sweeps and the tests derive from this list.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coprime.cells.target import Target
from coprime.cluster.packet import MAX_CORES
from coprime.engine.bit_serial import (
    interleaved_csa,
    montgomery_1csa,
    montgomery_2csa,
    montgomery_r2,
)
from coprime.engine.budget import Candidate, SliceBudget
from coprime.engine.compact import compact
from coprime.engine.design import Design, EngineDesign
from coprime.engine.fdfm import fdfm
from coprime.engine.karatsuba import karatsuba
from coprime.engine.lengths import Lengths
from coprime.engine.ring import RING_BUDGET, RING_TILES, ring
from coprime.exponentiators.exponentiation import EXPONENTIATORS
from coprime.exponentiators.names import BLINDINGS, Exponentiator
from coprime.fixed_modulus.fixed_design import compression, direct
from coprime.operations.commands import OPERATIONS, Command
from coprime.parameters import (
    AnyParameter,
    BudgetParameter,
    ChoiceParameter,
    ModulusParameter,
    Parameter,
)

__all__ = [
    "CLUSTER",
    "CLUSTER_PARAMETERS",
    "FAMILIES",
    "MAX_BITS",
    "MODULUS",
    "Choice",
    "ClusterChoice",
    "Family",
    "choose",
    "family_named",
    "settings_for",
]

MAX_BITS = "max_bits"
"""The parameter of families that work with any modulus of up to so many bits."""
_SIZE_STEP = 1024
"""Sizes that MAX_BITS takes when it follows a length: few, so that few simulators are built."""
MODULUS = "modulus"
"""The parameter of families that are made for one modulus."""
CLUSTER = "cluster"
"""The name of a cluster beside the families'."""


@dataclass(frozen=True)
class Family:
    """One architecture.

    Parameters
    ----------
    name : as on the command line
    paper : short name of the publication that it implements; empty for our own
    summary : one line
    parameters : what `design` takes, each with its default
    design : makes the engine's design
    budget : of DSP slices, by which some of the parameters can be picked
    """

    name: str
    paper: str
    summary: str
    parameters: tuple[AnyParameter, ...]
    design: Callable[..., Design]
    budget: SliceBudget | None = None

    @property
    def operations(self) -> tuple[Parameter, ...]:
        """A parameter for each optional operation, which has a value only where it is 1."""
        if any(one.name == MODULUS for one in self.parameters):
            return ()
        return tuple(
            Parameter(one.name.lower(), 0, 1, 0, f"1: with {one.name}, {one.formula}")
            for one in OPERATIONS.values()
            if one.optional
        )

    @property
    def settings(self) -> tuple[AnyParameter | BudgetParameter, ...]:
        """What can be set: the parameters, optional operations, and the budget."""
        budget = [self.budget.parameter] if self.budget else []
        return (*self.parameters, *self.operations, *budget)

    def choose(
        self, settings: Mapping[str, str], lengths: Lengths | None = None, *, option: str = "-p "
    ) -> "Choice":
        """Give every parameter a value: from the texts in `settings`, else its default.

        With `lengths` the design is one that holds such numbers. Then max_bits, if it is not in
        `settings`, is the default if that is enough, else the next multiple of 1024 that is, or the
        maximum. A family for one modulus has no max_bits, and ignores the lengths. With a budget,
        the parameters that it stands for are those of the fastest design within it; of these, what
        `settings` has stays as it is.

        Raises ValueError for an unknown name, a value out of range, a budget that no design keeps,
        or a design that is too short for `lengths`; that error names the max_bits that is not, set
        with `option` before it.
        """
        known = {one.name: one for one in self.settings}
        for name in settings:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"it has: {', '.join(known)}"
                raise ValueError(f"{self.name} has no parameter {name!r}; {hint}")
        values = {
            one.name: one.parse(settings[one.name]) if one.name in settings else one.default
            for one in self.parameters
        }

        operations = {
            one.name: 1
            for one in self.operations
            if one.name in settings and one.parse(settings[one.name])
        }

        def of_size(bits: int | str) -> Choice:
            sized = self._picked({**values, MAX_BITS: bits}, settings)
            return Choice(self, {**sized, **operations})

        if lengths is None or not self.sizes:
            return Choice(self, {**self._picked(values, settings), **operations})
        fitting = self._fitting(of_size, lengths)
        if MAX_BITS in settings:
            choice = of_size(values[MAX_BITS])
        else:
            choice = fitting or of_size(self.sizes[-1])
        excess = lengths.excess(choice.design.capabilities)
        if not excess:
            return choice
        if fitting is not None:
            remedy = f"set {option}{MAX_BITS}={fitting.values[MAX_BITS]}, or leave it out"
        else:
            others = [name for name, one in FAMILIES.items() if one.holds(lengths)]
            remedy = f"these take them: {', '.join(others)}" if others else "no family takes more"
        size = f"{MAX_BITS}={choice.values[MAX_BITS]}"
        raise ValueError(f"{self.name} with {size} takes {excess}; {remedy}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """What max_bits may follow to: the default, multiples of 1024, the maximum; or nothing."""
        for one in self.parameters:
            if isinstance(one, Parameter) and one.name == MAX_BITS:
                steps = range(_SIZE_STEP, one.maximum, _SIZE_STEP)
                return (one.default, *steps, one.maximum)
        return ()

    def holds(self, lengths: Lengths) -> bool:
        """Whether a design of the family for any modulus holds numbers of these lengths."""
        return self._fitting(self.choose({}).of_size, lengths) is not None

    def within_budget(
        self, settings: Mapping[str, str], lengths: Lengths | None = None
    ) -> "list[Candidate]":
        """What the budget in `settings` picks from, the one that `choose` gives first.

        The size is that of this design. Raises ValueError as `choose`, or if there is no budget.
        """
        choice = self.choose(settings, lengths)
        if self.budget is None or self.budget.parameter.name not in settings:
            raise ValueError(f"{self.name} is given no budget of DSP slices")
        return self._candidates(self.budget, choice.parameters, settings)

    def _picked(
        self, values: Mapping[str, int | str], settings: Mapping[str, str]
    ) -> Mapping[str, int | str]:
        """The values with those that the budget, if there is one, stands for."""
        if self.budget is None or self.budget.parameter.name not in settings:
            return values
        return self._candidates(self.budget, values, settings)[0].values

    def _candidates(
        self, budget: SliceBudget, values: Mapping[str, int | str], settings: Mapping[str, str]
    ) -> "list[Candidate]":
        limit = budget.parameter.parse(settings[budget.parameter.name])
        return budget.candidates(self.design, values, settings, limit)

    def _fitting(self, of_size: "Callable[[int], Choice]", lengths: Lengths) -> "Choice | None":
        """The design of the first of `sizes` that is enough; None if none is."""
        candidates = map(of_size, self.sizes)
        return next((one for one in candidates if lengths.fit(one.design.capabilities)), None)


@dataclass(frozen=True)
class Choice:
    """A family with a value for each of its parameters: one point of the design space.

    Optional operations that it has are values, too: 1, by their names in lower case.
    """

    family: Family
    values: Mapping[str, int | str]

    def __hash__(self) -> int:
        return hash((self.family.name, frozenset(self.values.items())))

    @property
    def core(self) -> "Choice":
        """Itself; of a cluster, what each of its cores is."""
        return self

    @property
    def design(self) -> Design:
        """The engine's design."""
        design = self.family.design(**self.parameters)
        more = [one for one in Command if one.name.lower() in self.values]
        if not more:
            return design
        assert isinstance(design, EngineDesign)
        return design.with_operations(more)

    @property
    def parameters(self) -> Mapping[str, int | str]:
        """The values of the family's parameters, without optional operations."""
        return {one.name: self.values[one.name] for one in self.family.parameters}

    def of_size(self, bits: int) -> "Choice":
        """The same with another max_bits."""
        return Choice(self.family, {**self.values, MAX_BITS: bits})

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return "coprime_" + self.family.name.replace("-", "_")

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line that treats this point again, as `coprime VERB FAMILY ...`."""
        return _command(verb, self.family.name, self.values, target)


@dataclass(frozen=True)
class ClusterChoice:
    """Many engines of one kind on a chain: a family with its parameters, and how many cores."""

    core: Choice
    cores: int

    @property
    def values(self) -> Mapping[str, int | str]:
        """Every parameter: `engine`, `cores`, and those of the engine."""
        return {"engine": self.core.family.name, "cores": self.cores, **self.core.values}

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return f"coprime_{CLUSTER}"

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line that treats this cluster again, as `coprime VERB cluster ...`."""
        return _command(verb, CLUSTER, self.values, target)


def _command(verb: str, name: str, values: Mapping[str, int | str], target: Target | None) -> str:
    words = ["coprime", verb, name, *(f"-p {key}={value}" for key, value in values.items())]
    if target is not None:
        words.append(f"--target {target.value}")
    return " ".join(words)


def _multipliers(default: int) -> Parameter:
    summary = "multipliers side by side; 2 work on both primes, or square and multiply, at once"
    return Parameter("multipliers", 1, 2, default, summary)


def _exponentiation(default: str) -> tuple[ChoiceParameter, Parameter]:
    summary = "algorithm when one multiplier works alone; fixed-window is constant-time"
    return (
        ChoiceParameter("exponentiator", EXPONENTIATORS, default, summary),
        Parameter(
            "window", 1, 4, 4, "bits of a window, if the exponentiator has windows: 1, 2 or 4"
        ),
    )


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            name="fdfm",
            paper="FDFM",
            summary="digit-serial Montgomery on one DSP slice and one block RAM, with CRT",
            parameters=(
                Parameter("max_bits", 64, 8192, 2176, "longest modulus in bits"),
                _multipliers(1),
                *_exponentiation("left-to-right"),
            ),
            design=fdfm,
        ),
        *(
            Family(
                name=name,
                paper=paper,
                summary=f"{summary}, with CRT",
                parameters=(
                    Parameter("max_bits", 2, longest, 2048, "longest modulus in bits"),
                    Parameter("word", 8, 64, 32, "bits that memory and multiplier exchange"),
                    _multipliers(2),
                    *_exponentiation("left-to-right"),
                ),
                design=design,
            )
            for name, paper, summary, longest, design in (
                (
                    "montgomery-2csa",
                    "BITSERIAL",
                    "bit-serial Montgomery with two carry-save adders",
                    8192,
                    montgomery_2csa,
                ),
                (
                    "montgomery-1csa",
                    "BITSERIAL",
                    "bit-serial Montgomery with one carry-save adder",
                    8192,
                    montgomery_1csa,
                ),
                (
                    "interleaved-csa",
                    "BITSERIAL",
                    "bit-serial interleaved with a carry-save adder",
                    8192,
                    interleaved_csa,
                ),
                (
                    "montgomery-r2",
                    "COMPRESSION",
                    "radix-2 Montgomery without a last subtraction, adders that propagate carries",
                    4096,
                    montgomery_r2,
                ),
            )
        ),
        Family(
            name="karatsuba",
            paper="KARATSUBA",
            summary="very-high-radix Montgomery on pipelined Karatsuba multipliers, with CRT",
            parameters=(
                Parameter("max_bits", 64, 8192, 2048, "longest modulus in bits"),
                Parameter("word", 16, 128, 32, "bits of a word, the radix: 16, 32, 64 or 128"),
                Parameter("latency", 1, 13, 6, "maximum pipeline stages in a product"),
                _multipliers(2),
                *_exponentiation("fixed-window"),
                Parameter(
                    "scaled", 0, 1, 0, "1: scaled moduli, whose quotient digits need no product"
                ),
                Parameter(
                    "interleaved", 0, 1, 0, "1: both halves of RSA_PRIVATE on one multiplier"
                ),
            ),
            design=karatsuba,
        ),
        *(
            Family(
                name=name,
                paper="COMPRESSION",
                summary=f"{summary}, for one modulus, one product per cycle",
                parameters=(
                    ModulusParameter(
                        MODULUS,
                        "goldilocks",
                        "the modulus: a name, or a number such as 2^255-19",
                    ),
                    Parameter("factor", factor, (1 << 32) - 1, factor, factors),
                    Parameter("word", 8, 64, 32, "bits of a digit of the operands"),
                    _multipliers(2),
                    ChoiceParameter(
                        "exponentiator",
                        EXPONENTIATORS,
                        Exponentiator.RIGHT_TO_LEFT.value,
                        "exponentiation algorithm; two multipliers work right-to-left",
                    ),
                    Parameter(
                        "window", 1, 4, 2, "bits of a window, if the exponentiator has windows"
                    ),
                    *more,
                ),
                design=design,
            )
            for name, summary, factor, factors, more, design in (
                (
                    "compression",
                    "compressor trees",
                    0,
                    "c: products are computed modulo c times the modulus; 0: the cheapest found",
                    (
                        Parameter("extra_bits", 0, 16, 2, "maximum bits that the multiple may add"),
                        Parameter("stages", 0, 16, 0, "pipeline registers in a product"),
                    ),
                    compression,
                ),
                (
                    "direct",
                    "the expression x * y % m",
                    1,
                    "c: products are computed modulo c times the modulus",
                    (),
                    direct,
                ),
            )
        ),
        Family(
            name="compact",
            paper="",
            summary="products of differences on one DSP slice and one block RAM, with CRT",
            parameters=(
                Parameter("max_bits", 64, 8192, 1024, "longest modulus in bits"),
                ChoiceParameter(
                    "blinding",
                    BLINDINGS,
                    "none",
                    "what random numbers blind in a private operation",
                ),
            ),
            design=compact,
        ),
        Family(
            name="ring",
            paper="",
            summary="products of differences of wide words, one after the other without a break",
            parameters=(
                Parameter("max_bits", 64, 8192, 1024, "longest modulus in bits"),
                ChoiceParameter("tile", RING_TILES, "bal50", "the multiplier of words"),
                Parameter("tiles", 1, 2, 1, "tiles; of two, one makes X * Y and one q * M'"),
                _multipliers(1),
                Parameter(
                    "window",
                    0,
                    5,
                    0,
                    "bits of a window modulo a prime: 4 or 5; 0: 5 if it takes no more block RAM",
                ),
                ChoiceParameter(
                    "blinding",
                    BLINDINGS,
                    "none",
                    "what random numbers blind in a private operation",
                ),
            ),
            design=ring,
            budget=RING_BUDGET,
        ),
    )
}


CLUSTER_PARAMETERS = (Parameter("cores", 1, MAX_CORES, 8, "engines on the chain"),)
"""Of a cluster, beside `engine`, the family of its cores (fdfm), and the parameters of that."""


def choose(
    name: str,
    settings: Mapping[str, str],
    lengths: Lengths | None = None,
    *,
    option: str = "-p ",
) -> Choice | ClusterChoice:
    """Choose a family, or a cluster of engines, with its parameters.

    `lengths` and `option` are as in `Family.choose`. Raises ValueError for an unknown name, and as
    `Family.choose`.
    """
    if name != CLUSTER:
        return _named(name, [*FAMILIES, CLUSTER]).choose(settings, lengths, option=option)
    rest = dict(settings)
    family = family_named(rest.pop("engine", "fdfm"))
    own = {
        parameter.name: parameter.parse(rest.pop(parameter.name, str(parameter.default)))
        for parameter in CLUSTER_PARAMETERS
    }
    core = family.choose(rest, lengths, option=option)
    if core.design.capabilities.draws:
        raise ValueError("the cores of a cluster have no source of random bytes for blinding")
    return ClusterChoice(core, **own)


def settings_for(name: str, settings: Mapping[str, str], command: Command) -> dict[str, str]:
    """The settings, and the command's operation, where that is optional and the family can have it.

    ValueError as `family_named`.
    """
    family = family_named(settings.get("engine", "fdfm") if name == CLUSTER else name)
    wanted = [one.name for one in family.operations if one.name == command.name.lower()]
    return {**dict.fromkeys(wanted, "1"), **settings}


def family_named(name: str) -> Family:
    """Look a family up; ValueError that names the nearest ones if there is none."""
    return _named(name, list(FAMILIES))


def _named(name: str, names: Sequence[str]) -> Family:
    if name in FAMILIES:
        return FAMILIES[name]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
    raise ValueError(f"no family is called {name!r}; {hint}")
