"""The parameter `masked` of engines with Keccak."""

from coprime.parameters import ChoiceParameter

NONE, SPONGE = "none", "sponge"
MASKED = ChoiceParameter(
    *("masked", (NONE, SPONGE), NONE),
    "what computes in two shares: nothing, or Keccak's state, with less than 64 slices",
    sparse=True,
)
_WHOLE = "64"


def is_masked(masked: str, slices: str) -> bool:
    """Whether Keccak's state is in two shares. ValueError with all slices at once."""
    if masked == SPONGE and slices == _WHOLE:
        raise ValueError(f"masked={SPONGE} needs slices=32 or fewer, not {_WHOLE}")
    return masked == SPONGE
