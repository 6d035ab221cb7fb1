"""The theorems of transforms and products on several lanes, and faults that they find."""

from dataclasses import replace
from itertools import product

import pytest
from coprime_evidence.assess.schedules import lattice_ml_dsa, lattice_ml_kem
from coprime_evidence.assess.schedules.lattice_ml_dsa import every_step
from coprime_evidence.assess.schedules.lattice_stages import check_wiped_slots
from coprime_evidence.assess.schedules.lattice_steps import Prover
from coprime_evidence.assess.schedules.moved_numbers import _logic
from coprime_evidence.assess.schedules.symbols import ProofError

from coprime.cli import main
from coprime.lattice.arithmetic import crossing, parallel_large_datapath, parallel_large_slots
from coprime.lattice.arithmetic.large_steps import LargeKind
from coprime.lattice.arithmetic.parallel_datapath import ParallelDatapath
from coprime.lattice.arithmetic.parallel_large_datapath import ParallelLargeDatapath
from coprime.lattice.programs.ml_dsa import ml_dsa_programs
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

LANES, REGIONS = 8, 9
FOLLOWING = "P = P + S G + S' G', 1 cycles after `follows`"


def case(scheme, name, lanes=LANES):
    (found,) = (one for one in scheme.cases(lanes) if one.name == name)
    return found


def from_reset(scheme, lanes=LANES):
    """A prover whose `rest` is the state after a reset alone."""
    if scheme is lattice_ml_kem:
        return Prover(scheme.subject(ParallelDatapath(lanes)))
    return Prover(scheme.subject(ParallelLargeDatapath(REGIONS, lanes)))


def test_a_row_of_a_table_is_known_where_all_that_it_may_be_are_equal():
    for table in (0b10010110, 0b00010001, 0b11110000):
        for address in product((0, 1, None), repeat=3):
            free = address.count(None)
            places = product(*((bit,) if bit is not None else (0, 1) for bit in address))
            rows = {table >> a + 2 * b + 4 * c & 1 for a, b, c in places}
            operands = [(tuple(table >> k & 1 for k in range(8)), False), (address, False)]
            expected = rows.pop() if len(rows) == 1 and free < 3 else None
            assert _logic("$shr", operands, 8)[0] == expected


@pytest.mark.proof(quick=1)
def test_a_sum_of_few_lanes():
    assert from_reset(lattice_ml_kem, 4).prove(case(lattice_ml_kem, "EXACT_SUM", 4)) == 77


def test_every_step_of_the_programs_with_bytes_is_one_that_may_come_before():
    every = {
        (step.kind, step.width, forms)
        for step in every_step(LANES)
        for forms in [step.fields()["form"]]
        if step.width is not None
    }
    steps = set()
    for verify_only in (False, True):
        program = ml_dsa_programs(tuple(ML_DSA_SETS), verify_only=verify_only, parallel=True)
        for instruction in program.arithmetic.instructions:
            if instruction.code in (LargeKind.UNPACK, LargeKind.PACK):
                steps |= {instruction.step(0, 0, one) for one in ML_DSA_SETS}
    assert steps
    for step in steps:
        bits = tuple(step.form.value >> k & 1 for k in range(3))
        assert any(
            (step.kind, step.width) == (kind, width)
            and all(a in (b, None) for a, b in zip(forms or (None,) * 3, bits, strict=True))
            for kind, width, forms in every
        )


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("scheme", "name", "place", "match"),
    [
        (lattice_ml_dsa, "TRANSFORM of P", 40, "coefficient 152 of P is another one"),
        (lattice_ml_kem, "TRANSFORM of EXTRA", 30, "coefficient 224 of EXTRA is another one"),
    ],
    ids=["ml-dsa", "ml-kem"],
)
def test_a_wrong_constant_of_one_lane_is_refused(scheme, name, place, match):
    """In a layer whose words cross."""
    prover = from_reset(scheme)
    table = list(prover.tables["table_words__5"])
    first, *others = table[place]
    table[place] = (1 - first, *others)
    prover.tables["table_words__5"] = table
    with pytest.raises(ProofError, match=match):
        prover.prove(case(scheme, name))


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("scheme", "name"),
    [(lattice_ml_dsa, "INVERSE and LAST of P"), (lattice_ml_kem, "INVERSE and LAST of EXTRA")],
    ids=["ml-dsa", "ml-kem"],
)
def test_a_wrong_distance_is_refused(monkeypatch, scheme, name):
    """Of what one lane takes from others."""
    taken = crossing.taken

    def further(first, second, lane, distance):
        return taken(first, second, lane, distance + 1 if lane == 3 else distance)

    monkeypatch.setattr(crossing, "taken", further)
    with pytest.raises(ProofError, match="is another one"):
        from_reset(scheme).prove(case(scheme, name))


@pytest.mark.matrix
def test_a_wrong_slot_is_refused(monkeypatch):
    """Sums of a layer that wait from a cycle too early on."""
    monkeypatch.setattr(parallel_large_datapath, "_KEEPS", parallel_large_datapath._KEEPS - 1)
    with pytest.raises(ProofError):
        from_reset(lattice_ml_dsa).prove(case(lattice_ml_dsa, "TRANSFORM of P"))


@pytest.mark.matrix
def test_a_product_that_follows_too_early_is_refused(monkeypatch):
    """While the last sample of the product before is still to be read."""
    right = case(lattice_ml_dsa, FOLLOWING)
    early = replace(right, following=replace(right.following, start=0))
    from_reset(lattice_ml_dsa).prove(right)
    for module in (parallel_large_slots, lattice_ml_dsa):
        monkeypatch.setattr(module, "FOLLOWS", module.FOLLOWS - 1)
    with pytest.raises(ProofError, match="of P may be anything"):
        from_reset(lattice_ml_dsa).prove(early)


@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("scheme", ["ml-dsa", "ml-kem"])
def test_the_whole_theorem_of_lanes(capsys, scheme):
    design = ["-p", f"schemes={scheme}", "-p", f"dsp={LANES}", "-p", "slices=32"]
    assert main(["assess", "schedule", "lattice", *design]) == 0
    cases = {"ml-dsa": 67, "ml-kem": 27}
    assert f"\n{cases[scheme]} cases, " in capsys.readouterr().out
    if scheme == "ml-dsa":
        with pytest.raises(ProofError, match="a step goes on after a wipe"):
            check_wiped_slots(REGIONS, LANES)
