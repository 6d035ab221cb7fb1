"""Kinds of parameters that a design takes: what their values are, and how a text is read as one.

And the checks of what a constructor is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from coprime.model.moduli import MODULI, modulus_of


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

    def has(self, text: str, value: str) -> bool:
        """Whether a value, as a text, is another one; ValueError as `parse`."""
        return self.parse(text) == self.parse(value)

    @property
    def record(self) -> Mapping[str, object]:
        """Type and range, as in `coprime list --json`."""
        return {"type": "int", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True)
class ChoiceParameter:
    """One of several names that a family's design takes.

    With `sparse` a choice of parameters has it only where it is not the default.
    """

    name: str
    choices: tuple[str, ...]
    default: str
    summary: str
    sparse: bool = False

    def parse(self, text: str) -> str:
        """Read a value; ValueError with all choices if it is none."""
        if text not in self.choices:
            raise ValueError(f"{self.name} must be one of {', '.join(self.choices)}, not {text!r}")
        return text

    def has(self, text: str, value: str) -> bool:
        """Whether a value, as a text, is or includes another one; ValueError as `parse`."""
        return self.parse(text) == value

    @property
    def record(self) -> Mapping[str, object]:
        """Type and choices, as in `coprime list --json`."""
        return {"type": "choice", "choices": list(self.choices)}


@dataclass(frozen=True)
class ModulusParameter:
    """The modulus that a design is made for: a name or a number."""

    name: str
    default: str
    summary: str

    def parse(self, text: str) -> str:
        """Give the text; ValueError if it names no modulus."""
        modulus_of(text)
        return text

    @property
    def record(self) -> Mapping[str, object]:
        """Type and the names, as in `coprime list --json`."""
        return {"type": "modulus", "names": list(MODULI)}


@dataclass(frozen=True)
class BudgetParameter:
    """A limit that a family picks other parameters by; the design itself does not take it.

    Parameters
    ----------
    picks : names of the parameters that it stands for, unless they are set as well
    """

    name: str
    minimum: int
    maximum: int
    picks: tuple[str, ...]
    summary: str

    @property
    def default(self) -> None:
        """Without it, the parameters are as given, or have their defaults."""
        return

    def parse(self, text: str) -> int:
        """Read a value; ValueError with the allowed range if it is none."""
        return Parameter(self.name, self.minimum, self.maximum, 0, "").parse(text)

    @property
    def record(self) -> Mapping[str, object]:
        """Type, range, and what it picks, as in `coprime list --json`."""
        limits = {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "budget", **limits, "picks": list(self.picks)}


AnyParameter = Parameter | ChoiceParameter | ModulusParameter


def check_ranges(**parameters: tuple[int, range]) -> None:
    """Refuse what is no int (TypeError), or not in its range (ValueError)."""
    for name, (value, allowed) in parameters.items():
        if not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {value!r}")
        if value not in allowed:
            raise ValueError(f"{name} must be in {allowed[0]}..{allowed[-1]}, not {value}")


def check_least(least: int, **parameters: int) -> None:
    """Refuse what is no int (TypeError), or below `least` (ValueError)."""
    for name, value in parameters.items():
        if not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {value!r}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
