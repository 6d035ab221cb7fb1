"""Identifiers of Verilog."""

import re

from .reserved import RESERVED


class Names:
    """The identifiers of one scope."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, key: str, wanted: str) -> str:
        """Give `key` the identifier `wanted`, or with a number after it where that is taken."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name not in RESERVED
        self.given[key] = name if plain else f"\\{name} "
        return self.given[key]
