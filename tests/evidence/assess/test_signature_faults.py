"""Wrong signatures of ML-DSA: which are as good as the right one, and which reveal the key."""

import pytest
from coprime_evidence.assess.call_subject import CallAnswer, CallSubject
from coprime_evidence.assess.subject import Outcome

from coprime.catalog import choose_calls
from coprime.engine.capabilities import Error
from coprime.model.lattice import arithmetic
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice import ml_dsa_masks as masks
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

pytestmark = pytest.mark.fuzz

SET = "ML-DSA-44"
P = ML_DSA_SETS[0]
CHOICE = choose_calls("lattice", {"schemes": "ml-dsa", "sets": "ml-dsa-44"})


@pytest.fixture(scope="module")
def subject():
    return CallSubject(CHOICE, "ML_DSA_SIGN", SET, 1)


def verdict(subject, signature):
    before = subject.call.reference(SET, subject._before)
    found = subject.judge(
        CallAnswer(outputs={"signature": signature}), CallAnswer(outputs=before), list
    )
    return found.outcome, found.reveals


def with_mask(subject, y, challenge):
    """A signature with this mask and c~, which is not valid."""
    c = arithmetic.transform(model.challenge(P, challenge))
    packed = b""
    for mask, s in zip(y, model.unpack_private(P, subject.inputs["sk"]).s1, strict=True):
        product = model.small_product(P, c, arithmetic.transform(s))
        z = [x + y for x, y in zip(mask, product, strict=True)]
        packed += model.pack([(P.gamma1 - x) % (1 << P.z_bits) for x in z], P.z_bits)
    return challenge + packed + bytes(P.omega + P.k)


@pytest.mark.fuzz
def test_another_signature_of_the_message_is_right(subject):
    other = model.sign(P, subject.inputs["sk"], subject.inputs["mu"], bytes(32)).signature
    assert verdict(subject, other) == (Outcome.RIGHT, False)


def test_a_flipped_bit_is_wrong_and_reveals_nothing(subject):
    right = subject.call.reference(SET, subject.inputs)["signature"]
    for place in (40, len(right) - 1):
        wrong = right[:place] + bytes([right[place] ^ 4]) + right[place + 1 :]
        assert verdict(subject, wrong) == (Outcome.WRONG, False)


def test_masks_that_are_used_twice_or_are_zero(subject):
    right = subject.call.reference(SET, subject.inputs)["signature"]
    y = masks.mask_of(P, subject.inputs["sk"], right)
    assert verdict(subject, with_mask(subject, y, bytes(32))) == (Outcome.WRONG, True)
    before = subject._before
    left = subject.call.reference(SET, before)["signature"]
    of_before = masks.mask_of(P, before["sk"], left)
    fresh = [[x // 2 - 5 for x in one] for one in y]
    assert verdict(subject, with_mask(subject, fresh, bytes(32))) == (Outcome.WRONG, True)  # short
    fresh = [[(x * 77 + 1234) % (2 * P.gamma1) - P.gamma1 + 1 for x in one] for one in y]
    assert verdict(subject, with_mask(subject, fresh, bytes(32))) == (Outcome.WRONG, False)
    assert verdict(subject, with_mask(subject, [*fresh[:3], [0] * 256], bytes(32)))[1]
    assert verdict(subject, with_mask(subject, [*fresh[:3], of_before[3]], bytes(32)))[1]


def test_a_wrong_signature_that_is_accepted(subject):
    verifies = CallSubject(CHOICE, "ML_DSA_VERIFY", SET, 1, refused=True)
    assert verifies.expected == CallAnswer(Error.SIGNATURE)
    found = verifies.judge(CallAnswer(), CallAnswer(), list)
    assert (found.outcome, found.reveals) == (Outcome.WRONG, True)
