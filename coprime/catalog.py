"""Every architecture that can be built, with typed parameters.

The command line, the documentation's tables, the sweeps and the tests derive from this list.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coprime.cells.target import Target
from coprime.engine.carry_save import interleaved_csa, montgomery_1csa, montgomery_2csa
from coprime.engine.design import EngineDesign
from coprime.engine.fdfm import fdfm

__all__ = ["FAMILIES", "Choice", "Family", "Parameter", "family_named"]


@dataclass(frozen=True)
class Parameter:
    """An integer that a family's design takes."""

    name: str
    minimum: int
    maximum: int
    default: int
    summary: str

    def parse(self, text: str) -> int:
        """Read a value; ValueError with the allowed range if it is none."""
        try:
            value = int(text, 0)
        except ValueError:
            value = self.minimum - 1
        if not self.minimum <= value <= self.maximum:
            raise ValueError(
                f"{self.name} must be an integer in {self.minimum}..{self.maximum}, not {text!r}"
            )
        return value


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
    """

    name: str
    paper: str
    summary: str
    parameters: tuple[Parameter, ...]
    design: Callable[..., EngineDesign]

    def choose(self, settings: Mapping[str, str]) -> "Choice":
        """Give every parameter a value: from the texts in `settings`, else its default.

        Raises ValueError for an unknown name or a value out of range.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in settings:
            if name not in known:
                names = ", ".join(known) or "none"
                raise ValueError(f"{self.name} has no parameter {name!r}; it has: {names}")
        values = {
            name: parameter.parse(settings[name]) if name in settings else parameter.default
            for name, parameter in known.items()
        }
        return Choice(self, values)


@dataclass(frozen=True)
class Choice:
    """A family with a value for each of its parameters: one point of the design space."""

    family: Family
    values: Mapping[str, int]

    @property
    def design(self) -> EngineDesign:
        """The engine's design."""
        return self.family.design(**self.values)

    @property
    def module_name(self) -> str:
        """Name of the top module."""
        return "coprime_" + self.family.name.replace("-", "_")

    def command(self, verb: str, target: Target | None = None) -> str:
        """The command line that treats this point again, as `coprime VERB FAMILY ...`."""
        words = ["coprime", verb, self.family.name]
        words += [f"-p {name}={value}" for name, value in self.values.items()]
        if target is not None:
            words.append(f"--target {target.value}")
        return " ".join(words)


def _multipliers(default: int) -> Parameter:
    summary = "multipliers side by side: 2 work on both primes, or square and multiply, at once"
    return Parameter("multipliers", 1, 2, default, summary)


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            name="fdfm",
            paper="FDFM",
            summary="digit-serial Montgomery on one DSP slice and one block RAM, with CRT",
            parameters=(
                Parameter("max_bits", 64, 2176, 2176, "longest modulus in bits"),
                _multipliers(1),
            ),
            design=fdfm,
        ),
        *(
            Family(
                name=name,
                paper="BITSERIAL",
                summary=f"bit-serial {summary}, with CRT",
                parameters=(
                    Parameter("max_bits", 2, 4096, 2048, "longest modulus in bits"),
                    Parameter("word", 8, 64, 32, "bits that memory and multiplier exchange"),
                    _multipliers(2),
                ),
                design=design,
            )
            for name, summary, design in (
                ("montgomery-2csa", "Montgomery with two carry-save adders", montgomery_2csa),
                ("montgomery-1csa", "Montgomery with one carry-save adder", montgomery_1csa),
                ("interleaved-csa", "interleaved with a carry-save adder", interleaved_csa),
            )
        ),
    )
}


def family_named(name: str) -> Family:
    """Look a family up; ValueError that names the nearest ones if there is none."""
    if name in FAMILIES:
        return FAMILIES[name]
    near = difflib.get_close_matches(name, FAMILIES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(FAMILIES)}"
    raise ValueError(f"no family is called {name!r}; {hint}")
