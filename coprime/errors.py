"""What the errors that this library raises have in common: a class, and a hint of their texts."""

import difflib
from collections.abc import Iterable

__all__ = ["CoprimeError", "hint"]


class CoprimeError(Exception):
    """An error that is none of Python's: of a device, a tool, a key file, a wrong result.

    What is wrong with an argument is a TypeError or a ValueError, as in Python's own libraries;
    an error that is both, such as that a message is too long, is a ValueError as well.
    """

    @property
    def is_of_input(self) -> bool:
        """Whether what was given is wrong, and nothing has failed."""
        return isinstance(self, ValueError)


def hint(name: str, known: Iterable[str], all_of_them: str = "there are") -> str:
    """What to write in place of an unknown name: the nearest one, in any case, or all."""
    plain = {choice.lower(): choice for choice in known}
    for near in difflib.get_close_matches(name.lower(), plain, n=1):
        return f"did you mean {plain[near]}?"
    return f"{all_of_them}: {', '.join(plain.values()) or 'none'}"
