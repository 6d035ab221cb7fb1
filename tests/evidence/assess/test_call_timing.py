"""Constant time of engines of byte strings: what is proved, and that the proof finds what leaks."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from coprime_evidence.assess.call_timing import prove_calls, prove_engines

from coprime.calls.interface import WIPE, Call, EngineInterface, Slot
from coprime.calls.ports import CallSignature
from coprime.calls.timing import TimingPremises
from coprime.catalog import choose_calls
from coprime.engine.capabilities import Error
from coprime.lattice.arithmetic.datapath import Datapath
from coprime.lattice.programs.ml_kem import ml_kem_programs
from coprime.lattice.sponge_side.instructions import SpongeProgram
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS

LENGTH = Slot(0, "length", "words of the secret that count", (4,), number_of="text")
SECRET = Slot(1, "secret", "what is compared with zeros", (16,), secret=True)
TEXT = Slot(2, "text", "nothing", (0,), streamed=True, readable=True)
IS_ZERO = Call(
    *(17, "IS_ZERO", "an error if some of its words are not 0", ("length", "secret"), ()),
    draw=lambda parameter_set, random: {},
    reference=lambda parameter_set, values: {},
)
INTERFACE = EngineInterface("zeros", 0xABCD, (LENGTH, SECRET, TEXT), (IS_ZERO,))


class Zeros(wiring.Component):
    """Looks at a word of a secret in each cycle, as many as `length` says, or until one is not 0.

    It finds two answers that are the opposite of each other, and needs both to end. With premises
    it always looks at 4: lengths come the same way as secrets, which a search does not tell apart.
    """

    interface = INTERFACE

    def __init__(self, *, early, premises, opposite=True):
        self.early, self.premises, self.opposite = early, premises, opposite
        self.differs = Signal()
        self.agrees = Signal(init=1)
        self.contradicts = Signal()
        if premises:
            self.timing_premises = TimingPremises(proved=(self.contradicts,))
        super().__init__(CallSignature(INTERFACE))

    def elaborate(self, platform):
        m = Module()
        words = [Signal(32) for _ in range(4)]
        count, place = Signal(3), Signal(3)
        load, word = self.load.payload, Signal(32)
        m.d.comb += [self.load.ready.eq(~self.busy), self.working.eq(self.busy)]
        m.d.comb += self.contradicts.eq(self.differs == self.agrees)
        with m.If(self.load.valid & ~self.busy):
            with m.If(load.slot == LENGTH.number):
                m.d.sync += count.eq(4 if self.premises else load.word.data)
            with m.Elif(load.slot == SECRET.number):
                for number, one in enumerate(words):
                    with m.If(load.index == number):
                        m.d.sync += one.eq(load.word.data)
        with m.Switch(place):
            for number, one in enumerate(words):
                with m.Case(number):
                    m.d.comb += word.eq(one)
        with m.If(self.start & ~self.busy):
            m.d.sync += [self.busy.eq(1), self.differs.eq(0), self.agrees.eq(1)]
            m.d.sync += [place.eq(0), self.error.eq(Error.NONE)]
            with m.If(self.call == WIPE):
                m.d.sync += [one.eq(0) for one in words]
        with m.If(self.busy):
            m.d.sync += place.eq(place + 1)
            with m.If(word != 0):
                m.d.sync += [self.differs.eq(1), self.agrees.eq(not self.opposite)]
            stops = self.differs if self.early else 0
            m.d.comb += self.done.eq(((place == count) | stops) & ~self.contradicts)
            with m.If(self.done):
                m.d.sync += self.busy.eq(0)
                with m.If(self.differs):
                    m.d.sync += self.error.eq(Error.INVALID_KEY)
        return m


def proof_of(**settings):
    return prove_engines((Zeros(**settings), Zeros(**settings)), seconds=60)


@pytest.mark.parametrize("premises", [False, True])
def test_what_is_compared_is_no_matter_of_time(premises):
    """How long it takes depends on a length, which is public."""
    proof = proof_of(early=False, premises=premises)
    assert proof.holds
    assert "differs" in proof.other


def test_an_early_end_is_found():
    proof = proof_of(early=True, premises=False)
    assert not proof.holds
    assert proof.cycle


def test_a_way_from_a_secret_is_found():
    """An engine that names premises has none of its outputs reached."""
    proof = proof_of(early=True, premises=True)
    assert not proof.holds
    assert "a.differs" in proof.way


def test_a_premise_is_proved():
    """No way leads past `contradicts`, which is not the same for all secrets here."""
    proof = proof_of(early=False, premises=True, opposite=False)
    assert not proof.holds
    assert not proof.way


# --- The families -------------------------------------------------------------------------------


def test_the_matrix_is_sampled_from_rho():
    programs = ml_kem_programs(ML_KEM_SETS)
    rho = {
        (programs.places[name].addresses, programs.places[name].words)
        for name in ("ek_rho", "dk_rho")
    }
    assert programs.sponge.uniform_ranges == rho
    assert all(words == (8, 8, 8) for _, words in rho)


def test_a_matrix_of_something_else():
    """A secret that is sampled from does not pass for rho."""
    places = ml_kem_programs(ML_KEM_SETS).places
    program = SpongeProgram((2, 3, 4), (2, 3, 4), (2, 3, 4))
    program.entry("call")
    program.sample_uniform()
    program.absorb(places["ek_rho"])
    program.absorb(places["d"], last=True)
    program.sample_binomial((3, 2, 2))
    program.absorb(places["z"], last=True)
    program.end()
    ranges = program.assemble().uniform_ranges
    assert {addresses for addresses, _ in ranges} == {
        places[name].addresses for name in ("ek_rho", "d")
    }


SLICES = ("4", "8", "16", "32", "64")


@pytest.mark.proof
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        *(("shake", {"slices": one}) for one in SLICES),
        *(("lattice", {"slices": one}) for one in SLICES),
        ("lattice", {"secrets": "stay"}),
        ("lattice", {"sets": "ml-kem-512"}),
        ("lattice", {"sets": "ml-kem-512", "dsp": "8"}),
    ],
)
def test_every_declaration_holds(family, settings):
    design = choose_calls(family, settings).design
    assert design.interface.constant_time
    assert prove_calls(design).holds


@pytest.mark.proof
def test_an_early_end_of_a_comparison_is_found(monkeypatch):
    """A step of `lattice` that ends with the first byte that differs."""
    elaborate = Datapath.elaborate

    def hasty(self, platform):
        m = elaborate(self, platform)
        with m.If(self.differs & self.busy):
            m.d.comb += self.done.eq(1)
        return m

    monkeypatch.setattr(Datapath, "elaborate", hasty)
    proof = prove_calls(choose_calls("lattice", {"sets": "ml-kem-512"}).design)
    assert not proof.holds
    assert "a.arithmetic.datapath.streams.differs" in proof.way
