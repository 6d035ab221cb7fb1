"""What a build of a family has for elliptic curves: parameters, lengths, banks and commands."""

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coprime.model.combs import COMB_TEETH
from coprime.model.montgomery import digits
from coprime.parameters import ChoiceParameter

if TYPE_CHECKING:
    from coprime.multipliers.multiplication import Multiplication
    from coprime.operations.commands import Command

    from .design import EngineDesign
    from .layout import Banks

KINDS = ("montgomery", "weierstrass", "edwards")
"""Kinds of curves: of each an engine has all operations, or none."""
NO_CURVES, ALL_CURVES = "none", "all"
CURVES = (
    NO_CURVES,
    *("+".join(some) for n in range(1, 4) for some in itertools.combinations(KINDS, n)),
    ALL_CURVES,
)
_OF_POINTS = ("weierstrass", "edwards")
"""Those whose points have two coordinates."""
_HOST, _DRAWN, _HARDENED = PROFILES = ("host", "drawn", "hardened")
"""How signatures of ECDSA are made; each profile has what the one before it has, but for the
operation with a nonce of the host's."""
_SLACK = {"montgomery": 4, "weierstrass": 6, "edwards": 6}
"""Bits that R has above c * M, by kind."""
_LEAST_SLACK = 2
"""The same without curves."""
_BLOCK_BITS = (4, 5, 6, 6)
"""By the count of kinds. Table, key and what is live of two kinds are more than 32 blocks, and so
are those of a signature, its claim and the shares of its key."""
_LONGEST_FIELD = 528
"""Bits of the longest prime of a curve's field."""


@dataclass(frozen=True)
class CurvesParameter(ChoiceParameter):
    """Kinds of curves in any order, joined by + or commas, or all of them."""

    def parse(self, text: str) -> str:
        """The kinds in their own order, joined by +; ValueError if one is none."""
        kinds = set(KINDS if text == ALL_CURVES else re.split("[+,]", text))
        if kinds == {NO_CURVES} or (kinds and kinds <= set(KINDS)):
            return "+".join(kind for kind in (NO_CURVES, *KINDS) if kind in kinds)
        known = f"{NO_CURVES}, {ALL_CURVES}, or some of {', '.join(KINDS)}, joined by +"
        raise ValueError(f"{self.name} must be {known}, not {text!r}")

    def has(self, text: str, value: str) -> bool:
        """Whether a kind is one of those."""
        return value in self.parse(text).split("+")


@dataclass(frozen=True)
class ProfileParameter(ChoiceParameter):
    """A profile of ECDSA."""

    def has(self, text: str, value: str) -> bool:
        """Whether a profile is another one; a hardened one draws nonces as well."""
        return self.parse(text) == value or (text, value) == (_HARDENED, _DRAWN)


CURVES_PARAMETER = CurvesParameter(
    "curves", CURVES, NO_CURVES, "operations on elliptic curves; kinds are joined by +", sparse=True
)
CURVE_PARAMETERS = (
    CURVES_PARAMETER,
    ProfileParameter(
        "ecdsa",
        PROFILES,
        _HOST,
        "whose the nonces of ECDSA are: the host's, or drawn, with random coordinates of points;"
        " hardened: drawn, the key in shares, and blinded scalars",
        sparse=True,
    ),
)


@dataclass(frozen=True)
class CurveSettings:
    """The values of CURVE_PARAMETERS, and whether a private operation is blinded.

    Raises ValueError for a value that is none of a parameter's, for a profile without the curves
    that it is for, and for blinding beside points of two coordinates.
    """

    curves: str = NO_CURVES
    ecdsa: str = _HOST
    blinds: bool = False

    def __post_init__(self) -> None:
        for parameter in CURVE_PARAMETERS:
            parameter.parse(getattr(self, parameter.name))
        if self.draws and "weierstrass" not in self.kinds:
            raise ValueError(f"ecdsa={self.ecdsa} is for curves=weierstrass, alone or with others")
        if self.has_points and self.blinds:
            alone = f"with curves={self.curves} there is no blinding yet"
            raise ValueError(f"{alone}: leave one of them out")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of curves."""
        return tuple(
            kind for kind in CURVES_PARAMETER.parse(self.curves).split("+") if kind in KINDS
        )

    @property
    def any(self) -> bool:
        """Whether there are operations on curves."""
        return bool(self.kinds)

    @property
    def has_points(self) -> bool:
        """Whether points have two coordinates, which operands and results hold both of."""
        return not set(self.kinds).isdisjoint(_OF_POINTS)

    @property
    def slack(self) -> int:
        """Bits that R has above c * M, for sums that are not reduced."""
        return max(map(_SLACK.__getitem__, self.kinds), default=_LEAST_SLACK)

    @property
    def block_bits(self) -> int:
        """Width of the number of a block in banks: 2^block_bits hold the numbers of all kinds."""
        return max(_BLOCK_BITS) if self.hardened else _BLOCK_BITS[len(self.kinds)]

    @property
    def draws(self) -> bool:
        """Whether nonces are drawn."""
        return self.ecdsa != _HOST

    @property
    def hardened(self) -> bool:
        """Whether the private key of ECDSA is in two shares, and scalars are blinded."""
        return self.ecdsa == _HARDENED

    @property
    def commands(self) -> "list[Command]":
        """The operations on curves."""
        from coprime.operations.commands import Command

        profile = ("ecdsa", _DRAWN if self.draws else _HOST)
        chosen = {profile, *(("curves", kind) for kind in self.kinds)}
        return [
            command
            for command in Command
            if command.operation.setting in chosen and chosen.issuperset(command.operation.settings)
        ]

    def added_to(self, design: "EngineDesign") -> "EngineDesign":
        """The design with these operations."""
        design = replace(design, randomizes=self.draws)
        return design.with_operations(self.commands)

    def lengthened(
        self, banks: "Banks", multiplication: "Multiplication", max_bits: int
    ) -> "tuple[Banks, int, int]":
        """Banks that hold two coordinates in a number as long as the longest modulus.

        Returns
        -------
        banks : with digits of the longest modulus
        longest : its bits; max_bits or more
        half_bits : bits of a number below the second of two coordinates; 0 without such points
        """
        if not self.has_points:
            return banks, max_bits, 0
        width, headroom = multiplication.digit_width, multiplication.headroom
        half_bits = banks.block * width
        field = min(_LONGEST_FIELD, banks.longest_prime_digits * width - headroom)
        longest = max(max_bits, half_bits + field)
        if "edwards" in self.kinds:  # as far as two blocks hold them, columns of two scalars
            most = (2 * banks.block - 1) * width - headroom
            longest = max(longest, min(most, COMB_TEETH * (field + width)))
        return replace(banks, whole=digits(longest, width, headroom)), longest, half_bits
