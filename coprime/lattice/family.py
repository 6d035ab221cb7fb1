"""The family `lattice`."""

from coprime.calls.family import CallFamily
from coprime.calls.masking import MASKED
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.parameters import ChoiceParameter

ALL_SETS = "all"
ML_KEM, ML_DSA, BOTH = "ml-kem", "ml-dsa", "both"
_KEM, _DSA = (
    tuple(parameter_set.name.lower() for parameter_set in sets)
    for sets in (ML_KEM_SETS, ML_DSA_SETS)
)
PAIRS = tuple(f"{kem}+{dsa}" for kem in _KEM for dsa in _DSA)
"""A parameter set of each scheme, for an engine of both."""

LATTICE = CallFamily(
    name="lattice",
    paper="",
    summary="ML-KEM, ML-DSA or both on one DSP slice, each alone also on 4 or 8",
    parameters=(
        ChoiceParameter(
            *("slices", ("4", "8", "16", "32", "64"), "8"),
            "slices of Keccak in a cycle; a permutation takes 432, 240, 144, 96 or 24 cycles",
        ),
        ChoiceParameter(
            *(
                "sets",
                (ALL_SETS, *_KEM, *_DSA, *PAIRS),
                ALL_SETS,
            ),
            "parameter sets that the engine has: all of its schemes', or one of each",
        ),
        ChoiceParameter(
            *("secrets", ("stay", "readable"), "readable"),
            "whether dk and K, or sk, stay in the engine or can be read",
        ),
        ChoiceParameter(
            *("schemes", (ML_KEM, ML_DSA, BOTH), ML_KEM),
            "what the engine computes",
            sparse=True,
        ),
        ChoiceParameter(
            *("verify_only", ("0", "1"), "0"),
            "1: of ML-DSA nothing but verification",
            sparse=True,
        ),
        ChoiceParameter(
            *("check_signatures", ("0", "1"), "1"),
            "1: a signature of ML-DSA is verified before it can be read",
            sparse=True,
        ),
        MASKED,
        ChoiceParameter(
            *("dsp", ("1", "4", "8"), "1"),
            "DSP slices, each with a part of every polynomial; with one scheme",
            sparse=True,
        ),
    ),
    builder="coprime.lattice.design:lattice",
    variants=({}, {"schemes": ML_DSA}),
)
