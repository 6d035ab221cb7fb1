"""Faults in a cluster: the value of a core's completion, while another core works too."""

import pytest
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import ClusterSubject
from coprime_evidence.assess.subject import Outcome

from coprime.catalog import choose
from coprime.engine.contract import Command, Error

pytestmark = pytest.mark.fuzz  # a simulator of its own

SETTINGS = {"engine": "compression", "modulus": "251", "cores": "2"}


@pytest.fixture(scope="module")
def cluster():
    subject = ClusterSubject(choose("cluster", SETTINGS), Command.MODEXP, 8, seed=1)
    with Campaign(subject) as campaign:
        yield campaign


def test_all_parts_are_there(cluster):
    names = cluster.device.registers
    for part in ("front_end.", "node_0.", "node_1."):
        assert any(name.startswith(part) for name in names)
    first = cluster._accesses[-1].end - cluster.cycles
    calls = [one.call[:2] for one in cluster._accesses if one.begin >= first]
    assert calls[0] == ("write32", cluster.subject.start)


def test_outcomes(cluster):
    """Nothing of this engine is checked; a fault in the other core does no harm."""
    numbers = range(400)
    runs = [cluster.run(cluster.targets.draw(FaultKind.BIT, number, 1)) for number in numbers]
    assert {run.outcome for run in runs} == set(Outcome)
    other = [run.outcome for run in runs if run.fault.name.startswith("node_0.engine")]
    assert set(other) == {Outcome.RIGHT}


def test_no_program_to_skip_steps_of(cluster):
    assert FaultKind.SKIP not in cluster.subject.kinds
    hold = Fault(kind=FaultKind.HOLD, cycle=5, name="node_1")
    cluster.targets.check(hold)
    assert cluster.run(hold).outcome in set(Outcome)


def test_two_bits_of_the_counts_of_digits():
    """Which the check of the result uses, too: without check bits this one gave a wrong result."""
    choice = choose("cluster", {"engine": "compact", "cores": "2", "max_bits": "64"})
    fault = Fault.parse("two-bits,2367,node_1.settings.counts,0,7,10")
    with Campaign(ClusterSubject(choice, Command.RSA_PRIVATE, 64, seed=963)) as campaign:
        run = campaign.run(fault)
        assert run.outcome is Outcome.ERROR
        assert run.error is Error.FAULT
