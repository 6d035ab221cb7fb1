"""No wire of a masked sponge depends on both shares of a bit, even before it settles.

A glitch can show every register that a wire depends on (Faust and others, "Composable Masking
Schemes in the Presence of Physical Defaults", 2018). So for each wire of the netlist the registers
and bits of memories are found that it depends on: none may be the two shares of one bit, and where
both domains meet there is a third bit, the mask.
"""

import json
import re
import tempfile
from pathlib import Path

import pytest
from amaranth.hdl import Const, Module

from coprime.cells.keccak import masked_round
from coprime.cells.keccak.masked_sponge import MaskedSponge
from coprime.flow.tools import run_yosys
from coprime.flow.verilog import to_verilog

WIDTH = 4
_COMMANDS = (
    *("read_verilog design.v", "hierarchy -top coprime_masked", "proc", "flatten", "opt_expr"),
    *("opt_clean", "memory_collect", "alumacc", "maccmap", "techmap t:$mem_v2 %n", "simplemap"),
    *("opt_expr", "opt_clean", "abc -lut 3", "opt_clean", "write_json netlist.json"),
)
_OF_LANES = re.compile(r"state\.(?P<kind>lanes|theta)_(?P<domain>[01])\.(?P<rest>.*)")
_OF_CHI = re.compile(r"state\.chi\.(?P<kind>inner|cross)_(?P<domain>[01])_(?P<rest>.*)")
_BLOCK = "access.block.memory"
_FRESH = "fresh"
_CONTROL = re.compile(r"place|written_half|half|fresh|store|clear")


def bit_of(name, index):
    """The domain of a bit and what it is a share of; None for control."""
    found = _OF_LANES.fullmatch(name) or _OF_CHI.fullmatch(name)
    if found and not _CONTROL.match(found["rest"]):
        return found["domain"], (found["kind"], found["rest"], index)
    if name == _BLOCK:
        lane, place = divmod(index, 2 * WIDTH)
        return str(place // WIDTH), (name, lane, place % WIDTH)
    return None


class Netlist:
    """For every wire the shares that it depends on."""

    def __init__(self, verilog):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "design.v").write_text(verilog, encoding="utf-8")
            run_yosys(_COMMANDS, Path(folder))
            text = (Path(folder) / "netlist.json").read_text("utf-8")
        module = json.loads(text)["modules"]["coprime_masked"]
        self.inputs, self.shares = {}, {}
        registers = set()
        for cell in module["cells"].values():
            nets = cell["connections"]
            if cell["type"] == "$lut":
                self.inputs[nets["Y"][0]] = nets["A"]
            elif cell["type"] == "$mem_v2":
                width = int(cell["parameters"]["WIDTH"], 2)
                name = cell["parameters"]["MEMID"].removeprefix("\\")
                for k, net in enumerate(nets["RD_DATA"]):
                    self.shares[net] = bit_of(name, k % width)
            elif cell["type"] != "$scopeinfo":
                assert cell["type"].startswith(("$_DFF_", "$_SDFF", "$_DFFE")), cell["type"]
                registers.add(nets["Q"][0])
        for name, net in module["netnames"].items():
            for k, bit in enumerate(net["bits"]):
                if bit in registers and (found := bit_of(name, k)):
                    self.shares[bit] = found
                elif name == _FRESH:
                    self.shares[bit] = "fresh", k
        self._known = {}

    def support(self, net):
        """Shares and fresh bits that a wire depends on."""
        if net not in self._known:
            own = self.shares.get(net)
            found = {own} if own else set()
            for each in self.inputs.get(net, ()):
                found |= self.support(each)
            self._known[net] = frozenset(found)
        return self._known[net]

    def wrong(self):
        """Of the wires with bits of both domains the supports that are not those of a product with
        its mask, and how many wires there are."""
        found, mixed = [], 0
        for net in self.inputs:
            support = self.support(net)
            bits = {domain: {bit for own, bit in support if own == domain} for domain in "01"}
            if not (bits["0"] and bits["1"]):
                continue
            mixed += 1
            if bits["0"] & bits["1"] or len(support) != 3:
                found.append(support)
        return found, mixed


def netlist():
    return Netlist(to_verilog(MaskedSponge(WIDTH, 1), "coprime_masked"))


def products_without_registers(self, platform):
    """Chi as it must not be: the sums enter the registers."""
    m = Module()
    masks = masked_round.guards(list(self.state[0]), self.fresh)
    for share in range(2):
        own, other, target = list(self.state[share]), list(self.state[1 - share]), self.target
        block = dict(enumerate(self.block[share]))
        alone = masked_round.chi_and_block(
            *(m, own, block, self.add, {}, target), inverts=share == 0
        )
        crossed = masked_round.cross_products(*(m, own, other, masks, target), inverts=share == 0)
        sums = masked_round.signals(self.width, f"inner_{share}")
        for place in range(25):
            m.d.sync += sums[place].eq(alone[place] ^ crossed[place])
            m.d.comb += self.mixed[share][place].eq(sums[place])
    return m


def test_no_wire_depends_on_both_shares_of_a_bit():
    found, mixed = netlist().wrong()
    assert not found
    # A product for each bit of each share.
    assert mixed >= 2 * 25 * WIDTH


@pytest.mark.matrix
def test_products_without_registers_are_found(monkeypatch):
    monkeypatch.setattr(masked_round.MaskedChi, "elaborate", products_without_registers)
    found, _ = netlist().wrong()
    assert len(found) >= 2 * 25 * WIDTH


def test_products_without_masks_are_found(monkeypatch):
    monkeypatch.setattr(masked_round, "guards", lambda lanes, fresh: [Const(0, WIDTH)] * 25)
    found, _ = netlist().wrong()
    assert len(found) >= 2 * 25 * WIDTH
