"""Coordinates u of a Montgomery curve: numbers modulo a prime, and a scalar."""

from random import Random

from ..operation import Numbers
from .modular import Modular


class Montgomery(Modular):
    """As Modular; a domain with a `cofactor` is that of a curve, whose scalars are clamped."""

    form = "montgomery"
    prime = True

    @property
    def gives_point(self) -> bool:
        """Whether the outputs are a point: by its coordinate u."""
        return True

    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """A scalar and a coordinate: on a curve as RFC 7748 decodes them."""
        if "cofactor" not in domain:
            return super().drawn(domain, generator, worst=worst)
        p = domain["m"]
        bits = p.bit_length()
        scalar = int.from_bytes(generator.randbytes((bits + 7) // 8), "little")
        highest = 1 << (bits - 1)
        scalar = scalar % highest | highest
        scalar -= scalar % domain["cofactor"]
        return {"x": generator.randrange(p), "e": scalar, "y": domain["y"], "m": p}
