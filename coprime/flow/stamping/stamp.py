"""Stamp a mapped netlist: from modules on a chain to a placed and routed device."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coprime.cells.target import Target

from ..mapping import mapping_tools
from ..routing import (
    CriticalPath,
    clock_mhz,
    critical_path,
    mapped_netlist,
    nextpnr,
    report_of,
    wrapped,
)
from ..targets import Flow, FpgaDevice, device_named, flow_of
from ..tool_errors import ToolError
from ..tools import tool_version
from .block import Block, Copy, packed, place_and_route, routed_netlist
from .chain import ChainPart, NodeChain, front_end, instances_in_a_ring
from .check import check
from .compose import Composed, compose
from .fabric import Fabric, Rectangle
from .links import close, open_nets, opened
from .netlist import WALL, Module, modules_of, netlist_text
from .plan import PlannedArea, need_of, plan
from .timing import paths_since

_TARGET_MHZ = 200.0  # clock that nextpnr works towards
_ENOUGH = 0.985
"""Fraction of the clock of the fastest rectangle so far that needs no further seed."""
_FURTHER = 8  # additional seeds for a slower rectangle
_FRONT_ENDS = 4
"""Maximum number of front ends with which the whole is routed. Nets that cross copies are routed
again, and their delay depends on the front end's placement."""
_NO_ROUTE = re.compile(r"Failed to route arc \S+ of net '([^']+)'")
STAMPING = Target.ECP5
"""The target whose fabric this module knows."""


@dataclass(frozen=True, kw_only=True)
class StampedDesign:
    """A device with copies of a module, and how fast it is."""

    device: str
    fmax_mhz: float
    """Maximum clock of the whole: of its slowest block, or of the paths in no block."""
    critical_path: str
    paths_since_mhz: float  # maximum clock of the paths in no block (`paths_since`)
    reported_mhz: float  # nextpnr's figure for the whole: a lower bound
    block_mhz: Mapping[str, Mapping[int, float]]
    """Maximum clock in MHz of each rectangle and of the front end alone, by seeds.

    The front end has further seeds while the whole is slower than the rectangles."""
    rectangles: Mapping[str, int]  # number of each
    filled: int  # maximum utilization of a rectangle's LUTs, in percent
    routed: int  # nets that were copied with their routes
    left: int  # nets without a route to copy; most are inside a slice and need none
    tools: Mapping[str, str]  # version of each tool
    netlist: Module = field(repr=False)
    """The packed cells with their places, as the last step routes them."""
    folder: Path
    """With nextpnr's report.json of the whole and, if there are constraints, the bitstream."""

    def record(self) -> dict[str, object]:
        """The stamping in the output of `synth --json`."""
        return {
            "block_mhz": {
                name: {str(seed): mhz for seed, mhz in by_seed.items()}
                for name, by_seed in self.block_mhz.items()
            },
            "rectangles": dict(self.rectangles),
            "paths_since_mhz": self.paths_since_mhz,
            "reported_mhz": self.reported_mhz,
            "filled_percent": self.filled,
            "nets_copied": self.routed,
            "nets_routed": self.left,
        }


def stamp_design(
    verilog: str,
    top: str,
    *,
    repeated: Sequence[str],
    device: str = "",
    seeds: Sequence[int] = (1, 2, 3, 4),
    pins: str | None = None,
    enough_mhz: float = math.inf,
) -> StampedDesign:
    """Map a design for ECP5 and stamp the instances of a module that form a chain.

    Parameters
    ----------
    verilog (str): with top module `top`, whose clock is the port clk or s_axi_aclk
    repeated (sequence of str): modules to map separately; the last one is stamped
    device (str): one of the target's; "" for its first one
    seeds (sequence of int): for each rectangle, the best of which is stamped; at least one. A
        rectangle that is slower than the first one has further seeds, and so has the front end.
    pins (str or None): connect each port of `top` with a pin, by these constraints (then there is
        a bitstream, too), or "" for any pin; None: each port is registered, as in
        `coprime.flow.routing.route_design`, so that designs with more ports fit
    enough_mhz (float): a rectangle that reaches this clock needs no further seed

    Raises ValueError for another device, ToolError if the instances form no chain, if they do not
    fit or cannot be divided into rectangles, or if a tool fails.
    """
    if not seeds:
        raise ValueError("seeds must name at least one seed")
    flow = flow_of(STAMPING)
    device = device or flow.default_device
    own = device_named(flow, device)
    source, whole = wrapped(verilog, top) if pins is None else (verilog, top)
    modules = modules_of(mapped_netlist(flow, own, device, source, whole, repeated))
    chain = NodeChain.of(modules, whole, repeated[-1])
    fabric = Fabric.of(device)
    return _Stamping(flow, own, fabric, seeds, pins or "", enough_mhz).stamp(chain)


@dataclass(frozen=True)
class _Whole:
    """The whole with one front end, and the clock of the paths in no rectangle."""

    composed: Composed
    linked: Module
    routed: Path
    paths_since_mhz: float
    mhz: float  # of the front end as well
    critical_path: CriticalPath


@dataclass(frozen=True)
class _Stamping:
    flow: Flow
    device: FpgaDevice
    fabric: Fabric
    seeds: Sequence[int]
    constraints: str
    enough_mhz: float

    def stamp(self, chain: NodeChain) -> StampedDesign:
        """Stamp a chain. Raises as `stamp_design`."""
        front, single = front_end(chain), instances_in_a_ring(chain, 1)
        need = {part.instances: need_of(self._packed(part.modules)) for part in (front, single)}
        count = len(chain.instances)
        chosen = plan(self.fabric, need[1], need[0], count)
        blocks = self._blocks(chain, chosen.places)
        slowest = min(block.mhz for block in blocks.values())
        copies = [Copy(blocks[self._look(place)], place.area) for place in chosen.places]
        best, failed = None, None
        clocks: dict[int, float] = {}
        for front_block in self._front_ends(front, chosen.front, slowest):
            clocks |= front_block.mhz_by_seed
            try:
                whole = self._whole(chain, front_block, copies)
            except ToolError as error:
                failed = error
                continue
            if best is None or whole.mhz > best.mhz:
                best = whole
            if best.mhz >= _ENOUGH * slowest:
                break
        if best is None:
            raise failed or ToolError("no front end was placed")
        clock, path = min(
            (best.mhz, best.critical_path),
            *((block.mhz, block.critical_path) for block in blocks.values()),
            key=lambda timing: timing[0],
        )
        names = {
            key: f"{block.part.instances} in {block.rectangle}" for key, block in blocks.items()
        }
        return StampedDesign(
            device=self.device.title,
            fmax_mhz=clock,
            critical_path=str(path),
            paths_since_mhz=best.paths_since_mhz,
            reported_mhz=clock_mhz(report_of(best.routed)),
            block_mhz={"front end": clocks}
            | {names[key]: block.mhz_by_seed for key, block in blocks.items()},
            rectangles=Counter(names[self._look(place)] for place in chosen.places),
            filled=chosen.percent,
            routed=best.composed.routed,
            left=best.composed.left,
            tools={
                **mapping_tools(),
                self.flow.nextpnr_name: tool_version(self.flow.nextpnr),
            },
            netlist=best.linked,
            folder=best.routed,
        )

    def _front_ends(self, part: ChainPart, area: Rectangle, slowest: float) -> Iterator[Block]:
        """Front ends of different seeds, as fast as the slowest rectangle, or else the fastest one.

        The last error, if the front end fits with none of the seeds.
        """
        seeds, found = list(self._all_seeds), 0
        while seeds and found < _FRONT_ENDS:
            try:
                block = self._block(
                    part, area, seeds=seeds, enough_mhz=slowest, constraints=self.constraints
                )
            except ToolError:
                if found:
                    return
                raise
            if found and block.mhz < slowest:
                return
            yield block
            found += 1
            last = max(block.mhz_by_seed, key=seeds.index)
            seeds = seeds[seeds.index(last) + 1 :]

    def _whole(self, chain: NodeChain, front: Block, copies: Sequence[Copy]) -> "_Whole":
        """All blocks together, checked and routed, and the clock of the paths in no rectangle."""
        composed, linked = self._linked(chain, front, copies)
        check(linked, self.fabric, self._packed(chain.modules))
        routed = self._routed_in_place(linked, bitstream=bool(self.constraints))
        paths = paths_since(composed.module, routed_netlist(routed))
        since = report_of(self._routed_in_place(paths))
        clock, path = min(
            (clock_mhz(since), critical_path(since)),
            (front.mhz, front.critical_path),
            key=lambda timing: timing[0],
        )
        return _Whole(composed, linked, routed, clock_mhz(since), clock, path)

    def _routed_in_place(self, module: Module, *options: str, bitstream: bool = False) -> Path:
        """A folder in which the unrouted nets of a placed netlist were routed."""
        timing = ("--freq", str(_TARGET_MHZ), "--timing-allow-fail")
        options = (*self.flow.place_without_pins, "--no-pack", "--no-place", *timing, *options)
        netlist = netlist_text({"top": module})
        return nextpnr(
            self.flow, self.device, netlist, "", options, bitstream=bitstream, write=WALL
        )

    def _linked(
        self, chain: NodeChain, front: Block, copies: Sequence[Copy]
    ) -> tuple[Composed, Module]:
        """The blocks as they were put together, and the same with the links routed.

        A link may have no route to its end: then it may take wires of that block, or of its copies.
        Nets that lose wires are routed again, together with the links; if that fails, at the end.
        """
        loose: list[Block] = []
        while True:
            composed = compose(chain, self.fabric, front, copies, loose)
            try:
                links = self._open_nets_routed(composed)
                break
            except ToolError as error:
                block = _blocked(str(error), chain, front, copies)
                if block is None or block in loose:
                    raise
                loose.append(block)
        again = opened(composed, links)
        if again.open != composed.open:
            with suppress(ToolError):
                return composed, close(again, self._open_nets_routed(again))
        return composed, close(composed, links)

    def _open_nets_routed(self, composed: Composed) -> Module:
        module = open_nets(composed, self.fabric)
        return routed_netlist(self._routed_in_place(module, "--router", "router2"))

    @property
    def _all_seeds(self) -> Sequence[int]:
        last = max(self.seeds)
        return *self.seeds, *range(last + 1, last + 1 + _FURTHER)

    def _look(self, place: PlannedArea) -> tuple[object, ...]:
        """A key that is equal for two places of the same block."""
        return (
            self.fabric.signature(place.area),
            place.instances,
            place.shared_rows,
            place.above and self._look(place.above),
        )

    def _blocks(
        self, chain: NodeChain, places: Sequence[PlannedArea]
    ) -> dict[tuple[object, ...], Block]:
        """The blocks of the rectangles, one for all rectangles that look alike.

        A block is placed where the fabric's edges are farthest, since wires near them may end
        differently. Rectangles that share few rows are first: they are the fastest.
        """
        alike: dict[tuple[object, ...], list[PlannedArea]] = {}
        for place in sorted(places, key=lambda place: place.most_shared):
            for rectangle in place.rectangles:  # those above first
                alike.setdefault(self._look(rectangle), []).append(rectangle)
        middle = self.fabric.middle
        blocks: dict[tuple[object, ...], Block] = {}
        for key, rectangles in alike.items():
            base = min(
                rectangles,
                key=lambda rectangle: (
                    max(abs(a - b) for a, b in zip(rectangle.area.middle, middle, strict=True)),
                    rectangle.area,
                ),
            )
            above = None
            if base.above:
                above = Copy(blocks[self._look(base.above)], base.above.area)
            # A second one next to the multipliers of another.
            signals = (len(base.rectangles) - 1) % 2
            part = instances_in_a_ring(chain, base.instances, signals)
            fastest = max((block.mhz for block in blocks.values()), default=math.inf)
            blocks[key] = self._block(
                part,
                base.area,
                enough_mhz=_ENOUGH * fastest,
                copies=[rectangle.area for rectangle in rectangles],
                above=above,
                shared_rows=base.shared_rows,
            )
        return blocks

    def _packed(self, modules: Mapping[str, Module]) -> dict[str, Any]:
        return packed(modules, self.flow, self.device)

    def _block(
        self,
        part: ChainPart,
        area: Rectangle,
        *,
        enough_mhz: float,
        seeds: Sequence[int] = (),
        copies: Sequence[Rectangle] = (),
        above: Copy | None = None,
        shared_rows: int = 0,
        constraints: str = "",
    ) -> Block:
        luts = need_of(self._packed(part.modules))["TRELLIS_COMB"]
        try:
            return place_and_route(
                part,
                area,
                self.flow,
                self.device,
                self.fabric,
                seeds=seeds or (self.seeds if enough_mhz == math.inf else self._all_seeds),
                target_mhz=_TARGET_MHZ,
                enough_mhz=min(enough_mhz, self.enough_mhz),
                copies=copies,
                above=above,
                shared_rows=shared_rows,
                luts=luts,
                constraints=constraints,
            )
        except ToolError as error:
            what = f"{part.instances} instances" if part.instances else "what is around the chain"
            raise ToolError(f"{what} in {area}: {error}") from error


def _blocked(error: str, chain: NodeChain, front: Block, copies: Sequence[Copy]) -> Block | None:
    """The block into which a link had no route, by the tool's message; None for other messages."""
    found = _NO_ROUTE.search(error)
    if found is None:
        return None
    name, _, rest = found[1].partition(".")
    while rest and name not in chain.instances:
        more, _, rest = rest.partition(".")
        name = f"{name}.{more}"
    if name not in chain.instances and found[1] not in front.part.outputs.values():
        return front
    end = chain.instances.index(name) + 1 if name in chain.instances else 0  # from the front end
    first = 0
    for copy in copies:
        first += copy.block.part.instances
        if end < first:
            return copy.block
    return front
