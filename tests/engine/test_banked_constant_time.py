"""No secret changes how long compact and ring work: proved for engines of 64 bits, and run.

What is proved, and how: `coprime_evidence.assess.sequencer_proof`.
"""

import math
import random
from dataclasses import dataclass, replace

import pytest
from coprime_evidence.assess import sequencer_proof
from coprime_evidence.assess.sequencer_proof import (
    SAME_INPUTS,
    SAME_INPUTS_OF_CURVES,
    SECRET_INPUTS,
)

from coprime.catalog import choose
from coprime.engine.contract import Length, Operand
from coprime.engine.curve_settings import KINDS
from coprime.rsa.keys import generate
from tests.benches import open_bench

pytestmark = pytest.mark.xdist_group("banked constant time")


def chosen(family, **settings):
    return choose(family, {"max_bits": 64, **settings})


def sequencers_agree(family, lane=0, **settings):
    return sequencer_proof.sequencers_agree(chosen(family, **settings), lane)


def leaks(family, secret_inputs, **settings):
    return sequencer_proof.ways_past(chosen(family, **settings), secret_inputs)


# --- The sequencer ------------------------------------------------------------------------------


@pytest.mark.proof
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_sequencer(family):
    assert sequencers_agree(family)


@pytest.mark.proof
def test_sequencer_with_a_ladder():
    """Of X_MULTIPLY. (Programs for other curves are in block RAM, and too long for the solver.)"""
    assert sequencers_agree("compact", curves="montgomery")


@pytest.mark.proof
@pytest.mark.parametrize("lane", [0, 1])
def test_sequencers_of_two_lanes(lane):
    assert sequencers_agree("ring", lane, multipliers="2")


@pytest.mark.proof
def test_blinded_sequencer():
    """When random bytes come is public, and what they are is not."""
    assert sequencers_agree("compact", blinding="all", max_bits="128")


@pytest.mark.proof
def test_the_proof_can_fail():
    """A binary exponentiation multiplies where the exponent's bit is 1."""
    assert not sequencers_agree("fdfm")


# --- What leads to the sequencer ----------------------------------------------------------------


@pytest.mark.matrix
@pytest.mark.parametrize(
    "settings",
    [{}, {"blinding": "all", "max_bits": "128"}],
)
def test_no_way_past_the_sequencer(settings):
    assert leaks("compact", SECRET_INPUTS | SAME_INPUTS, **settings) == {}


@pytest.mark.proof
@pytest.mark.parametrize(
    "curves",
    [
        "all",
        *(pytest.param(one, marks=pytest.mark.proof) for one in KINDS),
    ],
)
def test_no_way_past_the_sequencer_with_curves(curves):
    settings = {"curves": curves, "max_bits": "128"}
    assert leaks("compact", SECRET_INPUTS | SAME_INPUTS_OF_CURVES, **settings) == {}


@pytest.mark.proof
@pytest.mark.parametrize("profile", ["drawn", "hardened"])
def test_no_way_past_the_sequencer_with_random_scalars(profile):
    """What is written for a drawn bit, and what is not, changes data alone."""
    settings = {"curves": "weierstrass", "max_bits": "128", "ecdsa": profile}
    assert leaks("compact", SECRET_INPUTS | SAME_INPUTS_OF_CURVES, **settings) == {}


@pytest.mark.proof
@pytest.mark.parametrize(
    "settings",
    [
        {"tile": "one17", "tiles": "2"},
        *(
            pytest.param(one, marks=pytest.mark.proof)
            for one in ({"tile": "one17"}, {}, {"multipliers": "2"})
        ),
    ],
)
def test_no_way_past_the_sequencer_of_ring(settings):
    assert leaks("ring", SECRET_INPUTS | SAME_INPUTS, **settings) == {}


def test_the_search_can_fail():
    """It finds all of the ways that there are."""
    found = leaks("compact", set())
    ways = (SECRET_INPUTS | SAME_INPUTS) - {"z_is_normalized"}
    assert {*found} == {f"sequencer's {name}" for name in ways}
    assert all("memory" in come for come in found.values())


# --- Keys at the edge ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """A private key whose exponents are chosen; E is whatever belongs to them."""

    p: int
    q: int
    dp: int
    dq: int

    @property
    def n(self):
        return self.p * self.q

    @property
    def e(self):
        """Inverse of both exponents; any number where these are 0."""
        if not self.dp:
            return 3
        below_p, below_q = (self.p - 1) // 2, self.q - 1
        e_p, e_q = pow(self.dp, -1, below_p), pow(self.dq, -1, below_q)
        return e_q + below_q * ((e_p - e_q) * pow(below_q, -1, below_p) % below_p)

    @property
    def d(self):
        return pow(self.e, -1, math.lcm(self.p - 1, self.q - 1)) if self.dp else 0

    def private(self, x):
        coefficient = pow(self.q, -1, self.p)
        of_p, of_q = pow(x, self.dp, self.p), pow(x, self.dq, self.q)
        return of_q + self.q * ((of_p - of_q) * coefficient % self.p)


EXPONENTS = {
    "all ones": [(1 << bits) - 1 for bits in range(64, 50, -1)],
    "one 0": [(1 << 64) - 1 - (1 << bit) for bit in range(1, 63)],
    "two ones": [(1 << bit) + 1 for bit in range(63, 40, -1)],
    "short": [(1 << bit) + 1 for bit in range(1, 20)],
    "random": [random.Random(k).getrandbits(64) | 1 for k in range(50)],
    "one": [1],
    "zero": [0],
}
"""Of each kind, the first ones that have an inverse modulo p - 1 and q - 1 are taken."""


def primes():
    """Pairs whose product has 128 bits: the longest ones, and some more."""
    yield (1 << 64) - 59, (1 << 64) - 83
    for seed in range(20):
        key = generate(128, seed=seed)
        yield key.p, key.q


def key_of(kind, p, q):
    def first(prime):
        wanted = [d for d in EXPONENTS[kind] if kind == "zero" or math.gcd(d, prime - 1) == 1]
        return next(iter(wanted), None)

    return Numbers(p, q, first(p), first(q))


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("compact", max_bits=384)
    yield bench
    bench.device.close()


@pytest.mark.proof
def test_private_operations_of_a_size(bench):
    """Whatever the exponents, the primes and the message, an operation takes the same cycles.

    But for those that tell the public exponent: a product for each bit from its highest 1 on, one
    more for each 1, and two cycles less for each digit that is reached below that 1, as the next
    step is fetched meanwhile, in the check modulo either prime.
    """
    capabilities = bench.design.capabilities
    digits = capabilities.digits(64)
    product = 1 + bench.design.multiplication.cycles(digits, digits)
    # Those for which there is an E for any two exponents.
    pairs = [(p, q) for p, q in primes() if math.gcd((p - 1) // 2, q - 1) == 1][:4]
    assert len(pairs) == 4
    accelerator = bench.accelerator
    cycles = {}
    for kind in EXPONENTS:
        for p, q in pairs:
            key = key_of(kind, p, q)
            assert (key.n.bit_length(), key.p.bit_length(), key.q.bit_length()) == (128, 64, 64)
            job = accelerator.private_job(key)
            if Operand.E in job.operands:  # public, and its length may show
                job = replace(job, lengths={**job.lengths, Length.EXPONENT: 128})
            # With exponents of 0 there is no E but for X = 1.
            other = random.Random(p).randrange(key.n)
            for x in (1,) if kind == "zero" else (0, 1, key.n - 1, key.p, other):
                run = accelerator._run(job, x)
                assert run.value == key.private(x)
                if key.dp:
                    assert pow(run.value, key.e, key.n) == x
                bits = key.e.bit_length()
                checks = (bits + key.e.bit_count()) * product
                checks -= 2 * ((bits - 1) // capabilities.digit_width)
                cycles[kind, p, x] = run.cycles - 2 * checks
    assert len(cycles) == 4 * (6 * 5 + 1)
    assert len(set(cycles.values())) == 1
