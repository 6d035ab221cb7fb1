"""Parameters and values of parameters that a family once had, with what to use instead."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class _Former:
    """A parameter, or some of its values, that no family takes any more, or some do not.

    Parameters
    ----------
    name : of the parameter
    instead : what to use, as the end of a sentence that begins with "use"
    values : those that are no more; empty if all are
    replacement : the parameter that has taken its place; a family without that never had this one
    """

    name: str
    instead: str
    values: tuple[str, ...] = ()
    replacement: str = ""


_FORMER = (
    _Former("curves", "compact or ring, which also check their results"),
    _Former(
        "blinding",
        "blinding=all, which blinds base, exponent and all that is made of them",
        values=("base", "exponent", "both"),
        replacement="blinding",
    ),
)


def check_former(family: str, known: Collection[str], name: str, value: str) -> None:
    """Raise ValueError for what the family once took, with what to use instead.

    Parameters
    ----------
    family : its name
    known : the names of its parameters
    name, value : what is given
    """
    for one in _FORMER:
        gone = value in one.values if one.values else name not in known
        had = not one.replacement or one.replacement in known
        if one.name == name and gone and had:
            raise ValueError(f"{family} does not take {name}={value}; use {one.instead}")
