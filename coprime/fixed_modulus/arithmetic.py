"""Arithmetic for one modulus, and for a multiple of it, without hardware.

Source: COMPRESSION (Vassoler 2023), sections 4.1 and 4.2.1: all products of an exponentiation are
taken modulo the pseudo-modulus c * m, and its result is reduced modulo m once, at the end. The
multiplier is a compressor tree (CM) or the expression `x * y % m` (DM): `products.py`.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from coprime.model.pseudo_moduli import Search, search

from .families import EXTRA_BITS


class Method(Enum):
    """How a product is reduced."""

    COMPRESSION = "compression"
    DIRECT = "direct"


@dataclass(frozen=True)
class FixedModulus:
    """Arithmetic for a modulus that is known when the circuit is generated.

    Parameters
    ----------
    modulus (int): m, 3 or more
    factor (int): c, so that products are taken modulo c * m: 1 or more, or ANY_FACTOR for the c of
        the least estimated cost
    stages (int): registers on the way of a product: 0 or more; 0 for DIRECT
    extra_bits (int): bits by which the multiple of ANY_FACTOR may exceed the modulus: 0 to 16
    """

    modulus: int
    method: Method
    factor: int = 1
    stages: int = 0
    extra_bits: int = EXTRA_BITS

    def __post_init__(self) -> None:
        """Refuse a factor or stages out of range (ValueError)."""
        if self.factor < 0:
            raise ValueError(f"factor must be 0 or more, not {self.factor}")
        if self.stages < 0 or (self.stages and self.method is Method.DIRECT):
            raise ValueError(f"stages must be 0 or more, and 0 without a tree, not {self.stages}")

    @cached_property
    def search(self) -> Search:
        """Multiples of the modulus, with what they cost."""
        return search(self.modulus, self.extra_bits)

    @cached_property
    def multiple(self) -> int:
        """c * m, which products are taken modulo."""
        return (self.factor or self.search.best.factor) * self.modulus

    @property
    def corrects(self) -> bool:
        """Whether what is modulo c * m differs from what is modulo m."""
        return self.multiple != self.modulus

    @property
    def bits(self) -> int:
        """Of a number below c * m."""
        return (self.multiple - 1).bit_length()

    def check_stages(self, *, squares: bool) -> None:
        """Raise ValueError where a product, or a square if there are `squares`, has fewer places
        for registers than `stages`. Trees are planned for that, if there are any registers.
        """
        if self.stages:
            from coprime.cells.compression import product_plan

            kinds = (False, True) if squares else (False,)
            most = 1 + min(product_plan(self.multiple, square=kind).depth for kind in kinds)
            if self.stages > most:
                raise ValueError(
                    f"stages must be in 0..{most} for this modulus, not {self.stages}: there is a"
                    " place behind each level of the tree, and one before the first"
                )
