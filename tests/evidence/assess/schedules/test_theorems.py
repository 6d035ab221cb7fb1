"""Schedules are their recurrences for all operands; with one wrong slot they are not."""

import pytest
from coprime_evidence.assess.schedules import THEOREMS, netlist
from coprime_evidence.assess.schedules.ring import RingTheorem
from coprime_evidence.assess.schedules.symbols import ProofError
from coprime_evidence.assess.schedules.theorem import prove

from coprime.catalog import choose

DESIGNS = {
    "fdfm": ("fdfm", {"max_bits": "1528"}),
    "compact": ("compact", {"max_bits": "1511"}),
    "ring": ("ring", {"max_bits": "200", "tile": "one17"}),
    "ring, two tiles": ("ring", {"max_bits": "4400", "tile": "bal50", "tiles": "2"}),
    "ring, q delayed": ("ring", {"max_bits": "500", "tile": "bal50", "tiles": "2"}),
    "ring, sums in two parts": ("ring", {"max_bits": "700", "tile": "kara95"}),
    "ring, many words in two parts": ("ring", {"max_bits": "4096", "tile": "kara95"}),
    "karatsuba": ("karatsuba", {"max_bits": "126", "word": "16"}),
    "karatsuba, a q that waits": ("karatsuba", {"max_bits": "286", "word": "16"}),
    "karatsuba, three slices": ("karatsuba", {"max_bits": "254", "word": "32"}),
    "karatsuba, two by turns": (
        *("karatsuba",),
        {"max_bits": "126", "word": "16", "multipliers": "1", "interleaved": "1"},
    ),
    "karatsuba, scaled": ("karatsuba", {"max_bits": "222", "word": "32", "scaled": "1"}),
}
LONG = [*range(2, 65), 90]


def theorem_of(name):
    """Its class, and the design."""
    family, settings = DESIGNS[name]
    return THEOREMS[family], choose(family, settings).design


@pytest.mark.proof
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[pytest.mark.proof] * (one not in ("karatsuba", "ring")))
        for one in DESIGNS
    ],
)
def test_few_digits(name):
    theorem, design = theorem_of(name)
    digits = theorem.lengths(design)[: 1 if theorem is RingTheorem else 3]
    proof = prove(theorem(design), digits)
    cases = [len([*theorem(design).cases(one)]) for one in digits]
    # Two digits and half of three are the same for karatsuba, so that the least D has two cases.
    assert proof.cases == sum(cases)
    assert min(cases) >= 2 and max(cases) >= 3
    assert 0 < proof.free < proof.registers


@pytest.mark.proof
@pytest.mark.parametrize("name", DESIGNS)
def test_many_digits(name):
    theorem, design = theorem_of(name)
    prove(theorem(design), [one for one in LONG if one in theorem.lengths(design)])


def test_the_delay_of_the_designs():
    """The third design of `ring` has it, the second one not."""
    names = "ring, two tiles", "ring, q delayed"
    assert [theorem_of(name)[1].multiplication.delay for name in names] == [0, 1]


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
    "ring": {
        "a pair read a step early": (
            ": products__0__i_2;",
            ": products__0__i_2 - (products__0__i_2 == 3 && products__0__j_2 == 5);",
        ),
        "two words exchanged": (
            ": products__0__j_2;",
            ": products__0__j_2 ^ (products__0__j_2[3:1] == 2 && products__0__i_2 == 0);",
        ),
        "M' written over while nothing is under way": (
            ".writes__1__place(q__place),\n    .m__enable(m__enable),",
            ".writes__1__place(q__place),\n    .m__enable(m__enable | !busy),",
        ),
        "a product left out": (
            "assign products__0__pair = old_xy |",
            "assign products__0__pair = old_xy & products__0__i != 4 |",
        ),
        "a diagonal product that leaves too early": (
            "assign n4 = leaves + 1'h1;",
            "assign n4 = leaves + (leaves == 2 ? 2'h2 : 1'h1);",
        ),
    },
    "ring, sums in two parts": {
        f"a carry between the parts is lost: {name}": (
            f"carries_in__{name} <= carries_out__{name};",
            f"carries_in__{name} <= {lost};",
        )
        for name, lost in (("total", "1'h0"), ("running", "1'h0"), ("left", "1'h1"))
    },
    "karatsuba": {
        "Y_i read once more": (
            "y_index = _i + 1'h1;",
            "y_index = _i + (_i != 3);",
        ),
        "the halves of two products left out": (
            "(reads_has_word & !reads_first_word) ? low",
            "(reads_has_word & !reads_first_word & reads[16:13] != 3) ? low",
        ),
        "Y_1 of the next product read in place of a write": (
            "slot[1] = _wants_y & !writing;",
            "slot[1] = _wants_y;",
        ),
        "X_0 of the next product taken out of the memory": (
            "(succeeds & !x_is_result & !x_is_other) ? x_0",
            "(succeeds & !x_is_other) ? x_0",
        ),
        "a carry kept": (
            "carry <= slot_2[5] ? {1'h0, n1} : total[18:16];",
            "carry <= total[18:16];",
        ),
        "M written over while nothing is under way": (
            "(slot_4),\n    .clear_address(clear_address),\n    .clears(clear),",
            "(slot_4),\n    .clear_address(clear_address),\n    .clears(clear | slot_4 == 0),",
        ),
    },
}
"""Of the exported Verilog: a line, and what is wrong in its place."""


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize(
    ("family", "name"),
    [
        pytest.param(family, name, marks=[pytest.mark.proof] * (k > 0 or "two" in family))
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
    theorem, design = theorem_of(family)
    with pytest.raises(ProofError, match="8 x 8"):
        prove(theorem(design), [8])
