"""Parameters and values of parameters that a family once had, with what to use instead."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class _Former:
    """A parameter, or some of its values, that no family takes any more, or some do not.

    Parameters
    ----------
    name : of the parameter
    instead : what to do, as the second half of a sentence
    values : those that are no more; empty if all are
    replacement : the parameter that has taken its place; a family without that never had this one
    """

    name: str
    instead: str
    values: tuple[str, ...] = ()
    replacement: str = ""


_OF_ECDSA = partial(_Former, replacement="ecdsa")
_USUAL = "leave it out, since that is so with ecdsa=host and drawn"
_FORMER = (
    _Former("curves", "use compact or ring, which also check their results"),
    _Former(
        "blinding",
        "use blinding=all, which blinds base, exponent and all that is made of them",
        values=("base", "exponent", "both"),
        replacement="blinding",
    ),
    _OF_ECDSA("nonce", "use ecdsa=host, the default", values=("host",)),
    _OF_ECDSA("nonce", "use ecdsa=drawn"),
    _OF_ECDSA(
        "base_multiple",
        "leave it out, since k G is always computed twice, and verify signatures in software",
    ),
    _OF_ECDSA("scalar_blinding", _USUAL, values=("0",)),
    _OF_ECDSA("scalar_blinding", "use ecdsa=hardened, which blinds with half of n's length"),
    _OF_ECDSA("private_key", _USUAL, values=("plain",)),
    _OF_ECDSA("private_key", "use ecdsa=hardened"),
)
"""Of one name, the first entry with the value counts."""


def check_former(family: str, known: Collection[str], name: str, value: str) -> None:
    """Raise ValueError for what the family once took, with what to use instead.

    Parameters
    ----------
    family : its name
    known : the names of its parameters
    name, value : what is given
    """
    for former in _FORMER:
        gone = value in former.values if former.values else name not in known
        had = not former.replacement or former.replacement in known
        if former.name == name and gone and had:
            raise ValueError(f"{family} does not take {name}={value}; {former.instead}")
