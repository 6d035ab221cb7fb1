"""FDFM's figures agree with each other where the paper says that they follow from each other."""

import pytest
from coprime_evidence.papers import fdfm
from coprime_evidence.papers.published import read_publication

_PRINTED = read_publication("fdfm")
DIRECT_MILLISECONDS = _PRINTED.column("Table 2", "Time without CRT in [4]")
CRT_DIGITS = {bits: digits for bits, *digits in (row[:3] for row in _PRINTED.lines("Table 2"))}
"""Digits of the modulus and of a prime."""


def crt_cycles(d1, d2):
    """Equation 10: cycles of a CRT decryption, d1 digits the modulus and d2 each prime."""
    return 4 * (34 * d2**3 + 140 * d2**2 + 3 * d1 * d2 + 8 * d1 + 88 * d2 + 14)


def table(number):
    (found,) = [one for one in fdfm.TABLES if one.number == number]
    return found


def digits(bits):
    return -(-bits // 17)


@pytest.mark.parametrize("bits", fdfm.CRT_CYCLES)
def test_equation_10_gives_table_2(bits):
    d1, d2 = CRT_DIGITS[bits]
    assert (d1, d2) == (digits(bits), digits(bits // 2))
    assert crt_cycles(d1, d2) == fdfm.CRT_CYCLES[bits]


@pytest.mark.parametrize("d", [2, 4, 31, 61])
def test_equation_10_follows_from_equations_8_and_9(d):
    """Step 1 and 3 by equation 9, step 2 by equation 8; d digits a prime, 2d the modulus."""

    def unequal(inner, outer):
        return 2 * inner * outer + 8 * outer + 4

    exponentiation = fdfm.multiplication_cycles(d) * (2 * d * 17 + 4)
    other = unequal(2 * d, d) + 2 * unequal(d, 2 * d)
    assert crt_cycles(2 * d, d) == 2 * (exponentiation + other)


@pytest.mark.parametrize("bits", fdfm.CRT_CYCLES)
def test_times_of_table_2_are_its_cycles_at_336_mhz(bits):
    time = fdfm.CRT_CYCLES[bits] / fdfm.ONE_CORE["megahertz"] / 1000
    assert fdfm.CRT_MILLISECONDS[bits] == pytest.approx(time, abs=0.00051)


def test_text_contradicts_table_2():
    """The text's 11.263 ms is no time of its own circuit; the remark says so."""
    time = fdfm.CRT_CYCLES[1024] / fdfm.ONE_CORE["megahertz"] / 1000
    assert time == pytest.approx(13.737, abs=0.001)
    assert any("11.263 ms" in remark for remark in table("Table 2").remarks)


def test_speed_up_over_the_earlier_work():
    ratio = DIRECT_MILLISECONDS[1024] / fdfm.CRT_MILLISECONDS[1024]
    assert f"{ratio:.2f}" == "2.65"
    assert any("2.65" in remark for remark in table("Table 2").remarks)


def test_throughput_of_table_3_is_1024_bits_over_the_time():
    rows = table("Table 3").rows
    assert len(rows) == 9
    for row in rows:
        time = row.published["Execution time"]
        if row.label == "This work, 320 cores":
            time = fdfm.CRT_CYCLES[1024] / fdfm.CORES_320["megahertz"] / 1000
            assert row.published["Execution time"] == pytest.approx(time, abs=0.001)
            time /= 320
        expected = pytest.approx(1024 / time, rel=1e-4)
        assert row.published["Throughput"] == expected, row.label


def remarks(number):
    return " ".join(table(number).remarks)


def test_throughput_of_320_cores_follows_from_equation_10():
    """And not from the time that is printed beside it; the remark says so."""
    (own,) = [row.published for row in table("Table 3").rows if row.label.endswith("320 cores")]
    milliseconds = fdfm.CRT_CYCLES[1024] / fdfm.CORES_320["megahertz"] / 1000
    assert f"{320 * 1024 / milliseconds:.2f}" == "23031.37" == f"{own['Throughput']:.2f}"
    assert f"{320 * 1024 / own['Execution time']:,.3f}" == "23,030.644"
    assert "23,030.644" in remarks("Table 3")


def test_320_cores_take_less_than_320_times_one():
    slices, one = fdfm.CORES_320["slices"], fdfm.ONE_CORE["slices"]
    assert (f"{slices / 37_680:.0%}", f"{slices / 320:.0f}") == ("92%", "108")
    assert 320 * one == 44_800 > 37_680
    for words in ("92 %", "108 a core", "44,800"):
        assert words in remarks("Table 1")


def test_clock_of_320_cores_is_lower():
    """Section 6 says that it is not decreased."""
    loss = 1 - fdfm.CORES_320["megahertz"] / fdfm.ONE_CORE["megahertz"]
    assert f"{100 * loss:.1f} %" == "3.4 %"
    assert "3.4 %" in remarks("Table 1")


def test_section_6_on_mazzeo_contradicts_table_3():
    (mazzeo,) = [row.published for row in table("Table 3").rows if row.label == "Mazzeo [12]"]
    slices = int(mazzeo["Logic blocks"].removesuffix(" slices").replace(",", ""))
    assert f"{slices / fdfm.ONE_CORE['slices']:.1f}" == "8.5"
    assert f"{slices / 180:.1f}" == "6.6"
    # 18 bits, two of them ones; lines 1, 2 and 7 of Algorithm 2.
    multiplications = 18 + 2 + 3
    cycles = multiplications * fdfm.multiplication_cycles(61)
    milliseconds = cycles / fdfm.ONE_CORE["megahertz"] / 1000
    assert f"{milliseconds:.3f}" == "0.542"
    assert f"{mazzeo['Execution time'] / milliseconds:.1f}" == "7.1"
    for words in ("8.5 times", "6.6 times", "The 23 multiplications", "0.542 ms", "7.1 times"):
        assert words in remarks("Table 3")


def test_own_rows_of_table_3_repeat_tables_1_and_2():
    own = {row.label: row.published for row in table("Table 3").rows}
    synthesis = {row.label: row.published for row in table("Table 1").rows}
    assert own["This work, 1 core"]["Logic blocks"] == synthesis["1 core"]["Slices"]
    assert own["This work, 1 core"]["Frequency"] == synthesis["1 core"]["Maximum frequency"]
    assert own["This work, 1 core"]["Execution time"] == fdfm.CRT_MILLISECONDS[1024]
    assert own["This work, 320 cores"]["Frequency"] == synthesis["320 cores"]["Maximum frequency"]
    assert own["This work, 320 cores"]["Logic blocks"] == synthesis["320 cores"]["Slices"]
    assert own["Our previous work [4]"]["Frequency"] == fdfm.EARLIER_MEGAHERTZ


def test_figure_6_is_equation_7_over_equation_8():
    assert fdfm.products(61) == 2 * 61**2 + 61
    by_label = {row.label: row.published["Utilization"] for row in table("Figure 6").rows}
    assert by_label["1,024 bits"] == pytest.approx(94.6, abs=0.05)
    assert by_label["512 bits"] == pytest.approx(89.8, abs=0.05)
    assert by_label["2,048 bits"] > 97
    remarks = " ".join(table("Figure 6").remarks)
    assert "94.6 %" in remarks
    assert "89.8 %" in remarks
