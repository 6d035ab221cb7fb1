"""The theorem of ML-KEM's transforms and products, and faults of the schedule that it finds."""

import pytest
from coprime_evidence.assess.schedules.lattice_ml_kem import RING, cases, subject
from coprime_evidence.assess.schedules.lattice_steps import Case, Prover
from coprime_evidence.assess.schedules.symbols import ProofError

from coprime.cli import main
from coprime.lattice.arithmetic import datapath
from coprime.lattice.arithmetic.datapath import Datapath
from coprime.lattice.arithmetic.steps import PolynomialStep, Region, StepType
from coprime.lattice.arithmetic.table import TABLE_BITS, table_words
from coprime.model.lattice import arithmetic as model
from coprime.model.lattice.arithmetic import N, Q
from tests.evidence.assess.schedules.forms import values

QUICK = ("EXACT_SUM", "PAIR and MULTIPLY of VECTOR_2, with add")


def case(name):
    (found,) = (one for one in cases() if one.name == name)
    return found


@pytest.fixture(scope="module")
def prover():
    """From the state after a reset alone."""
    return Prover(subject(Datapath()))


def test_the_statements_are_those_of_the_model():
    """The model follows FIPS 203's algorithms, the statements its equations."""
    numbers = [(k * k * 977 + 31 * k) % Q for k in range(2 * N)]
    f, g = numbers[:N], numbers[N:]
    assert values(RING.transform(RING.polynomial(0)), numbers, Q) == [
        x % Q for x in model.transform(f)
    ]
    back = model.inverse(f, after_product=False)
    assert values(RING.inverse(RING.polynomial(0)), numbers, Q) == [x % Q for x in back]
    found = values(RING.product(RING.polynomial(0), RING.polynomial(N)), numbers, Q)
    assert [169 * x % Q for x in found] == [x % Q for x in model.multiply_add(None, f, g)]


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize("name", QUICK)
def test_some_steps(prover, name):
    assert prover.prove(case(name)) == sum(step.cycles for step in case(name).steps)


@pytest.mark.proof
def test_a_wrong_constant_is_refused(prover, monkeypatch):
    """The square of the root of one word."""
    words = table_words()
    words[2 * model.WORDS + 5] = model.constant(model.root(3))
    table = [tuple(word >> k & 1 for k in range(TABLE_BITS)) for word in words]
    monkeypatch.setattr(prover, "tables", {"table_word": table})
    with pytest.raises(ProofError, match="coefficient 10 of ACCUMULATOR is another one"):
        prover.prove(case(QUICK[1]))


@pytest.mark.proof
def test_a_step_that_writes_elsewhere_is_refused(prover):
    wrong = case("EXACT_SUM")
    step = PolynomialStep(StepType.PAIR, Region.VECTOR_1)
    with pytest.raises(ProofError, match=r"word 576 is written over"):
        prover.prove(Case("", [*wrong.steps, step], wrong.words, wrong.expected))


@pytest.mark.proof
def test_a_wrong_slot_is_refused(monkeypatch):
    """The address of sums a cycle early."""
    delayed = datapath.delayed

    def early(m, value, cycles, name, **options):
        found = delayed(m, value, cycles, name, **options)
        return [*found[:-1], found[-2]] if name == "of_sum" else found

    monkeypatch.setattr(datapath, "delayed", early)
    with pytest.raises(ProofError):
        Prover(subject(Datapath())).prove(case("TRANSFORM of EXTRA"))


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_the_whole_theorem(capsys):
    assert main(["assess", "schedule", "lattice"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "proved: lattice computes the transforms, their inverses, products and sums of FIPS 203"
    )
    assert "\n27 cases, " in out


def test_a_design_without_a_theorem_is_refused(capsys):
    assert main(["assess", "schedule", "shake"]) == 2
    assert "no theorem of its schedule; there are: fdfm, compact, ring, karatsuba, lattice" in (
        capsys.readouterr().err
    )
