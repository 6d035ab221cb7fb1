"""The padding schemes that software selects, and the paddings that a build includes."""

import enum
from collections.abc import Iterable

from .tasks import Task


class Scheme(enum.IntEnum):
    """Schemes of PADDING.SCHEME for commands started by STATUS. The hash is always SHA-256."""

    NONE = 0
    """The input and the result are numbers."""
    PKCS1 = 1
    """PKCS #1 v1.5 encryption. A wrong padding decrypts to a message that only the key predicts."""
    OAEP = 2
    """OAEP with MGF1."""
    PKCS1_SIGNATURE = 3
    """PKCS #1 v1.5 signatures."""
    PSS = 4
    """PSS with MGF1."""

    @property
    def signs(self) -> bool:
        """Whether the private operation follows the padding, instead of preceding its removal."""
        return self in (Scheme.PKCS1_SIGNATURE, Scheme.PSS)


class Padding(enum.Enum):
    """What can be built in, or left out."""

    PKCS1 = "pkcs1"  # PKCS #1 v1.5, encryption and signatures
    OAEP = "oaep"
    PSS = "pss"

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """The schemes that it provides."""
        if self is Padding.PKCS1:
            return Scheme.PKCS1, Scheme.PKCS1_SIGNATURE
        return (Scheme[self.name],)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the padding unit that it needs."""
        return tuple(
            task_of(scheme, decodes) for scheme in self.schemes for decodes in (False, True)
        )


def task_of(scheme: Scheme, decodes: bool) -> Task:
    """The task before (or, if `decodes`, after) the exponentiation; not for NONE."""
    return Task(2 * (scheme - 1) + decodes)


def mask_of(paddings: Iterable[Padding]) -> int:
    """The value of CAPABILITIES.PADDINGS."""
    return sum(1 << list(Padding).index(padding) for padding in paddings)


def parse_paddings(names: Iterable[str]) -> tuple[Padding, ...]:
    """Parse names of paddings, in any order; ValueError for an unknown one."""
    found = set()
    for name in names:
        try:
            found.add(Padding(name))
        except ValueError:
            known = ", ".join(padding.value for padding in Padding)
            raise ValueError(f"a padding must be one of {known}, not {name!r}") from None
    return tuple(padding for padding in Padding if padding in found)
