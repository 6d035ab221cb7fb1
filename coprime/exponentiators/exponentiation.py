"""The exponentiation algorithm of a lane that works alone, and the size of its windows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coprime.program.builder import Builder
from coprime.program.operands import Context, Entry, Scratch

from .fixed_window import fixed_window
from .left_to_right import left_to_right
from .m_ary import m_ary
from .names import EXPONENTIATORS
from .repeated import repeated, short
from .right_to_left import right_to_left
from .sliding_window import sliding_table, sliding_window

_BY_BITS: Mapping[str, Callable[[Builder], None]] = {
    "left-to-right": left_to_right,
    "right-to-left": right_to_left,
    "repeated": repeated,
}
_BY_WINDOWS: Mapping[str, Callable[[Builder, int], None]] = {
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
        return tuple(map(Entry.at, entries.get(self.name, ())))

    @property
    def constant_time(self) -> bool:
        """The cycles depend on the exponent's length and nothing else."""
        return self.name == "fixed-window"

    def power(self, code: Builder) -> None:
        """ACCUMULATOR = X ^ exponent modulo the modulus, by the last step."""
        if self.name == "fixed-window":
            is_whole = code.context is Context.WHOLE
            fixed_window(code, self.whole_window_bits if is_whole else self.window_bits)
        elif self.window_bits:
            _BY_WINDOWS[self.name](code, self.window)
        else:
            _BY_BITS[self.name](code)

    def check(self, code: Builder) -> None:
        """What must hold of the modulus's exponent."""
        if self.name == "repeated":
            short(code)
