"""The state of Keccak-f[1600] in two shares, and a round on a word of each lane a cycle.

Source: FIPS 202; the model is `../../model/masked/keccak.py`.
"""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.model.keccak import LARGEST_RATE
from coprime.model.masked.keccak import ROW_BITS, SHARES

from .lane_memory import LaneMemory
from .masked_round import MaskedChi, ShareTheta


class MaskedState(wiring.Component):
    """Two states, of which one is read while the other one is written, each in two shares.

    A word is read, and rho, pi, chi, iota are computed, in the cycle of its place; their sums are
    formed a cycle later; theta follows another cycle later, and the word is written.

    Parameters
    ----------
    width (int): bits of a word of a share: 4, 8, 16 or 32
    target (Target): LUTs are placed on xc7

    Members
    -------
    half, fresh, store, place : as of LaneMemory
    block (21 words, in), add (1 bit, in): added to the words that are read where `add` is 1; of
        each word share 0, then share 1
    clear (1 bit, in): the words whose sums are formed become zeros
    constant (in): bits of the round constant at `place`
    guard (5 bits, in): random, new in every cycle
    mixed (21 words, out): the sums; the words were read in the cycle before
    """

    def __init__(self, width: int, target: Target = Target.GENERIC):
        self.width, self.target = width, target
        self._lanes = [LaneMemory(width, target, delay=2) for _ in range(SHARES)]
        words = SHARES * width
        super().__init__(
            {
                **dict.fromkeys(("half", "fresh", "store", "add", "clear"), In(1)),
                "place": Out(self._lanes[0].place.shape()),
                "block": In(words).array(LARGEST_RATE),
                "guard": In(ROW_BITS),
                "constant": In(width),
                "mixed": Out(words).array(LARGEST_RATE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Each share has a memory and theta of its own; they meet in chi."""
        m = Module()
        m.submodules.chi = chi = MaskedChi(self.width, self.target)
        m.d.comb += [
            self.place.eq(self._lanes[0].place),
            chi.add.eq(self.add),
            chi.fresh.eq(self.guard),
            chi.constant.eq(self.constant),
        ]
        for share, lanes in enumerate(self._lanes):
            theta = ShareTheta(self.width, self.target)
            m.submodules[f"lanes_{share}"], m.submodules[f"theta_{share}"] = lanes, theta
            own = slice(share * self.width, (share + 1) * self.width)
            mixed = list(chi.mixed[share])
            m.d.comb += [lanes.half.eq(self.half), lanes.fresh.eq(self.fresh)]
            m.d.comb += [lanes.store.eq(self.store), theta.clear.eq(self.clear)]
            for ports, words in (
                (chi.state[share], lanes.moved),
                (chi.block[share], [word[own] for word in self.block]),
                (theta.mixed, mixed),
                (lanes.written, theta.written),
                ([word[own] for word in self.mixed], mixed[:LARGEST_RATE]),
            ):
                m.d.comb += [port.eq(word) for port, word in zip(ports, words, strict=True)]
        return m
