"""Traces of operations on curves: what is drawn for each test, and what is recorded."""

import pytest
from coprime_evidence.assess.leakage import run_leakage
from coprime_evidence.assess.number_subject import NumberSubject
from coprime_evidence.assess.number_traces import LeakageTest, NumberTraces
from coprime_evidence.assess.traces import Acquisition

from coprime.catalog import choose, settings_for
from coprime.engine.contract import Command

pytestmark = pytest.mark.xdist_group("leakage")


def source(command, test, **settings):
    own = settings_for("compact", {"max_bits": "64", **settings}, command)
    return NumberTraces(NumberSubject(choose("compact", own), command, 64, seed=1), test)


SIGN = {"d", "x", "y"}
CASES = [
    (Command.EC_MULTIPLY, LeakageTest.KEY, {"x", "y"}, {"k"}),
    (Command.EC_MULTIPLY, LeakageTest.EXPONENT, {"x", "y"}, {"k"}),
    (Command.EC_MULTIPLY, LeakageTest.MESSAGE, set(), {"x", "y"}),
    (Command.EC_BASE_MULTIPLY, LeakageTest.KEY, set(), {"k"}),
    (Command.ECDSA_SIGN, LeakageTest.KEY, {"z"}, SIGN),
    (Command.ECDSA_SIGN, LeakageTest.MESSAGE, set(), {"z"}),
    (Command.ECDSA_SIGN_WITH, LeakageTest.KEY, {"z", "k"}, SIGN),
    (Command.ECDSA_SIGN_WITH, LeakageTest.NONCE, {"z"}, {"k"}),
    (Command.ECDSA_SIGN_WITH, LeakageTest.NOTHING, {"z", "k"}, set()),
    (Command.ED_FINISH, LeakageTest.KEY, {"h", "r"}, {"a"}),
    (Command.ED_FINISH, LeakageTest.NONCE, {"h"}, {"r"}),
    (Command.X_MULTIPLY, LeakageTest.KEY, {"x"}, {"e"}),
    (Command.X_MULTIPLY, LeakageTest.MESSAGE, set(), {"x"}),
]


@pytest.mark.matrix(quick=4)
@pytest.mark.parametrize(("command", "test", "in_both", "tested"), CASES)
def test_what_varies_in_each_group(command, test, in_both, tested):
    own = source(command, test)
    own.check()
    groups = {True: [], False: []}
    for number in range(40):
        one = own.draw(number)
        groups[one.fixed].append(one.values)
    for fixed, drawn in groups.items():
        assert len(drawn) > 10
        varying = {name for name in drawn[0] if len({one[name] for one in drawn}) > 1}
        expected = in_both if fixed else in_both | tested
        assert varying == expected & drawn[0].keys()


@pytest.mark.parametrize(
    ("command", "test", "others"),
    [
        (Command.ECDSA_SIGN, LeakageTest.NONCE, "message, key or nothing"),
        (Command.ECDSA_SIGN_WITH, LeakageTest.EXPONENT, "message, key, nonce or nothing"),
        (Command.EC_BASE_MULTIPLY, LeakageTest.MESSAGE, "key, exponent or nothing"),
        (Command.RSA_PRIVATE, LeakageTest.NONCE, "message, key, exponent or nothing"),
    ],
)
def test_what_an_operation_does_not_have_is_refused(command, test, others):
    with pytest.raises(ValueError, match=f"is given no {test.value}: choose --test {others}"):
        source(command, test).check()


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("command", "test", "settings"),
    [
        (Command.EC_MULTIPLY, LeakageTest.KEY, {"ecdsa": "drawn"}),
        (Command.ECDSA_SIGN, LeakageTest.KEY, {}),
        (Command.ECDSA_SIGN_WITH, LeakageTest.NONCE, {}),
        (Command.X_MULTIPLY, LeakageTest.EXPONENT, {}),
    ],
)
def test_traces_of_curves_align_and_their_secrets_are_seen_in_single_steps(command, test, settings):
    """Whoever records them refuses traces of other lengths, and a control finds nothing."""
    own = Acquisition(source(command, test, **settings))
    found = run_leakage(own, 60, orders=(1,), workers=1)
    assert found.cycles > 50_000
    assert found.profiles[0].findings[0].t > found.profiles[0].threshold
    control = Acquisition(source(command, LeakageTest.NOTHING, **settings))
    quiet = run_leakage(control, 300, orders=(1,), workers=1).profiles[0]
    assert quiet.above(quiet.threshold) <= 2
