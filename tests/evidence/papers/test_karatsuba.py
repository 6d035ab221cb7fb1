"""KARATSUBA's figures agree with each other, and contradict each other, where the remarks say."""

import pytest
from coprime_evidence.papers import fdfm, karatsuba
from coprime_evidence.papers.karatsuba import (
    EXPONENTIATIONS,
    MULTIPLICATIONS,
    SOFTWARE,
    SYSTEM_WORDS,
    SYSTEMS,
    multiplication_cycles,
)
from coprime_evidence.report.side_by_side import compare

from coprime.bus import registers
from coprime.bus.axi_accelerator import transfer_cycles
from coprime.bus.kinds import Bus
from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog
from tests.device.test_blocks import CHOICE
from tests.evidence.papers.test_fdfm import DIRECT_MILLISECONDS
from tests.evidence.report.samples import point

DEVICE = "LFE5U-85F-6 CABGA381"


def table(number):
    (found,) = [one for one in karatsuba.TABLES if one.number == number]
    return found


def remarks(number):
    return " ".join(table(number).remarks)


def test_cycles_that_the_times_stand_for():
    """What times of three digits have beyond (d+1)^2, in Table 1 and for a product of Table 2."""

    def beyond(sizes, cycles):
        return [
            cycles(size, megahertz * time) - (size[0] // size[1] + 1) ** 2
            for size, (_, _, megahertz, time) in sizes.items()
        ]

    alone = beyond(MULTIPLICATIONS, lambda size, cycles: cycles)
    of_many = beyond(EXPONENTIATIONS, lambda size, cycles: 1000 * cycles / size[0])
    words = [f"plus {min(one):.0f} to {max(one):.0f}" for one in (alone, of_many)]
    assert words == ["plus 4 to 11", "plus 9 to 25"]
    assert all(one in remarks("Table 1") for one in words)


@pytest.mark.parametrize("size", MULTIPLICATIONS)
def test_cycles_of_a_multiplication(size):
    bits, word = size
    assert multiplication_cycles(bits, word, 3) == (bits // word + 1) ** 2 + 4
    assert multiplication_cycles(bits - 1, word, 24) == (bits // word + 1) ** 2 + 25


@pytest.mark.parametrize("size", EXPONENTIATIONS)
def test_an_exponentiation_is_n_multiplications(size):
    """From Table 2's time and clock, within what the rounding of three digits leaves."""
    bits, word = size
    _, _, megahertz, time = EXPONENTIATIONS[size]
    least, most = (1000 * megahertz * (time + half) / bits for half in (-0.005, 0.005))
    assert multiplication_cycles(bits, word, 2) < most
    assert least < multiplication_cycles(bits, word, 30)


def test_two_multipliers_have_twice_the_slices():
    assert MULTIPLICATIONS.keys() == EXPONENTIATIONS.keys()
    for size, (_, dsp, _, _) in MULTIPLICATIONS.items():
        assert EXPONENTIATIONS[size][1] == 2 * dsp


def test_products_that_the_slices_stand_for():
    """No number of Karatsuba products is 7, 13 and 27 slices."""
    slices = {word: KaratsubaProduct.dsp_slices(word) for word in (16, 32, 64)}
    assert slices == {16: 1, 32: 3, 64: 9}
    published = {word: dsp for (_, word), (_, dsp, _, _) in MULTIPLICATIONS.items()}
    assert published == {16: 7, 32: 13, 64: 27}
    assert [4 * count for count in slices.values()] == [4, 12, 36]
    assert [3 * count for count in slices.values()] == [3, 9, 27]
    assert "4, 12 or 36, and three 3, 9 or 27" in remarks("Table 1")


def test_as_many_as_fit_into_the_device():
    """Section 6.3 counts with Table 4's slices, and not with those of Tables 1 and 2."""
    assert [1120 // one for one in (27, 54, 31, 62)] == [41, 20, 36, 18]
    for words in ("36 multiplications, or 18", "41 and 20", "31 and 62"):
        assert words in remarks("Table 1")
    assert {dsp for _, dsp, _ in SYSTEMS[Bus.AXI4].values()} == {26, 62}


def test_latency_that_section_4_6_allows():
    """(d + 1) - (2 * (4 + l) + 3) stages are 0 or more: not so for 512 bits in words of 64."""

    def most(bits, word):
        return ((bits // word + 1) - 3) // 2 - 4

    assert (most(1024, 64), most(512, 64)) == (3, -1)
    assert all(most(*size) > 0 for size in MULTIPLICATIONS)
    assert (512, 64) not in MULTIPLICATIONS


def test_own_rows_of_table_3_repeat_table_2():
    """The fastest word of each length."""
    own = [row.published for row in table("Table 3").rows if row.label.startswith("This work")]
    assert len(own) == 3
    for bits, row in zip(SYSTEM_WORDS, own, strict=True):
        times = {size: time for size, (*_, time) in EXPONENTIATIONS.items() if size[0] == bits}
        best = min(times, key=times.__getitem__)
        assert best == (bits, SYSTEM_WORDS[bits])
        assert EXPONENTIATIONS[best] == tuple(
            row[name] for name in ("Area", "DSP blocks", "Frequency", "Time")
        )


def test_table_3_has_every_row():
    rows = {row.label: row.published for row in table("Table 3").rows}
    assert len(rows) == 17
    assert rows["Suzuki [19], 512 bits"]["Time"] == 0.261 < 0.54 / 2
    assert "0.261 ms for 512 bits, less than half of the 0.54 ms" in remarks("Table 3")
    # What FDFM says of its authors' earlier circuit, and of an earlier version of itself.
    for bits in (512, 1024, 2048):
        time = rows[f"Bo et al. [6], {bits:,} bits"]["Time"]
        assert time == pytest.approx(DIRECT_MILLISECONDS[bits], rel=0.0015)
    assert rows["Bo et al. [22], 1,024 bits, with CRT"]["Time"] == 11.263
    assert fdfm.CRT_MILLISECONDS[1024] == 13.737


def test_times_of_table_4_are_those_of_table_2_at_100_mhz():
    """What a bus adds is within the rounding of times and clocks."""
    times = []
    for bits, word in SYSTEM_WORDS.items():
        _, dsp, megahertz, time = EXPONENTIATIONS[bits, word]
        assert SYSTEMS[Bus.AXI4_LITE][bits][1] == dsp
        times.append(f"{megahertz * time / 100:.2f}")
        least = (megahertz - 0.5) * (time - 0.005) / 100
        most = (megahertz + 0.5) * (time + 0.005) / 100
        for of in SYSTEMS.values():
            assert least < of[bits][2] + 0.005
            assert of[bits][2] - 0.005 < most
    assert times == ["1.53", "3.06", "22.66"]
    assert "1.53, 3.06 and 22.66 ms" in remarks("Table 4")


def test_bursts_save_the_same_time_at_every_length():
    lite, bursts = SYSTEMS[Bus.AXI4_LITE], SYSTEMS[Bus.AXI4]
    assert {f"{lite[bits][2] - bursts[bits][2]:.2f}" for bits in SYSTEM_WORDS} == {"0.02"}
    assert "0.02 ms at every length" in remarks("Table 4")


def test_speed_up_over_software():
    assert SOFTWARE[1024] / SYSTEMS[Bus.AXI4_LITE][1024][2] == pytest.approx(121, abs=1)
    assert f"{SOFTWARE[1024] / SOFTWARE[512]:.1f}" == "3.2"
    assert f"{SOFTWARE[2048] / SOFTWARE[1024]:.1f}" == "3.4"
    assert "3.2 and 3.4 times" in remarks("Table 4")


@pytest.mark.parametrize("bus", Bus)
def test_cycles_of_a_transfer_are_the_hardwares(bus):
    with SimulatedDevice(accelerator_verilog(CHOICE, bus=bus), CHOICE.module_name) as device:
        device.read32(registers.STATUS.address)
        for words in (1, 16, 32, 64):
            before = device.cycles
            device.write_block(registers.INPUT_WINDOW.address, [0] * words)
            device.read_block(registers.OUTPUT_WINDOW.address, words)
            assert device.cycles - before == transfer_cycles(bus, words, words)


# --- What stands beside -------------------------------------------------------------------------


def measured(part, size, **figures):
    """A point of the multiplier by itself, or of an engine with two, of a length and a word."""
    bits, word = size
    alone = part == "multiplier"
    parameters = {"max_bits": bits, "word": word, "latency": 6, "window": 4}
    return point(
        *("karatsuba", bits, 1),
        **{
            "operation": "MULTIPLICATION" if alone else "MODEXP",
            "exponents": "random" if alone else "worst",
            "part": part,
            "target": "xc7",
            "parameters": {
                **parameters,
                "multipliers": 1 if alone else 2,
                "exponentiator": "fixed-window" if alone else "left-to-right",
                "scaled": 0,
                "interleaved": 0,
            },
            "fmax_mhz": None,
            **figures,
        },
    )


def routed(size, megahertz):
    return measured("multiplier", size, target="ecp5", device=DEVICE, fmax_mhz=megahertz, dsp=99)


def lines(number, points):
    return {
        (line.row, line.quantity): {one.where: one for one in line.measurements}
        for line in compare(table(number), points)
        if line.measurements
    }


@pytest.mark.parametrize(
    ("number", "part", "published", "scale"),
    [
        ("Table 1", "multiplier", MULTIPLICATIONS, 1),
        ("Table 2", "engine", EXPONENTIATIONS, 1000),
    ],
)
def test_a_design_with_the_papers_figures(number, part, published, scale):
    """Its ratios are 1, and its times at another clock are longer by that."""
    points = []
    for size, (slices, dsp, megahertz, time) in published.items():
        cycles = round(time * megahertz * scale)
        figures = {"slices_estimate": slices, "dsp": dsp, "cycles": cycles}
        # What must not be taken for these: other exponentiators, multipliers, operations.
        other = measured(part, size, slices_estimate=1, dsp=1, cycles=1).parameters
        if part == "engine":
            points.append(measured(part, size, parameters={**other, "exponentiator": "m-ary"}))
        points += [
            measured(part, size, parameters={**other, "multipliers": 3 - other["multipliers"]}),
            measured(part, size, operation="MODMUL"),
            measured(part, size, **figures),
            routed(size, megahertz / 2),
        ]
    found = lines(number, points)
    assert len(found) == 4 * len(published)
    for (bits, word), (slices, dsp, megahertz, time) in published.items():
        row = f"{bits:,} bits, words of {word}"
        (area,), (blocks,) = (found[row, name].values() for name in ("Slices", "DSP48E1"))
        assert (area.value, area.where) == (slices, "xc7, mapped")
        assert (blocks.value, blocks.ratio) == (dsp, 1)
        assert [one.ratio for one in found[row, "Frequency"].values()] == [0.5]
        times = found[row, "Time"]
        own_clock = times["At the multiplier's clock on LFE5U-85F"]
        assert own_clock.value == pytest.approx(2 * time, rel=1e-3)
        at_the_papers = times["Simulation, at the paper's clock"]
        assert at_the_papers.ratio == pytest.approx(1, rel=1e-3)
        assert at_the_papers.how.endswith(f"at {megahertz:g} MHz")


def test_figures_are_missing_where_no_point_is():
    for number in ("Table 1", "Table 2", "Table 4"):
        for beside in lines(number, []).values():
            assert {one.value for one in beside.values()} == {None}
    # A clock alone gives no time.
    found = lines("Table 1", [routed((1024, 32), 100.0)])
    assert [one.value for one in found["1,024 bits, words of 32", "Frequency"].values()] == [100]


def test_fdfm_beside_the_earlier_circuits():
    parameters = {"max_bits": 2176, "multipliers": 1}
    points = [
        point("fdfm", 1024, 1, operation=operation, parameters=parameters, cycles=cycles)
        for operation, cycles in (("MODEXP", 16_257_390), ("RSA_PRIVATE", 4_617_830))
    ]
    found = lines("Table 3", points)
    for row in ("Bo et al. [6], 1,024 bits", "Bo et al. [22], 1,024 bits, with CRT"):
        one = found[row, "Time"]["Simulation, at the paper's clock"]
        assert one.ratio == pytest.approx(1, rel=1e-3)


def system(size, bus, **figures):
    return measured("system", size, target="generic", bus=bus.value, dsp=None, **figures)


def test_systems_beside_those_of_table_4():
    """Times at the paper's clock, a speed-up over our own software, and the area of each bus."""
    sizes = list(SYSTEM_WORDS.items())
    points = []
    for size in sizes:
        bits, _ = size
        # What must not be taken for these: an engine alone, another exponentiator.
        points.append(measured("engine", size, cycles=1, slices_estimate=1))
        other = {**points[-1].parameters, "exponentiator": "m-ary"}
        points.append(system(size, Bus.AXI4, parameters=other, cycles=1, software_cycles=1))
        for bus, extra in ((Bus.AXI4_LITE, 700), (Bus.AXI4, 300)):
            figures = {"cycles": 1000 * bits + extra, "software_cycles": 90_000 * bits}
            area = {"slices_estimate": 4000 + bits + extra, "dsp": 54}
            points.append(system(size, bus, **figures))
            points.append(measured("accelerator", size, bus=bus.value, **area))
    found = lines("Table 4", points)
    for bits, _ in sizes:
        (alone,) = found[f"Software, {bits:,} bits", "Time"].values()
        assert alone.value == pytest.approx(90_000 * bits / 100e3)
        assert alone.where == "RISC-V system in simulation, at 100 MHz"
        assert "software alone on the same processor" in alone.how
        assert "coprime soc karatsuba" in alone.command
        for bus, extra in ((Bus.AXI4_LITE, 700), (Bus.AXI4, 300)):
            row = f"{bus.title}, {bits:,} bits"
            (time,) = found[row, "Time"].values()
            assert time.value == pytest.approx((1000 * bits + extra) / 100e3)
            assert time.ratio == time.value / SYSTEMS[bus][bits][2]
            assert ("--bus axi4" in time.command) is (bus is Bus.AXI4)
            (speed_up,) = found[row, "Speed-up"].values()
            assert speed_up.value == pytest.approx(90_000 * bits / (1000 * bits + extra))
            assert [one.value for one in found[row, "Slices"].values()] == [4000 + bits + extra]
            assert [one.value for one in found[row, "DSP48E1"].values()] == [54]
