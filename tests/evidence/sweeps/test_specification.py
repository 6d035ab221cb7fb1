"""Specifications: what they ask for, and one sentence for each thing that is wrong."""

import itertools
import re
from pathlib import Path

import pytest
from coprime_evidence.papers.published import Computed, Derived, tables
from coprime_evidence.sweeps import specification
from coprime_evidence.sweeps.specification import parse_specification, read_specification
from coprime_evidence.sweeps.specification_names import SPECIFICATIONS

from coprime.catalog import CALL_FAMILIES, FAMILIES, MODULUS
from coprime.flow.part_names import PARTS
from coprime.flow.targets import DEVICES

GOOD = {"families": '"fdfm"', "bits": "64", "operations": '"MODMUL"', "targets": '"xc7"'}


def parse(**keys):
    lines = (f"{key} = {value}" for key, value in (GOOD | keys).items() if value)
    return parse_specification("[[sweep]]\n" + "\n".join(lines))


def sizes(**keys):
    return [point.run.bits for point in parse(**keys)]


def test_product_of_all_lists():
    points = parse(
        bits="[64, 128]",
        operations='["MODMUL", "MODEXP"]',
        exponents='["worst", "random"]',
        targets='["xc7", "ecp5"]',
        parameters="{ max_bits = [128, 256] }",
    )
    # MODMUL has no secret exponent: one workload of it, two of MODEXP.
    assert len(points) == 2 * 3 * 2 * 2
    assert len({point.area for point in points}) == 2 * 2
    assert len({point.run for point in points}) == 2 * 3 * 2
    assert len(set(points)) == len(points)


def test_same_point_twice_is_one():
    text = "[[sweep]]\n" + "\n".join(f"{key} = {value}" for key, value in GOOD.items())
    assert len(parse_specification(f"{text}\n{text}")) == 1


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ("{ from = 64, to = 2048, factor = 2 }", [64, 128, 256, 512, 1024, 2048]),
        ("{ from = 64, to = 90, step = 10 }", [64, 74, 84]),
        ("{ from = 64, to = 66 }", [64, 65, 66]),
        ("{ from = 64, to = 64, factor = 3 }", [64]),
        ("[100, { from = 64, to = 65 }]", [100, 64, 65]),
    ],
)
def test_ranges(bits, expected):
    assert sizes(bits=bits) == expected


def test_parameter_that_follows_the_size():
    points = parse(bits="[64, 256]", parameters='{ max_bits = ["bits", 512] }')
    seen = [(point.run.bits, dict(point.run.parameters)["max_bits"]) for point in points]
    assert seen == [(64, 64), (64, 512), (256, 256), (256, 512)]


def test_names_of_exponentiators():
    points = parse(parameters='{ exponentiator = ["m-ary", "repeated"], max_bits = 64 }')
    seen = [dict(point.run.parameters)["exponentiator"] for point in points]
    assert seen == ["m-ary", "repeated"]
    assert all(point.run.choice.values["max_bits"] == 64 for point in points)


def test_a_modulus_is_text():
    points = parse(
        families='["compression", "montgomery-r2"]',
        bits="31",
        parameters='{ max_bits = 31, modulus = ["vassoler-30", "2^31 - 1"], factor = [1, 3] }',
    )
    seen = [
        tuple(map(dict(point.run.parameters).get, ("modulus", "factor", "max_bits")))
        for point in points
    ]
    assert seen == [
        *itertools.product(("vassoler-30", "2^31 - 1"), (1, 3), (None,)),
        (None, None, 31),
    ]


def test_the_specification_of_compression():
    """What stands beside the thesis's tables, and a part of all that is asked for."""
    points = read_specification("compression")
    assert {point.run.family for point in points} == {"compression", "direct", "montgomery-r2"}
    assert set(points) < set(read_specification("full"))


def test_the_specification_of_what_is_shipped():
    """Every design to choose has both areas; on ecp5 the accelerator's clock over three
    seeds, of `ring` with 18 DSP slices over one. A cluster is stamped."""
    points = read_specification("shipped")
    assert set(points) < set(read_specification("all"))
    assert {point.run.bits for point in points} == {512, 1024, 2048, 3072, 4096}
    assert {point.run.exponents for point in points} == {"random"}
    designs = {
        (target, part): {
            (p.run.family, p.run.parameters, p.run.bits)
            for p in points
            if (p.area.target, p.area.part) == (target, part)
        }
        for target in ("xc7", "ecp5")
        for part in ("engine", "accelerator")
    }
    for target in ("xc7", "ecp5"):
        assert designs[target, "engine"] == designs[target, "accelerator"]
    # On ecp5 one engine of `ring` has all lengths, on xc7 one of its own has the shorter ones.
    of_ecp5, of_xc7 = ({one[:2] for one in designs[each, "engine"]} for each in ("ecp5", "xc7"))
    assert of_ecp5 < of_xc7
    clusters = {point.area for point in points if point.area.part == "cluster"}
    assert {(one.family, one.cores) for one in clusters} == {
        ("fdfm", 52),
        ("compact", 26),
        ("ring", 6),
    }
    for point in points:
        if point.area in clusters:
            assert (point.area.stamped, point.area.route_seeds) == (True, (1, 2, 3, 4))
            assert (point.run.family, point.run.parameters, point.run.bits) in (
                designs["ecp5", "engine"]
            )
            continue
        routed = (point.area.target, point.area.part) == ("ecp5", "accelerator")
        of_one = ("tile", "kara95") in point.area.parameters  # a placement takes many minutes
        seeds = (1,) if of_one else (1, 2, 3)
        assert point.area.route_seeds == (seeds if routed else ())


def test_all_families_do_what_they_can():
    points = parse(
        families='"all"',
        bits="[64, 9999]",
        operations='"all"',
        parameters='{ max_bits = ["bits"] }',
    )
    assert {point.run.family for point in points} == set(FAMILIES)
    assert {point.run.bits for point in points} == {64}


def test_only_ecp5_is_routed():
    points = parse(targets='["xc7", "ecp5", "unit-gate"]', route_seeds="[3, 4]")
    assert [point.area.route_seeds for point in points] == [(), (3, 4), ()]
    assert [point.area.device for point in points] == ["", "LFE5U-25F", ""]
    (unrouted,) = parse(targets='"ecp5"', route="false")
    assert (unrouted.area.route_seeds, unrouted.area.device) == ((), "")


def test_device():
    points = parse(targets='["xc7", "ecp5"]', device='"LFE5U-85F"')
    assert [point.area.device for point in points] == ["", "LFE5U-85F"]


def test_a_multiplier_multiplies():
    points = parse(
        operations="",
        part='"multiplier"',
        exponents='["worst", "random"]',
        bits="[64, 128]",
        targets='["xc7", "unit-gate"]',
    )
    assert [point.area.part for point in points] == ["multiplier"] * 4
    runs = dict.fromkeys(point.run for point in points)
    assert [(run.operation, run.exponents) for run in runs] == [("MULTIPLICATION", "random")] * 2


def test_parts():
    each = [parse(part=f'"{part}"') for part in ("engine", "accelerator")]
    assert parse(part='["engine", "accelerator"]') == [*each[0], *each[1]]
    assert each[0] != each[1]


def test_buses():
    """An engine's cycles are the same on each."""
    both = '["axi4-lite", "axi4"]'
    points = parse(part='"accelerator"', bus=both)
    assert [point.area.bus for point in points] == ["axi4-lite", "axi4"]
    assert points[:1] == parse(part='"accelerator"')
    assert len({point.run for point in points}) == 1
    assert {point.run for point in points} == {point.run for point in parse()}
    clusters = parse(operations='"MODMUL"', bus=both, **CLUSTER)
    assert len(clusters) == 2 * 3


def test_systems():
    """A system's cycles are those of its bus, on any target."""
    points = parse(
        part='"system"',
        bus='["axi4-lite", "axi4"]',
        operations='"MODEXP"',
        targets='["generic", "xc7"]',
        bits="[512, 2049]",
    )
    assert [(one.area.target, one.run.system_bus) for one in points[:4]] == [
        (target, bus) for bus in ("axi4-lite", "axi4") for target in ("generic", "xc7")
    ]
    assert len({point.run for point in points[:4]}) == 2
    assert [point.refusal is None for point in points] == [True] * 4 + [False] * 4
    assert points[4].refusal == "the system's firmware exponentiates up to 2048 bits, not 2049"


CLUSTER = {"part": '"cluster"', "cores": "[1, { from = 8, to = 64, factor = 8 }]"}


def test_a_cluster_has_cores():
    points = parse(operations='["MODMUL", "MODEXP"]', targets='["xc7", "ecp5"]', **CLUSTER)
    assert len(points) == 3 * 2 * 2
    areas = dict.fromkeys(point.area for point in points)
    assert [(area.part, area.target, area.cores) for area in areas] == [
        ("cluster", target, cores) for target in ("xc7", "ecp5") for cores in (1, 8, 64)
    ]
    assert [area.route_seeds for area in areas] == [()] * 3 + [(1,)] * 3
    assert next(iter(areas)).built.command("build") == (
        "coprime build cluster -p engine=fdfm -p cores=1 -p max_bits=2176 -p multipliers=1"
        " -p exponentiator=left-to-right -p window=4"
    )
    # What it does is what an engine by itself does: each operation is measured once.
    (engine,) = {point.run for point in parse(operations='"MODMUL"')}
    assert {point.run for point in points if point.run.operation == "MODMUL"} == {engine}
    (alone,) = {point.area for point in parse()}
    assert (alone.cores, alone.built) == (0, alone.choice)


def test_a_stamped_cluster():
    (point,) = parse(
        operations='"MODMUL"',
        targets='"ecp5"',
        part='"cluster"',
        cores="12",
        link_registers="1",
        stamp="true",
        route_seeds="[5, 2]",
    )
    area = point.area
    assert (area.cores, area.link_registers, area.stamped) == (12, 1, True)
    assert area.route_seeds == (5, 2)
    assert area.built.values["link_registers"] == 1


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            {"link_registers": "1"},
            "'link_registers' is for the part 'cluster': part 'engine' has none",
        ),
        (
            {"stamp": "true"},
            "stamp is for the part 'cluster', placed and routed on ecp5 only",
        ),
        (
            {**CLUSTER, "targets": '["xc7", "ecp5"]', "stamp": "true"},
            "stamp is for the part 'cluster', placed and routed on ecp5 only",
        ),
        (
            {**CLUSTER, "link_registers": "3"},
            "link_registers must be an integer in",
        ),
    ],
)
def test_what_only_a_cluster_has(keys, expected):
    with pytest.raises(ValueError, match=f"^{expected}"):
        parse(operations='"MODMUL"', **{"targets": '"ecp5"', **keys})


def test_the_specification_of_the_report():
    points = read_specification("all")
    assert {point.run.family for point in points} == {*FAMILIES, *CALL_FAMILIES}
    points = [point for point in points if point.run.family in FAMILIES]
    fields = {255, 256, 384, 448, 521}
    assert {point.run.bits for point in points} - fields == {
        *(32, 64, 128, 512, 1024, 2048, 3072, 4096)
    }
    assert {point.area.target for point in points} == {"xc7", "ecp5", "unit-gate", "generic"}
    assert {point.run.exponents for point in points} == {"worst", "random"}
    parts = {point.area.part for point in points}
    assert parts == {"engine", "accelerator", "multiplier", "cluster", "system"}
    assert {point.area.part for point in read_specification("full")} == {
        *(*PARTS, "cluster", "system")
    }
    clusters = [point for point in points if point.area.part == "cluster"]
    of_paper = [point for point in clusters if point.area.target == "xc7"]
    assert sorted(point.area.node for point in of_paper) == ["full", "lean"]
    assert {point.area.cores for point in of_paper} == {320}
    assert all(point.area.stamped for point in clusters if point not in of_paper)


OF_CALLS = {"families": '"lattice"', "operations": '"ML_KEM_KEY_PAIR"', "targets": '"xc7"'}


def test_engines_of_byte_strings_have_parameter_sets():
    def points(**keys):
        lines = "".join(f"{name} = {value}\n" for name, value in (OF_CALLS | keys).items())
        return parse_specification(f"[[sweep]]\n{lines}")

    every = points()
    assert [point.run.parameter_set for point in every] == [
        *("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024")
    ]
    assert {(point.run.bits, point.area.part) for point in every} == {(0, "engine")}
    assert points(sets='"ML-KEM-768"') == every[1:2]
    one = points(parameters='{ sets = "ml-kem-768" }')
    assert [point.run.parameter_set for point in one] == ["ML-KEM-768"]
    shake = points(families='"shake"', operations='"all"', bits="[800, 8192]")
    assert len({(point.run.operation, point.run.bits) for point in shake}) == 6 * 2
    for keys, message in (
        ({"sets": '"ML-KEM-769"'}, "lattice has the parameter sets ML-KEM-512, "),
        ({"operations": '"MODEXP"'}, "lattice has no call 'MODEXP'; "),
        (
            {"bits": "512"},
            "ML_KEM_KEY_PAIR takes no stream of any length: leave the key 'bits' out",
        ),
        (
            {"part": '"cluster"', "cores": "2"},
            "part 'cluster' is of engines of numbers, not of byte strings",
        ),
        (
            {"families": '"shake"', "operations": '"SHA3_256"'},
            "SHA3_256 takes a stream: name its length in bits with the key 'bits'",
        ),
        (
            {"families": '"fdfm"', "operations": '"MODEXP"', "sets": '"ML-KEM-512"'},
            "sets are of engines of byte strings: engines of numbers have none",
        ),
        ({"families": '"fdfm"'}, r"\[\[sweep\]\] must have the key 'bits'"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            points(**keys)


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_the_page_counts_their_points(name):
    page = Path(__file__).parents[3].joinpath("docs", "sweeps.md").read_text("utf-8")
    (printed,) = re.findall(rf"^\| `{name}` \| ([\d,]+) \|", page, re.MULTILINE)
    assert int(printed.replace(",", "")) == len(read_specification(name))


def test_the_full_specification_asks_for_more():
    some, points = read_specification("all"), read_specification("full")
    assert set(some) < set(points)
    routed = {point.area for point in points if point.area.device == "LFE5U-85F"}
    engines = {
        # One that is made for a modulus has that of 64 bits.
        (area.family, parameters.get("max_bits", 64), parameters.get("multipliers", 1))
        for area in routed - {point.area for point in some}
        for parameters in [dict(area.parameters)]
        if area.part == "engine"
    }
    fixed = {name for name, one in FAMILIES.items() if MODULUS in one.choose({}).values}
    assert fixed == {"compression", "direct"}
    assert engines == {
        *itertools.product(
            FAMILIES.keys() - fixed - {"compact", "montgomery-r2"},
            (64, 128, 256, 512, 1024),
            (1, 2),
        ),
        *itertools.product({"compact", "montgomery-r2"}, (64, 128, 256, 512, 1024), (1,)),
        *itertools.product({"montgomery-r2"}, (15, 16, 31, 32, 64, 128, 256, 512, 1024), (2,)),
        *itertools.product(fixed, (64,), (1, 2)),
    } - {
        # Those of BITSERIAL's Table 3 are in `all`, too.
        (family, 1024, multipliers)
        for family in ("montgomery-2csa", "montgomery-1csa", "interleaved-csa")
        for multipliers in (1, 2)
    }
    clusters = [area for area in routed if area.part == "cluster"]
    assert {area.cores for area in clusters if not area.stamped} == {1, 8}


def matches(source, planned):
    """Whether a point will have what a figure is compared with."""
    area, run = planned.area, planned.run
    device = DEVICES[area.device].title if area.device else None
    routed = source.column in ("fmax_mhz", "milliseconds", "area_time")
    return (
        (area.family, run.bits, run.operation) == (source.family, source.bits, source.operation)
        and (area.part, area.cores, area.bus) == (source.part, source.cores, source.bus)
        and area.node == source.node
        and source.exponents in (None, run.exponents)
        and source.target in (None, area.target)
        and source.device in (None, device)
        and not (routed and device is None)
        and source.fits(dict(area.parameters))
    )


FOUR = ("FDFM", "BITSERIAL", "COMPRESSION", "KARATSUBA")
"""The papers whose circuits the families are."""


def missing_figures(name, papers):
    """What these papers' tables want to be measured, and the specification does not ask for."""
    points = read_specification(name)
    sources = {
        id(one): one
        for table in tables()
        if table.paper.name in papers
        for row in table.rows
        for found in row.here.values()
        for source in found
        if not isinstance(source, Derived)
        for one in (source.of if isinstance(source, Computed) else (source,))
    }
    assert len(sources) > 20
    return [
        (one.family, one.bits, one.column, one.part, one.operation)
        for one in sources.values()
        if not any(matches(one, point) for point in points)
    ]


@pytest.mark.parametrize("paper", FOUR)
def test_every_figure_of_the_four_papers_is_in_papers(paper):
    assert missing_figures("papers", [paper]) == []


def test_papers_of_curves_find_their_figures():
    others = {table.paper.name for table in tables()} - set(FOUR)
    assert missing_figures("all", others) == []


def test_papers_asks_for_what_a_figure_uses():
    """Each design of papers.toml; compression.toml has parts that no figure is compared with."""
    (name, _) = SPECIFICATIONS["papers"]
    points = parse_specification(
        Path(specification.__file__).with_name(f"{name}.toml").read_text("utf-8")
    )
    sources = [
        one
        for table in tables()
        if table.paper.name in FOUR
        for row in table.rows
        for found in row.here.values()
        for source in found
        if not isinstance(source, Derived)
        for one in (source.of if isinstance(source, Computed) else (source,))
    ]
    unused = [p for p in points if not any(matches(one, p) for one in sources)]
    assert unused == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"target": "1"}, "has no key 'target'; did you mean targets"),
        (
            {"families": '"compact"', "parameters": '{ curves = "all", nonce = "random" }'},
            "compact does not take nonce=random; use ecdsa=drawn",
        ),
        ({"zzz": "1"}, "has no key 'zzz'; there are: families"),
        ({"bits": ""}, r"\[\[sweep\]\] must have the key 'bits'"),
        ({"families": '"fdfn"'}, "no family is called 'fdfn'; did you mean fdfm"),
        ({"families": "[]"}, "families must have at least one value"),
        ({"families": "7"}, "families must be text, not 7"),
        ({"parameters": "{ max_bit = 64 }"}, "no key 'max_bit'; did you mean max_bits"),
        ({"parameters": "{ max_bits = 63 }"}, r"fdfm: max_bits must be an integer in 64\.\.8192"),
        ({"parameters": '{ max_bits = "x" }'}, "max_bits must be an integer or a range, not 'x'"),
        (
            {"parameters": '{ exponentiator = "m-arry" }'},
            "exponentiator has no value 'm-arry'; did you mean m-ary",
        ),
        ({"parameters": "{ exponentiator = 4 }"}, "exponentiator must be text, not 4"),
        (
            {"families": '"compression"', "parameters": "{ modulus = 15 }"},
            "modulus must be text, not 15",
        ),
        (
            {"families": '"compression"', "parameters": '{ modulus = "vassoler-31" }'},
            "compression: no modulus is called 'vassoler-31'",
        ),
        ({"parameters": "7"}, "parameters must be a table of names and values, not 7"),
        ({"bits": "9000", "parameters": '{ max_bits = "bits" }'}, r"64\.\.8192, not '9000'"),
        ({"bits": "-1"}, "bits must be 1 or more, not -1"),
        ({"bits": "true"}, "bits must be an integer or a range, not True"),
        ({"bits": "6.5"}, "bits must be an integer or a range, not 6.5"),
        ({"bits": "{ from = 64 }"}, "a range of bits must have the key 'to'"),
        ({"bits": "{ from = 64, to = 65, step = 1, factor = 2 }"}, "one of step and factor"),
        ({"bits": "{ from = 64, to = 65, stop = 1 }"}, "has no key 'stop'; did you mean step"),
        ({"bits": "{ from = 65, to = 64 }"}, "must not go from 65 down to 64"),
        ({"bits": "{ from = 64, to = 65, step = 0 }"}, "step of bits must be 1 or more, not 0"),
        ({"bits": "{ from = 64, to = 65, factor = 1 }"}, "factor >= 2"),
        ({"operations": '"modexp"'}, "'modexp'; did you mean MODEXP"),
        ({"operations": '"WIPE"'}, "operations has no value 'WIPE'"),
        ({"targets": '"xc8"'}, "targets has no value 'xc8'; did you mean xc7"),
        ({"exponents": '"best"'}, "exponents has no value 'best'"),
        ({"part": '"accelerator"', "targets": '"unit-gate"'}, "part must be 'engine' or 'multip"),
        ({"part": '"multiplayer"'}, "part has no value 'multiplayer'; did you mean multiplier"),
        ({"part": '"multiplier"'}, "part 'multiplier' multiplies: it takes no operations"),
        ({"part": '"reduction"'}, "part 'reduction' reduces words: it takes no operations"),
        (
            {"part": '"word-multiplier"', "operations": ""},
            "fdfm is not for one modulus: it has no part word-multiplier",
        ),
        ({"part": '"multiplier"', "operations": "", "bits": ""}, "must have the key 'bits'"),
        ({"cores": "8"}, "'cores' is for the part 'cluster': part 'engine' has none"),
        ({"cores": "8", "part": '"accelerator"'}, "part 'accelerator' has none"),
        ({"part": '"cluster"'}, r"\[\[sweep\]\] must have the key 'cores'"),
        (CLUSTER | {"cores": "0"}, r"cores must be an integer in 1\.\.1023, not '0'"),
        (CLUSTER | {"cores": "1024"}, r"cores must be an integer in 1\.\.1023, not '1024'"),
        (CLUSTER | {"cores": "[]"}, "cores must have at least one value"),
        (CLUSTER | {"cores": '"all"'}, "cores must be an integer or a range, not 'all'"),
        (CLUSTER | {"operations": ""}, "must have the key 'operations'"),
        (CLUSTER | {"targets": '"unit-gate"'}, "part must be 'engine' or 'multiplier'"),
        (
            {"bus": '"axi4"'},
            "bus is of the parts 'accelerator', 'cluster', 'system': part 'engine' has none",
        ),
        ({"bus": '"axi5"', "part": '"accelerator"'}, "bus has no value 'axi5'; did you mean axi4"),
        ({"part": '"system"'}, "part 'system' does MODEXP only"),
        ({"targets": '"generic"'}, "the target generic has no area: it is for the part 'system'"),
        (
            {"part": '"system"', "operations": '"MODEXP"', "targets": '"unit-gate"'},
            "part must be 'engine' or 'multiplier'",
        ),
        ({"part": '"clusters"'}, "part has no value 'clusters'; did you mean cluster"),
        ({"device": '"LFE5U-25"', "targets": '"ecp5"'}, "did you mean LFE5U-25F"),
        ({"device": '"LFE5U-85F"'}, "device LFE5U-85F is of no target that is placed"),
        (
            {"device": '"LFE5U-85F"', "targets": '"ecp5"', "route": "false"},
            "device LFE5U-85F is of no target that is placed and routed here",
        ),
        ({"route": "1"}, "route must be true or false, not 1"),
        ({"route_seeds": "[-1]"}, "route_seeds must be 0 or more, not -1"),
        ({"operand_seed": "[1, 2]"}, r"operand_seed must be one integer, not \[1, 2\]"),
        ({"simulate_cycles": "-5"}, "simulate_cycles must be 0 or more, not -5"),
    ],
)
def test_errors(keys, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse(**keys)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"there must be at least one table \[\[sweep\]\]"),
        ("sweep = 1", r"there must be at least one table \[\[sweep\]\]"),
        ("[[sweeps]]", "the file has no key 'sweeps'; did you mean sweep"),
        ("[[sweep", "line 1|end of document"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_specification(str(path))
    assert str(caught.value).startswith(f"{path}: ")


LINES = """# two tables
[[sweep]]
families = "compact"
bits = 64
operations = "MODMUL"
targets = "xc7"

[[sweep]]  # the second one
families = "ring"  # targets = "none"
bits = 64
operations = "MODMUL"
targets = "xc7"
parameters = { max_bits = 64, window = 4 }
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('operations = "MODMUL"\ntargets = "xc7"\n\n', 'operations = "MODML"\n\n', 5),
        ('bits = 64\noperations = "MODMUL"\ntargets = "xc7"\nparam', "bits = 0\nparam", 10),
        ('targets = "xc7"\nparameters', 'targets = "xc8"\nparameters', 12),
        ("window = 4", "windw = 4", 13),
        ("max_bits = 64", 'max_bits = "many"', 13),
        ("parameters = { max_bits = 64, window = 4 }", "[sweep.parameters]\nwindw = 4", 14),
        ("parameters = { max_bits = 64, window = 4 }", "bit = 5", 13),
        ("max_bits = 64", "max_bits = 9999999", 8),  # the table, as no key alone is wrong
        ('targets = "xc7"\nparameters', "parameters", 8),  # as the key is missing
        ("# two tables", "[[sweeps]]", 1),
        ("# two tables", "\nstamp = true", 2),
        ("window = 4 }", "window = }", 13),
        ("window = 4 }", "window = 4", 13),
    ],
)
def test_an_error_names_its_line(old, new, line):
    assert LINES.count(old) == 1
    with pytest.raises(ValueError, match=rf"line {line}\b"):
        parse_specification(LINES.replace(old, new))
    assert parse_specification(LINES)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_specification(str(tmp_path / "none.toml"))


def test_file_that_is_not_text(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"spec\.toml is not text in UTF-8"):
        read_specification(str(path))


def test_a_modulus_may_follow_the_size():
    points = parse_specification(
        """
        [[sweep]]
        families = ["compression"]
        parameters = { modulus = ["2^{bits} - 1", "2^{bits} + 1"], factor = 1 }
        bits = [8]
        operations = "MODMUL"
        targets = "unit-gate"
        """
    )
    assert [dict(point.area.parameters)["modulus"] for point in points] == ["2^8 - 1", "2^8 + 1"]
