"""A memory of a netlist that moves numbers modulo q, and what its words are known to be.

A word that is read in the cycle in which it is written may be anything. An address may have a
number above its lowest bits: a polynomial's place that may be any. Different numbers are different
places.
"""

from collections.abc import Mapping
from typing import Any

from .moved_words import Bits, Place, place_of


class MovedMemory:
    """One with a port for writing.

    Parameters
    ----------
    cell : of the netlist

    Attributes
    ----------
    reading : the ports through which it is read, each as a cell
    words : those that are known; others may be anything
    lost : an address that may be any was written, so that each word may be anything
    """

    def __init__(self, cell: Mapping[str, Any]) -> None:
        self.cell, self.reading = cell, self._ports(cell)
        self.forget()

    def forget(self) -> None:
        """Each word may be anything."""
        self.words: dict[Place, Bits] = {}
        self.lost = False

    def read(self, address: Bits, width: int) -> Bits:
        """The word at an address."""
        place, anything = place_of(address), (None,) * width
        return anything if place is None else self.words.get(place, anything)

    def write(self, enable: Bits, address: Bits, word: Bits) -> None:
        """A word, of which some bits may be kept."""
        place = place_of(address)
        if place is None:
            self.words, self.lost = {}, True
            return
        for other in [other for other in self.words if not _comparable(other, place)]:
            del self.words[other]
            self.lost = True
        self.words[place] = word if set(enable) == {1} else (None,) * len(word)

    def _ports(self, cell: Mapping[str, Any]) -> list[dict[str, Any]]:
        ports = cell["connections"]
        count = int(cell["parameters"]["RD_PORTS"], 2)
        addresses, words = (
            [wires[k : k + len(wires) // count] for k in range(0, len(wires), len(wires) // count)]
            for wires in (ports["RD_ADDR"], ports["RD_DATA"])
        )
        return [
            {
                "type": "read",
                "memory": self,
                "connections": {"A": address, "Y": word},
                "parameters": {},
            }
            for address, word in zip(addresses, words, strict=True)
        ]


def may_be_same(a: Bits, b: Bits) -> bool:
    """Whether two addresses may be of the same word."""
    first, second = place_of(a), place_of(b)
    if first is None or second is None:
        return True
    return first == second or not _comparable(first, second)


def _comparable(a: Place, b: Place) -> bool:
    """Whether two places are known to be the same, or different."""
    return a[1] == b[1]
