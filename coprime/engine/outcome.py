"""The outcome of a command, as it is predicted."""

from dataclasses import dataclass, field

from .capabilities import Error


@dataclass(frozen=True)
class Prediction:
    """Outcome of a command. `result`, maybe a secret, is None after an error and after a wipe."""

    result: int | None = field(repr=False)
    error: Error
    cycles: int
    products: int
