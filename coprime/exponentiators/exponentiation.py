"""The exponentiation algorithm of a lane that works alone, and the size of its windows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coprime.program.operands import Context, Scratch
from coprime.program.steps import Step

from .fixed_window import fixed_window
from .left_to_right import left_to_right
from .m_ary import m_ary
from .names import EXPONENTIATORS
from .repeated import repeated, short
from .right_to_left import right_to_left
from .sliding_window import sliding_table, sliding_window

_BY_BITS: Mapping[str, Callable[[Context], list[Step]]] = {
    "left-to-right": left_to_right,
    "right-to-left": right_to_left,
    "repeated": repeated,
}
_BY_WINDOWS: Mapping[str, Callable[[Context, int], list[Step]]] = {
    "m-ary": m_ary,
    "fixed-window": fixed_window,
    "sliding-window": sliding_window,
}

WINDOWS = (1, 2, 4)  # bits that a window may have


@dataclass(frozen=True)
class Exponentiation:
    """An algorithm by its name, and the bits of its windows, which have no meaning without them.

    Modulo the whole modulus windows may be shorter, of `whole_window` bits, if that is not 0. Then
    windows may have 3 or 5 bits, too. A private operation is `blinded`: its base and its exponent
    are random, and all that is made of them.

    Raises ValueError for another name or number of bits.
    """

    name: str = "left-to-right"
    window: int = 4
    whole_window: int = 0
    blinded: bool = False

    def __post_init__(self) -> None:
        if self.name not in EXPONENTIATORS:
            names = ", ".join(EXPONENTIATORS)
            raise ValueError(f"exponentiator must be one of {names}, not {self.name!r}")
        if self.window not in WINDOWS and not (self.whole_window and self.window in (3, 5)):
            raise ValueError(f"window must be 1, 2 or 4, not {self.window!r}")

    @property
    def window_bits(self) -> int:
        """Bits of a window; 0 if there are none."""
        return self.window if self.name in _BY_WINDOWS else 0

    @property
    def whole_window_bits(self) -> int:
        """The same modulo the whole modulus."""
        return self.whole_window or self.window_bits

    @property
    def table(self) -> tuple[Scratch, ...]:
        """Where it keeps powers of the base."""
        entries = {
            "fixed-window": range(1 << self.window),
            "m-ary": range(1, 1 << self.window),
            "sliding-window": sliding_table(self.window),
        }
        return tuple(map(Scratch.table, entries.get(self.name, ())))

    @property
    def constant_time(self) -> bool:
        """The cycles depend on the exponent's length and nothing else."""
        return self.name == "fixed-window"

    def steps(self, context: Context) -> list[Step]:
        """ACCUMULATOR = X ^ exponent modulo the context's modulus, by the last step."""
        if self.name == "fixed-window":
            bits = self.whole_window_bits if context is Context.WHOLE else self.window_bits
            return fixed_window(context, bits)
        if self.window_bits:
            return _BY_WINDOWS[self.name](context, self.window)
        return _BY_BITS[self.name](context)

    def checks(self, *contexts: Context) -> list[Step]:
        """What must hold of the contexts' exponents."""
        return [short(context) for context in contexts] if self.name == "repeated" else []
