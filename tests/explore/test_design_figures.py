"""The figures of a data sheet against simulation, the results that ship, and the tools."""

import itertools
import random
from collections import Counter

import pytest

from coprime.bus import registers
from coprime.bus.command_control import front_end_cycles
from coprime.bus.kinds import Bus
from coprime.catalog import ClusterChoice, choose
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.ec.edwards import ED25519
from coprime.ec.samples import curve_numbers
from coprime.engine.contract import Command
from coprime.explore import design_figures, openssl
from coprime.explore.measure import measure_area
from coprime.explore.shipped import shipped_points
from coprime.explore.standard_keys import LONGEST_SEARCH, standard_key
from coprime.runs.numbers import random_numbers


class Watch:
    """Counts the cycles from the write of COMMAND to the interrupt."""

    def __init__(self, device):
        self.device = device
        self.cycles = 0

    def __getattr__(self, name):
        return getattr(self.device, name)

    def write32(self, address, value):
        if address == registers.COMMAND.address:
            self.begin = self.device.cycles
        self.device.write32(address, value)

    def wait_interrupt(self, timeout=None):
        self.device.wait_interrupt(timeout)
        self.cycles = self.device.cycles - self.begin


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["fdfm", "karatsuba", "compact"])
@pytest.mark.parametrize("bits", [64, 100, 512, 1023])
def test_cycles_of_the_front_end_are_those_of_a_simulation(request, family, bits):
    bench = request.getfixturevalue(family)
    capabilities = bench.design.capabilities
    watch = Watch(bench.device)
    run = Accelerator(watch).operate(Command.MODMUL, random_numbers(Command.MODMUL, bits, 1))
    bench.accelerator.forget()  # its device holds what another driver has loaded
    assert watch.cycles == run.cycles + front_end_cycles(capabilities, bits)


@pytest.mark.xdist_group("edwards figures")
@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=pytest.mark.route) for one in (Command.ED_FINISH, Command.ED_VERIFY)],
)
def test_cycles_of_operations_on_curves(command):
    """X and the result are two numbers; a key's words are loaded before."""
    choice = choose("compact", {"max_bits": "512", "curves": "edwards"})
    figures = design_figures.shipped(choice, Target.GENERIC).operations
    fields = {(one.operation, one.bits) for one in figures if one.operation.startswith("ED_")}
    # Of Ed448 the columns of two scalars are too long.
    made = ("ED_BASE_MULTIPLY", "ED_FINISH")
    assert fields == {("ED_VERIFY", 255), *itertools.product(made, (255, 448))}
    found = next(one for one in figures if (one.operation, one.bits) == (command.name, 255))
    numbers = curve_numbers(command, ED25519, random.Random(1))
    with open_simulation(choice) as device:
        watch = Watch(device)
        run = Accelerator(watch).operate(command, numbers)
    assert watch.cycles == run.cycles + found.command_cycles - found.engine_cycles
    if command is Command.ED_FINISH:  # those of a verification depend on the signature
        assert run.cycles == found.engine_cycles


def test_a_padding_unit_makes_the_check_longer():
    capabilities = choose("fdfm", {}).design.capabilities
    assert (
        front_end_cycles(capabilities, 64, padding=True) == front_end_cycles(capabilities, 64) + 2
    )


@pytest.mark.matrix
def test_operations_have_the_cycles_of_a_simulation(compact):
    choice = choose("compact", {"max_bits": "2048"})
    found = {
        (one.operation, one.bits): one
        for one in design_figures.shipped(choice, Target.GENERIC).operations
    }
    assert {bits for _, bits in found} == {512, 1024, 2048}
    for bits in (512, 1024):
        compact.accelerator.load_private(standard_key(bits))
        assert compact.accelerator.private(3).cycles == found["RSA_PRIVATE", bits].engine_cycles


def test_exponents_that_a_short_modulus_has_no_room_for_are_left_out():
    """65537 has 17 bits, the modulus 12."""
    figures = design_figures.shipped(choose("direct", {"modulus": "kyber"}), Target.GENERIC)
    assert {one.operation for one in figures.operations} == {"MODMUL", "MODEXP"}


def test_the_worst_case_is_one(fdfm):
    """Every bit of both halves' exponents is 1: no key takes more cycles."""
    found = design_figures.shipped(choose("fdfm", {"max_bits": "512"}), Target.GENERIC)
    (worst,) = (one for one in found.operations if one.operation == "RSA_PRIVATE")
    fdfm.accelerator.load_private(standard_key(512))
    assert fdfm.accelerator.private(3).cycles < worst.engine_cycles


def test_words_of_both_buses_are_counted():
    choice = choose("fdfm", {"max_bits": "512"})
    for bus, moved in ((Bus.AXI4_LITE, 4 * 16 + 5 * 16), (Bus.AXI4, 2 * 16 + 2 + 3 * 16 + 2)):
        operations = design_figures.shipped(choice, Target.GENERIC, bus).operations
        assert {one.moving_cycles for one in operations} == {moved}


def test_a_cluster_has_cycles_of_its_cores():
    core = choose("fdfm", {"max_bits": "512"})
    alone = design_figures.shipped(core, Target.GENERIC).operations
    many = design_figures.shipped(ClusterChoice(core, 3), Target.GENERIC).operations
    assert [one.engine_cycles for one in many] == [one.engine_cycles for one in alone]
    assert {one.command_cycles for one in many} == {None}


def test_one_modulus_has_one_length():
    operations = design_figures.shipped(choose("compression", {}), Target.XC7).operations
    assert {one.bits for one in operations} == {64}
    assert "RSA_PRIVATE" not in {one.operation for one in operations}


@pytest.mark.matrix
def test_shipped_figures_are_those_of_the_results():
    point = next(
        one
        for one in shipped_points()
        if (one.target, one.part, one.status) == ("xc7", "accelerator", "ok")
    )
    choice = choose(point.family, {name: str(value) for name, value in point.parameters.items()})
    found = {one.part: one for one in design_figures.shipped(choice, Target.XC7).parts}
    own = found["accelerator"]
    assert (own.resources.lut, own.resources.ff) == (point.lut, point.ff)
    assert own.found == f"mapped by Yosys {point.tools['yosys']} for xc7"
    # The results have no accelerator with bursts, so that it is not measured.
    parts = {one.part for one in design_figures.shipped(choice, Target.XC7, Bus.AXI4).parts}
    assert "accelerator" not in parts


@pytest.mark.route
def test_measured_figures_are_those_of_the_tools(monkeypatch):
    monkeypatch.setattr(openssl, "measure", openssl.shipped)
    choice, notes = choose("fdfm", {"max_bits": "64"}), []
    found = design_figures.measured(choice, Target.XC7, note=notes.append)
    for one in found.parts:
        area = measure_area(choice, Target.XC7, part=one.part)
        assert one.resources.resources == area.resources
        assert one.clock is None
    assert notes == ["mapping the engine", "mapping the accelerator", "measuring OpenSSL"]


def test_standard_keys_are_keys():
    """The constructor checks their numbers; that the primes are prime, a root shows."""
    for bits in (512, 1024, 2048, 2176, 3072, 4096, 8192):
        key = standard_key(bits)
        assert key.bits == bits
        assert key.p.bit_length() == key.q.bit_length() == bits // 2
        for prime in (key.p, key.q):
            assert pow(3, prime - 1, prime) == 1
    assert standard_key(100).bits == 100
    assert standard_key(LONGEST_SEARCH + 2) is None
    with pytest.raises(ValueError, match="must be even, not 1023"):
        standard_key(1023)


def test_openssl_signs_faster_with_shorter_keys():
    shipped = openssl.shipped()
    assert [one.bits for one in shipped.figures] == list(openssl.LENGTHS)
    private = [one.private_per_second for one in shipped.figures]
    assert private == sorted(private, reverse=True)
    assert shipped.found.startswith("OpenSSL ")


def test_a_design_is_placed_on_the_device_of_the_measurements_that_ship():
    """So that its clock compares with theirs; a smaller device may be faster or slower."""
    of_target = [one for one in shipped_points() if one.target == "ecp5" and one.fmax_mhz]
    (device, _), *_ = Counter(one.device.split("-6")[0] for one in of_target).most_common()
    assert design_figures._devices(Target.ECP5)[0] == device == "LFE5U-85F"
