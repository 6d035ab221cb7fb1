"""A product of 64 bits in one cycle as a device's cells, whose mapping abc9 cannot prove."""

import pytest

from coprime.cells.target import Target
from coprime.fixed_modulus.arithmetic import FixedModulus, Method
from coprime.fixed_modulus.products import RegisteredProduct
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from coprime.model.moduli import modulus_of
from tests.netlists import first_difference, library


@pytest.mark.route
@pytest.mark.parametrize("target", [Target.XC7, Target.ECP5])
@pytest.mark.parametrize("name", ["vassoler-30", "vassoler-62"])
def test_the_netlist_multiplies(name, target):
    """The tree's netlist against the expression of `direct`, as it is written."""
    modulus = modulus_of(name)

    def product(method, top):
        return to_verilog(RegisteredProduct(FixedModulus(modulus, method, factor=3)), top)

    tree = product(Method.COMPRESSION, "coprime_gate")
    mapped = map_design(target, tree, "coprime_gate")
    assert mapped.dsp == 0
    netlist = mapped.netlist + library(target)
    bits = (3 * modulus).bit_length()
    gold = product(Method.DIRECT, "coprime_gold")
    cycles = 20_000
    inputs, outputs = {"x": bits, "y": bits}, {"result": bits}
    assert first_difference(gold, netlist, inputs, outputs, cycles=cycles) is None
