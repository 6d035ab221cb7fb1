"""A modelled noise source of a simulated device: biased, correlated, failing."""

from collections.abc import Callable
from dataclasses import dataclass

from coprime.parameters import check_ranges

from .library import LibrarySimulation

__all__ = ["NoiseModel", "NoisySimulation"]

_MOST_REPEATS = 64


@dataclass(frozen=True)
class NoiseModel:
    """How raw samples are drawn. The default is a perfect source: independent, without bias.

    Raises ValueError for a value out of range.

    Parameters
    ----------
    ones : probability of a 1 where a sample is drawn, 0 to 1
    stays : probability that a sample is the one before, where `ones` is 0.5: 0.5 to 1; 0.5 is
        independent
    drift : added to `ones` at each sample
    repeats : each sample is the one so many before, 1 to 64; 1 is stuck; 0: it is drawn
    period : cycles from a sample to the next, up to 2^32 - 1; 0: none comes
    seed : of what is drawn, up to 2^64 - 1; 0: the operating system draws it
    """

    ones: float = 0.5
    stays: float = 0.5
    drift: float = 0.0
    repeats: int = 0
    period: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.ones <= 1:
            raise ValueError(f"ones must be 0 to 1, not {self.ones}")
        if not 0.5 <= self.stays <= 1:
            raise ValueError(f"stays must be 0.5 to 1, not {self.stays}")
        check_ranges(
            repeats=(self.repeats, range(_MOST_REPEATS + 1)),
            period=(self.period, range(1 << 32)),
            seed=(self.seed, range(1 << 64)),
        )


class NoisySimulation(LibrarySimulation):
    """A simulation whose design may have ports for a noise source outside."""

    def set_noise(self, model: NoiseModel) -> None:
        """Draw samples by this model from now on; for tests. Other designs have no effect of it."""
        self._noise_call("noise")(
            *(self._open(), model.ones, model.stays, model.drift),
            *(model.repeats, model.period, model.seed),
        )

    def give_noise(self, samples: bytes) -> None:
        """Set the next samples, of 0 or 1 each; those of the model follow. For tests."""
        self._noise_call("give_noise")(self._open(), samples, len(samples))

    def _noise_call(self, name: str) -> Callable[..., None]:
        function: Callable[..., None] = getattr(self._library, f"{self.PREFIX}_{name}")
        return function
