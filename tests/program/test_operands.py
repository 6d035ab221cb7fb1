"""References: one number space, in which the upper bits are the class."""

import pytest

from coprime.engine.contract import Operand as ContractOperand
from coprime.program.operands import MODULI, Context, Mode, Operand, Scratch


def test_no_two_references_share_a_number():
    """Enumerations of integers compare equal where their numbers do."""
    references = [*Operand, *Scratch, *Mode]
    assert len({*references}) == len(references)
    assert [*map(int, references)] == sorted(references)


def test_the_upper_bits_are_the_class():
    assert {operand >> 4 for operand in Operand} == {0}
    assert {scratch >> 4 for scratch in Scratch} == {1, 2, 3}
    assert {Scratch.table(entry) >> 5 for entry in range(32)} == {1}
    assert {mode >> 4 for mode in Mode} == {4}


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
