"""Where an accelerator's random bytes come from."""

import enum

from coprime.errors import hint


class RandomSource(enum.Enum):
    """The value of `--random`; `code` is that of CAPABILITIES.SOURCE."""

    STREAM = "stream"
    SEEDED = "seeded"
    TRNG = "trng"

    @property
    def code(self) -> int:
        """0 if they come from outside."""
        return list(RandomSource).index(self)

    @property
    def title(self) -> str:
        """The source in a few words."""
        return _TITLES[self]


_TITLES = {
    RandomSource.STREAM: "from outside, by s_axis_random_*",
    RandomSource.SEEDED: "Hash_DRBG of SP 800-90A with SHA-256, seeded by software",
    RandomSource.TRNG: "Hash_DRBG of SP 800-90A with SHA-256, seeded by a noise source",
}


UNMEASURED = (
    "random bytes are seeded by noise whose entropy has not been measured on any device: measure it"
    " on yours, with coprime assess entropy"
)
"""What who uses a TRNG must know."""


def parse_source(text: str) -> RandomSource:
    """The source of a name. ValueError, which says which there are, for another one."""
    names = [source.value for source in RandomSource]
    if text not in names:
        raise ValueError(f"there is no source of random bytes {text!r}; {hint(text, names)}")
    return RandomSource(text)
