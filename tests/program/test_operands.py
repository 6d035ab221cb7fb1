"""References: operands with published numbers, places and modes without."""

import pytest

from coprime.engine.contract import Operand as ContractOperand
from coprime.operations import lane_programs
from coprime.program.operands import MODULI, Context, Entry, Mode, Operand, Scratch

assert lane_programs  # its import declares the numbers of all routines
NUMBERS = [number for declared in Scratch.__subclasses__() for number in declared]
"""Those of all files."""


def test_no_two_numbers_have_one_rank():
    """The rank is the order in which numbers are placed."""
    assert len({number.value for number in NUMBERS}) == len(NUMBERS)


def test_no_two_references_are_equal():
    """Only operands have numbers; those of places and modes are a layout's."""
    references = [*Operand, *NUMBERS, *Mode]
    assert len({*references}) == len(references)
    assert not any(isinstance(one, int) for one in (*NUMBERS, *Mode))
    assert [*map(int, Operand)] == [*range(len(Operand))]


def test_sets_of_references_have_one_order():
    """In every process, as hardware is made in that order: hashes of names would be random."""
    for one in (*NUMBERS, *Mode):
        assert hash(one) == hash(one.value)


def test_the_table():
    assert [Entry.at(entry).name for entry in (0, 15, 31)] == ["T_0", "T_15", "T_31"]
    with pytest.raises(KeyError):
        Entry.at(32)


def test_operands_are_the_contract_s():
    assert ContractOperand is Operand


@pytest.mark.parametrize("context", MODULI)
def test_operands_of_a_context(context):
    end = "M" if context is Context.WHOLE else context.name
    assert context.modulus.name == end
    assert context.inverse.name == f"{end}_INVERSE"
    assert context.power.name == f"{end}_POWER"
    assert context.exponent.name == ("E" if context is Context.WHOLE else f"D{end}")
    assert context.length.name == ("MODULUS" if context is Context.WHOLE else end)


def test_the_current_context_names_p():
    current, p = Context.CURRENT, Context.P
    assert (current.modulus, current.power, current.exponent) == (p.modulus, p.power, p.exponent)
    with pytest.raises(KeyError):
        _ = current.length
