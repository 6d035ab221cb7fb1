"""The family `shake`."""

from coprime.calls.family import CallFamily
from coprime.calls.masking import MASKED
from coprime.parameters import ChoiceParameter

SHAKE = CallFamily(
    name="shake",
    paper="",
    summary="SHA-3 and SHAKE, a few slices or a whole round of Keccak-f[1600] a cycle",
    parameters=(
        ChoiceParameter(
            *("slices", ("4", "8", "16", "32", "64"), "8"),
            "slices of the state in a cycle; a permutation takes 432, 240, 144, 96 or 24 cycles",
        ),
        MASKED,
    ),
    builder="coprime.shake.design:shake",
)
