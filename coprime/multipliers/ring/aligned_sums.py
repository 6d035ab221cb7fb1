"""The sums of two tiles of `ring`, as one column needs both."""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["AlignedSums"]


class AlignedSums(wiring.Component):
    """Registers behind two tiles, of which the first may end a column a cycle earlier.

    Parameters
    ----------
    bits : of a tile's sum

    Members
    -------
    tile_0, tile_1 : in, the sums of the tiles
    waits : the first register keeps its sum
    is_missing : it becomes 0
    sum_0, sum_1 : out, a cycle later
    """

    def __init__(self, bits: int):
        sums = {f"tile_{k}": In(signed(bits)) for k in range(2)}
        flags = {"waits": In(1), "is_missing": In(1)}
        super().__init__({**sums, **flags, **{f"sum_{k}": Out(signed(bits)) for k in range(2)}})

    def elaborate(self, platform: object) -> Module:
        """Two registers."""
        m = Module()
        first, second = (Signal(self.sum_0.shape(), name=f"sum_{k}", reset_less=True) for k in "01")
        with m.If(~self.waits):
            m.d.sync += first.eq(self.tile_0)
        with m.If(self.is_missing):
            m.d.sync += first.eq(0)
        m.d.sync += second.eq(self.tile_1)
        m.d.comb += [self.sum_0.eq(first), self.sum_1.eq(second)]
        return m
