"""The programs of an engine: of one scheme, or of several on one sponge side."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from coprime.lattice.arithmetic.instructions import AssembledArithmetic
from coprime.lattice.arithmetic.large_instructions import AssembledLarge
from coprime.lattice.memory.places import BytePlace, words_needed
from coprime.lattice.sponge_side.instructions import AssembledProgram, SpongeProgram, assembled

_Arithmetic = TypeVar("_Arithmetic", AssembledArithmetic, AssembledLarge)


@dataclass(frozen=True)
class SchemePrograms(Generic[_Arithmetic]):
    """Both sides' programs for a scheme, and the places that they use.

    Attributes
    ----------
    text : of the sponge side
    arithmetic : of the scheme's arithmetic side
    places : by name; they depend on the number of a parameter set of the scheme
    """

    text: SpongeProgram
    arithmetic: _Arithmetic
    places: Mapping[str, BytePlace]

    @cached_property
    def sponge(self) -> AssembledProgram:
        """The sponge side's program, if the engine has this scheme alone."""
        return self.text.assemble()


@dataclass(frozen=True)
class EnginePrograms:
    """The programs of all schemes of an engine; its parameter sets are those of ML-KEM, then those
    of ML-DSA.

    Attributes
    ----------
    ml_kem, ml_dsa : one of them may be None
    """

    ml_kem: SchemePrograms[AssembledArithmetic] | None
    ml_dsa: SchemePrograms[AssembledLarge] | None

    @cached_property
    def sponge(self) -> AssembledProgram:
        """Of the one sponge side."""
        return assembled([scheme.text for scheme in (self.ml_kem, self.ml_dsa) if scheme])

    @property
    def memory_words(self) -> int:
        """Words of the byte memory."""
        return max(words_needed(scheme.places) for scheme in (self.ml_kem, self.ml_dsa) if scheme)

    @property
    def ml_kem_sets(self) -> int:
        """How many parameter sets of ML-KEM there are: the first one of ML-DSA has this number."""
        return len(self.ml_kem.arithmetic.counts) if self.ml_kem else 0

    @property
    def slots(self) -> Mapping[str, BytePlace]:
        """Places by name, of both schemes; with a parameter set of another scheme at 0."""
        places: dict[str, BytePlace] = {}
        kem, dsa = self.ml_kem_sets, len(self.ml_dsa.arithmetic.sets) if self.ml_dsa else 0
        for of_scheme, before, after in ((self.ml_dsa, kem, 0), (self.ml_kem, 0, dsa)):
            for name, place in of_scheme.places.items() if of_scheme else ():
                found = ((0,) * before + tuple(each) + (0,) * after for each in _columns(place))
                places[name] = BytePlace(*found)
        return places


def _columns(place: BytePlace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return place.addresses, place.words
