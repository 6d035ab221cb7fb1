"""The entries of the table that addressing modes name, on lanes of two banks.

On integers it is `LaneModel.value`.
"""

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from coprime.multipliers.delays import past_value
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, third_entry

from .bank_access import ProductAccess, StepInBanks
from .layout import BankedLayout


class TableEntries:
    """The blocks that WINDOW, ENTRY and THIRD name: by the window, or by a point of a column.

    Parameters
    ----------
    program : Program
    layout : BankedLayout
    window : bits of the exponent's window
    columns : the window is a column; None where none are scanned
    """

    def __init__(
        self, program: Program, layout: BankedLayout, window: Signal, columns: Signal | None
    ):
        self.program, self.layout, self.window, self.columns = program, layout, window, columns

    @property
    def modes(self) -> Mapping[str, tuple[Mode, ...]]:
        """The modes that a port may be asked for, by its name.

        A block named so may also be one of the left bank: then the right one does nothing.
        """
        both = (Mode.WINDOW, Mode.ENTRY)
        modes = {
            "a_right": (Mode.WINDOW,) if self.columns is None else both,
            "b_right": both,
        }
        if self.program.has_thirds:
            modes = {name: (*named, Mode.THIRD) for name, named in modes.items()}
        return modes

    def of_step(self, context: Value) -> Mapping[str, Value]:
        """What the modes name in the step under way, by their names; its modulus is `context`."""
        return {
            "window": self._entry(0, context),
            "entry": self._entry(1, context),
            "third": self._third() if self.program.has_thirds else Const(0),
        }

    def _entry(self, after: int, context: Value) -> Value:
        """The entry that the window names, or one `after` that."""
        bits, whole_bits = self.program.window_bits, self.program.whole_window_bits
        named = (self.window + after)[:bits]
        if self.columns is not None:
            # Coordinates of one point lie side by side; a column's highest bit is its sign.
            of_column = Cat(Const(after, 1), self._point())
            named = Mux(self.columns, of_column, named)
        whole = Cat(Const(0, 1), named[:whole_bits])
        return Mux(context == Context.WHOLE, whole, named)

    def _point(self) -> Value:
        """The point that a column selects: its highest bit, the sign, inverts the others."""
        window = self.window
        return window[1:] ^ ~window[0].replicate(self.program.window_bits - 1)

    def _third(self) -> Value:
        """The entry that is the third number of that point."""
        point = self._point()
        first = Const(third_entry(0) >> len(point), self.layout.entry_bits - len(point))
        return Cat(point, first)

    def of_port(
        self, m: Module, of_product: Value, product: ProductAccess, step: StepInBanks
    ) -> Mapping[str, Value]:
        """What the modes name for a port, by their names: in a product, or in a linear step."""
        chosen = {
            "window": Mux(of_product, product.window, step.window),
            "entry": Mux(of_product, product.entry, step.entry),
        }
        if self.program.has_thirds:
            chosen["third"] = Mux(of_product, product.third, step.third)
        return {name: past_value(m, "entry", block, 1) for name, block in chosen.items()}
