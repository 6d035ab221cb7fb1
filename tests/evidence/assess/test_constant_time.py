"""Constant time is proved for every family and configuration that declares it, and only there."""

from itertools import product

import pytest
from coprime_evidence.assess.aiger import Graph
from coprime_evidence.assess.constant_time import counterexample, prove

from coprime.catalog import FAMILIES, choose
from coprime.exponentiators.names import BLINDINGS, Exponentiator
from coprime.parameters import ChoiceParameter

SMALL = {"fdfm": 64, "karatsuba": 64, "compact": 64, "ring": 64}
"""Shortest max_bits that a family has; the control is the same for every length, with longer
counters. The bit-serial families would have 2, of one digit."""
WIDTHS = {"karatsuba": 16, "compression": 8, "direct": 8}
MODULI = {"compression": "8191", "direct": "61"}


def configurations(family):
    """Settings and designs of a family: all combinations of the parameters that change control."""
    parameters = {one.name: one for one in FAMILIES[family].parameters}
    base = {}
    if family in MODULI:
        base["modulus"] = MODULI[family]
    else:
        base["max_bits"] = str(SMALL.get(family, 16))
    if "word" in parameters:
        base["word"] = str(WIDTHS.get(family, 8))
    if "latency" in parameters:
        base["latency"] = "1"
    choices = {
        "multipliers": "12",
        "exponentiator": [one.value for one in Exponentiator],
        "window": "124",
        "scaled": "01",
        "interleaved": "01",
        "stages": "02",
        "blinding": BLINDINGS,
    }
    varied = {name: values for name, values in choices.items() if name in parameters}
    for values in product(*varied.values()):
        settings = {**base, **dict(zip(varied, values, strict=True))}
        if settings.get("blinding") == "all":
            settings["max_bits"] = "128"
        if not Exponentiator(settings.get("exponentiator", "fixed-window")).has_window:
            if settings["window"] != "1":
                continue  # no windows
            del settings["window"]
        try:
            design = choose(family, settings).design
        except ValueError:
            continue  # no such design
        yield settings, design


def declared():
    """(family, settings) of all that say that they are constant-time."""
    for family in FAMILIES:
        for settings, design in configurations(family):
            if design.capabilities.constant_time:
                yield family, settings


DECLARED = list(declared())
SOLVED = [(family, settings) for family, settings in DECLARED if family not in ("compact", "ring")]
"""Those that the solver decides; of the others their sequencer, in tests/engine."""


def name_of(value):
    if isinstance(value, str):
        return value
    return "-".join(f"{key}={text}" for key, text in value.items() if key not in ("max_bits",))


def test_parameters():
    """A new parameter of the catalogue either changes the control, and is varied, or is fixed."""
    known = {"multipliers", "exponentiator", "window", "scaled", "interleaved", "stages"}
    known |= {"blinding", "tile", "max_bits", "word", "latency", "modulus", "factor", "extra_bits"}
    # Of compact: operations on curves are run with many scalars, and not proved.
    of_curves = ("curves", "ecdsa")
    known |= {*of_curves}
    known |= {"tiles", "delay"}  # of ring, whose sequencer is proved and whose netlist is searched
    for family in FAMILIES.values():
        for parameter in family.parameters:
            assert parameter.name in known
            if isinstance(parameter, ChoiceParameter):
                choices = ("exponentiator", "blinding", "tile", "delay", *of_curves)
                assert parameter.name in choices


def test_every_family_declares_it_somewhere():
    assert {family for family, _ in DECLARED} == {*FAMILIES}


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        pytest.param(
            *("fdfm", {"max_bits": "64", "exponentiator": "fixed-window"}), marks=pytest.mark.proof
        ),
        ("compression", {"modulus": "127"}),
        pytest.param("compression", {"modulus": "8191"}, marks=pytest.mark.proof),
        ("direct", {"modulus": "61", "multipliers": "1", "exponentiator": "fixed-window"}),
    ],
)
def test_holds(family, settings):
    """Of some, quickly; the long sweep has them all."""
    design = choose(family, settings).design
    assert design.capabilities.constant_time
    proof = prove(design, cycles=300)
    assert proof.holds
    assert proof.same


@pytest.mark.proof
@pytest.mark.parametrize(("family", "settings"), SOLVED, ids=name_of)
def test_every_declaration_holds(family, settings):
    assert prove(choose(family, settings).design).holds


@pytest.mark.proof
@pytest.mark.parametrize(
    "exponentiator",
    [
        "sliding-window",
        *(
            pytest.param(name, marks=pytest.mark.proof)
            for name in ("right-to-left", "m-ary", "repeated")
        ),
    ],
)
def test_the_proof_can_fail(exponentiator):
    """These work longer for some exponents than for others of their length."""
    settings = {"modulus": "61", "multipliers": "1", "exponentiator": exponentiator}
    design = choose("direct", settings).design
    assert not design.capabilities.constant_time
    proof = prove(design, cycles=300)
    assert not proof.holds
    assert proof.cycle


@pytest.mark.proof
def test_the_proof_fails_for_a_binary_exponentiation():
    """FDFM's multiplies only where the exponent's bit is 1."""
    proof = prove(choose("fdfm", {"max_bits": "64"}).design)
    assert not proof.holds
    assert "lane.sequencer.scanner.exponent" in proof.other


def test_graph(tmp_path):
    """A counter of two bits that an input enables: read, simulated, written."""
    text = "aag 6 1 2 1 3\n2\n4 13\n6 11\n6\n"
    text += "8 4 2\n10 8 6\n12 5 2\n"
    (tmp_path / "one.aag").write_text(text + "i0 enable\nl0 a.low\nl1 a.high\no0 high\n")
    graph = Graph.read(tmp_path / "one.aag")
    assert graph.names == {"enable": 1, "a.low": 2, "a.high": 3}
    step = graph.compiled()
    registers, outputs = step([0b01, 0b10], [0b11], 0b11)
    low, high = 0b01, 0b10
    assert outputs == [high]
    assert registers == [0b11 ^ (~low & 0b11), 0b11 ^ (low & high)]
    graph.write(tmp_path / "one.aig")
    data = (tmp_path / "one.aig").read_bytes()
    # Deltas of the gates: 8 = (4, 2), 10 = (8, 6), 12 = (5, 2).
    assert data == b"aig 6 1 2 1 3\n13\n11\n6\n" + bytes([4, 2, 2, 2, 7, 3])


def test_a_graph_that_follows_another_register(tmp_path):
    """Of the same counter: what is next after `high` reads `low`, and the output still `high`."""
    graph = Graph(1, [13, 11], [(4, 2), (8, 6), (5, 2)], {"high": 6}, {"enable": 1})
    step = graph.following({3: 2}).compiled()
    low, high, enable = 0b01, 0b10, 0b11
    registers, outputs = step([low, high], [enable], 0b11)
    assert outputs == [high]
    assert registers == [0b11 ^ (~low & enable), 0b11 ^ (low & enable)]


def test_a_graph_whose_register_is_an_input():
    """Of the same counter: `high` is an input, which comes after `enable` and before `low`."""
    graph = Graph(1, [13, 11], [(4, 2), (8, 6), (5, 2)], {"high": 6}, {"enable": 1, "a.high": 3})
    freed, at = graph.freed({3: 3})
    assert (freed.inputs, len(freed.nexts)) == (2, 1)
    assert at == {0: 0, 1: 1, 3: 2, 2: 3}
    assert freed.names == {"enable": 1, "a.high": 2}
    low, high, enable = 0b0011, 0b0101, 0b1111
    registers, outputs = freed.compiled()([low], [enable, high], 0b1111)
    assert outputs == [high]
    assert registers == [enable ^ (~low & enable)]


def test_what_an_output_reads():
    """And a register whose next value still reads the other one."""
    graph = Graph(1, [13, 11], [(4, 2), (8, 6), (5, 2)], {"high": 6, "both": 10}, {"enable": 1})
    assert graph.read_by("high") == {3}
    assert graph.read_by("both") == {1, 2, 3}
    low, high, enable = 0b01, 0b10, 0b11
    step = graph.following({3: 2}, unchanged={3}).compiled()
    registers, _ = step([low, high], [enable], 0b11)
    assert registers == [0b11 ^ (~low & enable), 0b11 ^ (low & high & enable)]


@pytest.mark.parametrize(
    ("nexts", "gates", "wrong", "cycles"),
    [
        ([], [], 0, None),  # nothing is left to prove
        ([2], [], 0, None),
        ([3], [(4, 5)], 6, None),  # a register and its inverse
        ([], [], 1, 1),
        ([], [], 2, 1),
        ([2], [], 4, 2),
        ([2], [(2, 4)], 6, 2),
    ],
)
def test_what_the_solver_says(tmp_path, nexts, gates, wrong, cycles):
    """The cycles of inputs after which the output is 1; None if it never is."""
    Graph(1, nexts, gates, {"wrong": wrong}, {}).write(tmp_path / "equal.aig")
    found = counterexample(tmp_path, 20)
    assert (found and len(found)) == cycles
