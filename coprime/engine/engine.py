"""The engine: one lane, or two in parallel."""

from collections.abc import Sequence

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.multipliers.contract import ModularMultiplier
from coprime.multipliers.multiplication import Multiplication
from coprime.program.assembler import Program

from .banked_lane import BankedLane
from .bare_lane import BareLane
from .contract import Capabilities, EngineSignature
from .lane import Lane
from .layout import BankedLayout, Layout


class Engine(wiring.Component):
    """The engine of `engine/contract.py`, with a lane for each multiplier.

    Parameters
    ----------
    multipliers (sequence of ModularMultiplier): one for each lane: 1 or 2. Where both lanes share
        one, the second is its ports `other`.
    programs (sequence of Program): one for each lane; the first one leads
    layout (Layout): the same for each lane's memory
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplication: Multiplication,
        multipliers: Sequence[ModularMultiplier | wiring.PureInterface],
        programs: Sequence[Program],
        layout: Layout,
        *,
        target: Target = Target.GENERIC,
    ):
        self.capabilities = capabilities
        make_lane: type[BankedLane | Lane] = Lane
        if isinstance(layout, BankedLayout):
            make_lane = BankedLane
        elif capabilities.bare:
            make_lane = BareLane
        self.lanes = [
            make_lane(
                capabilities,
                multiplication,
                multiplier,
                program,
                layout,
                leads=program is programs[0],
                target=target,
            )
            for multiplier, program in zip(multipliers, programs, strict=True)
        ]
        super().__init__(EngineSignature(capabilities))

    def elaborate(self, platform: object) -> Module:
        """Connect the bus to every lane; its outputs are those of the first lane."""
        m = Module()
        members = EngineSignature(self.capabilities).members
        inputs = [name for name, port in members.items() if port.flow is In and port.is_port]
        for index, lane in enumerate(self.lanes):
            m.submodules[f"lane_{index}" if index else "lane"] = lane
            m.d.comb += same_named(lane, self, *inputs)
        leading = self.lanes[0]
        # The other lane may be idle before the engine is: what the leading one does not take, it
        # must not take either.
        for lane in self.lanes[1:]:
            m.d.comb += lane.write.eq(self.write & ~leading.busy)
        if self.capabilities.draws:
            connect(m, flipped(self.random), leading.random)
        m.d.comb += same_named(self, leading, "busy", "done", "error", "result_digit")
        if self.capabilities.checked:
            m.d.comb += self.residue.eq(leading.residue)
        m.d.comb += self.multiplying.eq(sum(lane.multiplying for lane in self.lanes))
        if len(self.lanes) == 2:
            for lane, other in (self.lanes, reversed(self.lanes)):
                connect(m, lane.to_other, other.from_other)
        return m
