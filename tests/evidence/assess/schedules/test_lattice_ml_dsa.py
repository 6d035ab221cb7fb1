"""The theorem of ML-DSA's transforms and products, and faults of the schedule that it finds."""

import pytest
from coprime_evidence.assess.schedules.lattice_ml_dsa import (
    RESULT,
    RING,
    AnyStep,
    P,
    cases,
    subject,
)
from coprime_evidence.assess.schedules.lattice_stages import (
    BATCHES,
    check_shared_part,
    check_wiped_slots,
)
from coprime_evidence.assess.schedules.lattice_steps import Case, Prover
from coprime_evidence.assess.schedules.symbols import ProofError

from coprime.cli import main
from coprime.lattice.arithmetic import large_datapath, large_reduction, shared_part
from coprime.lattice.arithmetic.large_datapath import LargeDatapath
from coprime.lattice.arithmetic.large_steps import LargeKind, Part, large_table
from coprime.lattice.programs.ml_dsa import ml_dsa_programs
from coprime.model.lattice import large_arithmetic as model
from coprime.model.lattice.large_arithmetic import NUMBER_BITS, K, N
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q
from tests.evidence.assess.schedules.forms import values

REGIONS = 9
"""As few as an engine may have."""
PRODUCT = "P = P - S G"


def case(name):
    (found,) = (one for one in cases() if one.name == name)
    return found


def from_reset(**options):
    """A prover whose `rest` is the state after a reset alone."""
    return Prover(subject(LargeDatapath(REGIONS, **options)))


@pytest.fixture(scope="module")
def prover():
    return from_reset()


def test_the_statements_are_those_of_the_model():
    """The model follows FIPS 204's algorithms, the statements its equations."""
    numbers = [(k * k * 977 + 31_415 * k) % Q for k in range(2 * N)]
    f, g = numbers[:N], numbers[N:]
    assert values(RING.transform(RING.polynomial(0)), numbers, Q) == [
        x % Q for x in model.transform(f)
    ]
    back = values(RING.inverse(RING.polynomial(0)), numbers, Q)
    assert [x * pow(K, -2, Q) % Q for x in back] == [x % Q for x in model.inverse(f)]
    found = values(RING.product(RING.polynomial(0), RING.polynomial(N)), numbers, Q)
    assert [K * K * x % Q for x in found] == [x % Q for x in model.multiply_add(None, f, g)]


def regions_of(step):
    """Which of its regions are the same: those that its kind reads, and the result's."""
    uses_other = step.kind is LargeKind.MULTIPLY or (step.kind is LargeKind.SUM and not step.sample)
    other = step.other if uses_other else None
    return step.result == step.region, step.region == other, step.result == other


def options_of(step):
    """Those that change what a kind computes, but for `add` where only a checksum counts."""
    kind = step.kind
    multiplies, adds = kind is LargeKind.MULTIPLY, kind is LargeKind.SUM
    return (
        kind,
        step.sample,
        step.add and multiplies,
        step.subtract and (multiplies or adds),
        step.part if adds else Part.WHOLE,
    )


def proved_steps():
    """What cases have proved, in the same words."""
    for one in cases():
        for step in one.steps:
            options = (
                step.kind,
                bool(step.sample),
                bool(step.add),
                bool(step.subtract),
                step.part or Part.WHOLE,
            )
            yield options, (step.into is step.region, False, step.into is step.other)


def test_every_step_of_the_programs_without_bytes_is_a_case():
    proved = set(proved_steps())
    with_bytes = (LargeKind.UNPACK, LargeKind.PACK, LargeKind.HINT)
    missing = set()
    for sets in (ML_DSA_SETS, *((one,) for one in ML_DSA_SETS)):
        for verify_only in (False, True):
            program = ml_dsa_programs(tuple(sets), verify_only=verify_only).arithmetic
            for instruction in program.instructions:
                if not isinstance(instruction.code, LargeKind) or instruction.code in with_bytes:
                    continue
                for one in sets:
                    for row in range(one.k):
                        for column in range(one.columns):
                            step = instruction.step(row, column, one)
                            found = options_of(step), regions_of(step)
                            if found not in proved:
                                missing.add(found)
    assert not missing


def test_some_parts_of_shared_numbers_and_a_wrong_one(monkeypatch):
    """Low parts of the least numbers, which are above -q by a small one; another q is found."""
    some = BATCHES[24:25]
    check_shared_part(some)
    monkeypatch.setattr(shared_part, "Q", Q - 1)
    with pytest.raises(ProofError, match="SharedPart: LOW is wrong"):
        check_shared_part(some)


@pytest.mark.proof
def test_parts_of_every_shared_number():
    check_shared_part()


@pytest.mark.proof
def test_a_wipe_ends_after_the_step_that_it_has_met():
    """But not one of a memory with one polynomial less than any has."""
    check_wiped_slots(REGIONS)
    with pytest.raises(ProofError, match="a step goes on after a wipe"):
        check_wiped_slots(REGIONS - 1)


@pytest.mark.proof
def test_a_wrong_constant_is_refused(prover, monkeypatch):
    """Of a sum of differences, in the inverse's last layer."""
    words = large_table().words
    words[2 * model.N - 2] += 1
    table = [tuple(word >> k & 1 for k in range(NUMBER_BITS)) for word in words]
    monkeypatch.setattr(prover, "tables", {"table_word": table})
    with pytest.raises(ProofError, match="coefficient 128 of P is another one"):
        prover.prove(case("INVERSE and LAST of P"))


@pytest.mark.proof
def test_a_step_that_writes_elsewhere_is_refused(prover):
    right = case(PRODUCT)
    step = AnyStep(LargeKind.SUM, P, None, RESULT, True, subtract=False, part=Part.WHOLE)
    with pytest.raises(ProofError, match="word 0 is written over"):
        prover.prove(Case("", [*right.steps, step], right.words, right.expected, right.sample))


@pytest.mark.proof
def test_a_region_that_is_not_known_to_be_another_one_is_refused(prover):
    right = case(PRODUCT)
    step = AnyStep(LargeKind.SUM, P, None, None, True, subtract=False, part=Part.WHOLE)
    with pytest.raises(ProofError, match="coefficient 0 of P may be anything"):
        prover.prove(Case("", [*right.steps, step], right.words, right.expected, right.sample))


@pytest.mark.proof
@pytest.mark.parametrize("name", ["P = P + G", PRODUCT])
def test_a_wrong_slot_is_refused(monkeypatch, name):
    """A butterfly that begins a cycle late, and takes what has entered for the next one."""
    monkeypatch.setattr(large_datapath, "_ENTERS", large_datapath._ENTERS + 1)
    late = from_reset()
    with pytest.raises(ProofError):
        late.prove(case(name))


@pytest.mark.proof
def test_a_reduction_without_a_sign_is_refused(monkeypatch):
    """A bit of a product that is left out: the sign of its low part."""
    step = large_reduction._step

    def without_carry(m, t, bits, name, target):
        return step(m, t & ~(1 << large_reduction.M - 1), bits, name, target)

    monkeypatch.setattr(large_reduction, "_step", without_carry)
    with pytest.raises(ProofError, match="coefficient 0 of P"):
        from_reset().prove(case(PRODUCT))


@pytest.mark.proof
def test_a_slice_that_is_shared(monkeypatch):
    """Whatever its other user does."""
    assert from_reset(shares_slice=True).prove(case(PRODUCT)) == 526


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_the_whole_theorem(capsys):
    assert main(["assess", "schedule", "lattice", "-p", "schemes=ml-dsa"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("proved: lattice computes the transforms, their inverses, products")
    assert "\n39 cases, " in out
