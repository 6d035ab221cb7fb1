"""Faults in calls of engines of byte strings: what is wrong, and what reveals a secret."""

import hashlib
import pickle
import random
from dataclasses import replace

import pytest
from coprime_evidence.assess.call_subject import CallAnswer, CallSubject
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.fault_kinds import FaultKind
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.subject import Outcome

from coprime.bus import registers
from coprime.calls.interface import InputRefusal
from coprime.catalog import choose_calls
from coprime.engine.capabilities import Error
from tests.calls.vault import INTERFACE, KEY, VAULT, VaultDesign, hide

pytestmark = pytest.mark.fuzz

SET = "large-12"
INERT = "front_end.status.products"
"""The count of products, on which no result depends."""


def vault(operation, seed=1, **settings):
    return CallSubject(VAULT, operation, SET, seed, **settings)


def flip(cycle, name, word=0, bit=0):
    return Fault(kind=FaultKind.BIT, cycle=cycle, name=name, word=word, bit=bit)


@pytest.fixture(scope="module")
def hiding():
    with Campaign(vault("HIDE")) as campaign:
        yield campaign


def drawn(campaign, kind=FaultKind.BIT, count=400):
    faults = [campaign.targets.draw(kind, number, 1) for number in range(count)]
    return [campaign.run(fault) for fault in faults]


def test_outcomes(hiding):
    """Nothing of this engine is checked, so a fault can have every outcome."""
    runs = drawn(hiding)
    assert {run.outcome for run in runs} == set(Outcome)
    right = hiding.subject.expected.outputs["copy"]
    for run in runs:
        assert (run.value is not None) == (run.outcome is Outcome.WRONG)
        if run.value is not None:
            assert run.value.leaks or run.value.outputs != {"copy": right}
    assert any(run.error is not Error.NONE for run in runs if run.outcome is Outcome.ERROR)


def test_a_bit_without_effect(hiding):
    for cycle in (0, hiding.cycles // 2, hiding.cycles - 1):
        assert hiding.run(flip(cycle, INERT)).outcome is Outcome.RIGHT


def test_wrong_outputs_are_those_of_the_flipped_bit(hiding):
    """A bit of the text that flips before it is used is one of the copy."""
    right = int.from_bytes(hiding.subject.expected.outputs["copy"], "little")
    found = set()
    for run in drawn(hiding, count=1200):
        if run.outcome is Outcome.WRONG and run.fault.name.startswith("engine."):
            difference = int.from_bytes(run.value.outputs["copy"], "little") ^ right
            if difference & difference - 1 == 0:
                found.add(run.fault.bit)
    assert len(found) > 20


def test_secrets_that_cannot_be_read_are_asked_for(hiding):
    """After the call, of every slot that is secret and cannot be read."""
    hidden = {one.number for one in INTERFACE.slots if one.secret and not one.readable}
    assert len(hidden) == 2
    writes = [one.call for one in hiding._accesses if one.call[0] == "write32"]
    start = max(k for k, call in enumerate(writes) if call[1] == hiding.subject.start)
    selected = [call[2] for call in writes[start:] if call[1] == registers.SLOT.address]
    assert set(selected) - {INTERFACE.slot["copy"].number} == hidden


class Leaky:
    """A device that gives a secret's words where the front end would hold them back."""

    def __init__(self, device, secret):
        self.device, self.secret, self.slot = device, secret, None

    def __getattr__(self, name):
        return getattr(self.device, name)

    def write32(self, address, value):
        if address == registers.SLOT.address:
            self.slot = value
        self.device.write32(address, value)

    def read_block(self, address, count):
        words = self.device.read_block(address, count)
        if self.slot != KEY.number:
            return words
        data = self.secret.ljust(4 * count, b"\0")
        return [int.from_bytes(data[4 * k : 4 * k + 4], "little") for k in range(count)]


@pytest.mark.parametrize("operation", ["HIDE", "CHECK"])
def test_a_secret_that_leaves(operation):
    """With or without an error, it is a wrong result that reveals something."""
    for seed in (1, 2, 3):
        subject = vault(operation, seed)
        secret = subject.inputs.get("key") or b"a secret key"
        with subject.open() as device:
            client, before = subject.prepare(device)
            assert subject.operate(client) == subject.expected
            assert not before.leaks
            leaky, _ = subject.prepare(Leaky(device, secret))
            answer = subject.operate(leaky)
        assert answer.leaks == ("key" in subject.inputs)
        if answer.leaks:
            assert subject.judge(answer, before, list).reveals


def test_outputs_with_parts_of_a_secret():
    """Eight bytes in a row, at any place; neither seven, nor what is public."""
    subject = vault("HIDE")
    key, text = subject.inputs["key"], subject.inputs["text"]
    right = subject.expected.outputs["copy"]
    for copy, reveals in (
        (key, True),
        (b"????" + key[4:], True),
        (key[1:9] + b"???" + b"?", True),
        (key[:7] + b"?????", False),
        (text, False),
        (right[:11] + b"?", False),
        (bytes(12), False),
    ):
        verdict = subject.judge(CallAnswer(outputs={"copy": copy}), CallAnswer(), list)
        assert (verdict.outcome, verdict.reveals) == (Outcome.WRONG, reveals)
        assert not verdict.refused


def test_secrets_of_the_call_before():
    subject = vault("HIDE")
    key = subject._before["key"]
    assert key != subject.inputs["key"]
    assert subject.judge(CallAnswer(outputs={"copy": key}), CallAnswer(), list).reveals


def test_refused_inputs(monkeypatch):
    """Their outputs as if they were accepted reveal something; those of a refusal do not."""
    refusal = InputRefusal(
        draw=lambda name, random: {"key": b"not this key", "text": random.randbytes(12)},
        refused=lambda name, values: {"copy": b"a refusal..."},
        accepted=hide,
    )

    def changed(call):
        return replace(call, refusal=refusal) if call.name == "HIDE" else call

    interface = replace(INTERFACE, calls=tuple(map(changed, INTERFACE.calls)))
    monkeypatch.setattr(VaultDesign, "interface", interface)
    genuine, altered = vault("HIDE"), vault("HIDE", refused=True)
    assert altered.inputs["key"] == b"not this key" != genuine.inputs["key"]
    assert altered.command_line == (
        "coprime assess faults vault --operation HIDE --set large-12 --refused --seed 1"
    )
    refused = CallAnswer(outputs={"copy": b"a refusal..."})
    for subject in (genuine, altered):
        accepted = CallAnswer(outputs=hide(SET, subject.inputs))
        is_altered = subject is altered
        assert subject.judge(accepted, CallAnswer(), list).reveals == is_altered
        assert subject.judge(refused, CallAnswer(), list).refused != is_altered
        assert not subject.judge(refused, CallAnswer(), list).reveals
    with pytest.raises(ValueError, match="CHECK refuses no inputs that can be drawn"):
        vault("CHECK", refused=True)


def test_errors_that_are_right():
    """A call that refuses its inputs with an error is wrong without it; and an error that it would
    not have without a fault is one of the fault."""
    odd = next(seed for seed in range(9) if vault("CHECK", seed).inputs["tag"][0] & 1)
    even = next(seed for seed in range(9) if not vault("CHECK", seed).inputs["tag"][0] & 1)
    for seed, outcome, error in (
        (odd, Outcome.WRONG, Error.NONE),
        (even, Outcome.ERROR, Error.SIGNATURE),
    ):
        with Campaign(vault("CHECK", seed)) as campaign:
            assert campaign.subject.expected.error is (
                Error.SIGNATURE if seed == odd else Error.NONE
            )
            words = [one.name for one in campaign.targets.registers.values() if one.width == 32]
            runs = [campaign.run(flip(2, name)) for name in words if name.startswith("engine.")]
        changed = [run for run in runs if run.outcome is not Outcome.RIGHT]
        assert [(run.outcome, run.error) for run in changed] == [(outcome, error)]  # of the tag


def test_other_kinds_of_faults(hiding):
    """The vault has no program, of which a step could be skipped."""
    kinds = hiding.subject.kinds
    assert set(FaultKind) - set(kinds) == {FaultKind.SKIP}
    for kind in kinds:
        outcomes = {run.outcome for run in drawn(hiding, kind, 200)}
        assert Outcome.RIGHT in outcomes
        assert len(outcomes) > 1


def test_texts_show_no_secrets():
    subject = vault("HIDE")
    shown = subject.text(CallAnswer(outputs={"copy": b"hidden text."}))
    assert shown == f"copy={b'hidden text.'.hex()}"
    assert subject.text(CallAnswer(outputs={"key": b"a secret"})) == "key=8 bytes"
    assert subject.text(CallAnswer(Error.SIGNATURE)) == "SIGNATURE"


@pytest.mark.parametrize(
    ("operation", "parameter_set", "error"),
    [
        ("HYDE", SET, "vault has no call 'HYDE'"),
        ("HIDE", "large", "vault has the parameter sets small-8, large-12, not 'large'"),
    ],
)
def test_calls_that_cannot_be(operation, parameter_set, error):
    with pytest.raises(ValueError, match=error):
        CallSubject(VAULT, operation, parameter_set, 1)


# --- shake ----------------------------------------------------------------------------------------

HASHING = CallSubject(choose_calls("shake", {"slices": "8"}), "SHA3_256", "", 1)


@pytest.fixture(scope="module")
def hashing():
    with Campaign(HASHING) as campaign:
        yield campaign


def test_a_wrong_digest_is_that_of_another_message(hashing):
    """A bit that flips in the block, before it is absorbed, is one of the message."""
    message = HASHING.inputs["message"]
    flipped = set()
    for bit in range(8 * len(message)):
        other = int.from_bytes(message, "little") ^ 1 << bit
        flipped.add(hashlib.sha3_256(other.to_bytes(len(message), "little")).digest())
    name = next(name for name in hashing.targets.registers if name.endswith("block.memory"))
    register = hashing.targets.registers[name]
    generator = random.Random(1)
    digests = []
    for _ in range(150):
        fault = flip(
            generator.randrange(hashing.cycles),
            name,
            generator.randrange(register.words),
            generator.randrange(register.width),
        )
        run = hashing.run(fault)
        assert run.outcome in (Outcome.RIGHT, Outcome.WRONG)
        if run.outcome is Outcome.WRONG:
            digests.append(run.value.outputs["output"])
    assert any(digest in flipped for digest in digests)


def test_subjects_are_sent_to_workers(hashing):
    """As they are told apart there: by what is run."""
    again = pickle.loads(pickle.dumps(hashing.subject))
    assert again == hashing.subject != replace(again, seed=2)
    assert again.expected == hashing.subject.expected
