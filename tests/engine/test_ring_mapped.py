"""What ring becomes on xc7: its block RAM, and the mapped netlist at work."""

import pytest

from coprime.catalog import family_named
from tests.engine.mapped import check_netlist


@pytest.mark.route
@pytest.mark.parametrize(("tiles", "multipliers"), [("1", "1"), ("2", "1"), ("2", "2")])
def test_xc7_netlist_decrypts(tiles, multipliers):
    """The whole accelerator in AMD's cells, as Yosys models them: same results, same cycles."""
    parameters = {"max_bits": "256", "tiles": tiles, "multipliers": multipliers}
    choice = family_named("ring").choose(parameters)
    check_netlist(choice, 255, dsp=6 * int(tiles) * int(multipliers))
