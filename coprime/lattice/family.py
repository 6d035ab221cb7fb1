"""The family `lattice`."""

from coprime.calls.family import CallFamily
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.parameters import ChoiceParameter

ALL_SETS = "all"

LATTICE = CallFamily(
    name="lattice",
    paper="",
    summary="ML-KEM on one DSP slice, with Keccak a few slices or a whole round a cycle next to it",
    parameters=(
        ChoiceParameter(
            *("slices", ("4", "8", "16", "32", "64"), "8"),
            "slices of Keccak in a cycle; a permutation takes 432, 240, 144, 96 or 24 cycles",
        ),
        ChoiceParameter(
            *("sets", (ALL_SETS, *(one.name.lower() for one in ML_KEM_SETS)), ALL_SETS),
            "parameter sets that the engine has",
        ),
        ChoiceParameter(
            *("secrets", ("stay", "readable"), "readable"),
            "whether dk and K stay in the engine or can be read",
        ),
    ),
    builder="coprime.lattice.design:lattice",
)
