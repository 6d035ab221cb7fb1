"""Schedules are their recurrences for all operands; with one wrong slot they are not."""

import pytest

from coprime.assess.schedules import THEOREMS, netlist
from coprime.assess.schedules.symbols import ProofError
from coprime.assess.schedules.theorem import prove
from coprime.catalog import choose

SETTINGS = {
    "fdfm": {"max_bits": "1528"},
    "compact": {"max_bits": "1511"},
}
LONG = [*range(2, 65), 90]


def design_of(family):
    return choose(family, SETTINGS[family]).design


def lengths_of(family):
    return THEOREMS[family].lengths(design_of(family))


def theorem_of(family):
    return THEOREMS[family](design_of(family))


@pytest.mark.parametrize("family", SETTINGS)
def test_few_digits(family):
    digits = lengths_of(family)[:3]
    proof = prove(theorem_of(family), digits)
    assert proof.cases >= 3 * len(digits)
    assert 0 < proof.free < proof.registers


@pytest.mark.slow
@pytest.mark.parametrize("family", SETTINGS)
def test_many_digits(family):
    prove(theorem_of(family), [one for one in LONG if one in lengths_of(family)])


EDITS = {
    "fdfm": {
        "M_j read a step early": (
            "assign a_index = y ? i : j;",
            "assign a_index = y ? i : j - (m_j && j == 3 && i == 2);",
        ),
        "Y_i and Y_(i-1) exchanged": (
            "assign a_index = y ? i : j;",
            "assign a_index = y ? i ^ (i[7:1] == 1) : j;",
        ),
        "a product left out": (
            "assign product = !flush_3;",
            "assign product = !flush_3 && !(m_j_3 && j_3 == 4);",
        ),
        "a product added twice": (
            "assign product = !flush_3;",
            "assign product = 1'h1;",
        ),
        "S_j read a step early": (
            "assign b_index = b_write ? write_index : j_1;",
            "assign b_index = b_write ? write_index : j_1 - (j_1 == 5);",
        ),
        "a carry kept": (
            "if (flush_3) carry <= 1'h0;",
            "",
        ),
    },
    "compact": {
        "a pair read a step early": (
            "? column__ahead_index : pair__i;",
            "? column__ahead_index : pair__i - (slot__qm && column__before == 5 && pair__i == 2);",
        ),
        "two words exchanged": (
            "? column__written : pair__j;",
            "? column__written : pair__j ^ (slot__xy && column__before == 6 && pair__j[7:1] == 3);",
        ),
        "a product left out": (
            "assign lone = slot__diagonal | ",
            "assign lone = (slot__diagonal && !column__reached[4]) | ",
        ),
        "a product added twice": (
            "assign joins = slot__ahead & !column__second_half;",
            "assign joins = slot__ahead & !column__second_half | slot__xy & !column__reached[3];",
        ),
        "a sign": (
            "| slot__drop | slot__qm | slot__newest;",
            "| slot__drop | slot__qm & !column__reached[4] | slot__newest;",
        ),
        "the last command's words": (
            "assign parts = slot__ahead & column__second_half & !slot__linear;",
            "assign parts = slot__drop;",
        ),
    },
}
"""Of the exported Verilog: a line, and what is wrong in its place."""


@pytest.mark.parametrize(
    ("family", "name"),
    [
        pytest.param(family, name, marks=[pytest.mark.slow] * (k > 2))
        for family, edits in EDITS.items()
        for k, name in enumerate(edits)
    ],
)
def test_a_wrong_slot_is_refused(family, name, monkeypatch):
    """Put into the Verilog: for 8 digits nothing else happens to be right."""

    right, wrong = EDITS[family][name]

    def exported(component, name):
        text = to_verilog(component, name)
        assert text.count(right) == 1, "the exported Verilog has other names: change the test"
        return text.replace(right, wrong)

    to_verilog = netlist.to_verilog
    monkeypatch.setattr(netlist, "to_verilog", exported)
    with pytest.raises(ProofError, match="8 x 8"):
        prove(theorem_of(family), [8])
