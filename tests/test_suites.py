"""What a suite consists of: names, parameters of each engine, and what is refused."""

import pytest

from coprime.catalog import (
    check_settings,
    choose,
    choose_calls,
    choose_suite,
    takes_stream,
    with_source,
)
from coprime.operations.lengths import Lengths
from coprime.random.kinds import RandomSource
from coprime.suites import MOST_ENGINES, SuiteChoice, engine_names

THREE = {"engines": "compact+lattice+lattice", "lattice.sets": "ml-kem-512"}


def refusal(settings):
    with pytest.raises(ValueError) as raised:
        choose_suite(settings)
    return str(raised.value)


def test_engines_of_a_family_are_numbered_from_the_second_on():
    assert engine_names(["lattice", "compact", "lattice", "lattice"]) == (
        *("lattice", "compact", "lattice2", "lattice3"),
    )


def test_each_engine_has_its_own_parameters():
    choice = choose_suite({**THREE, "lattice2.schemes": "ml-dsa", "compact.max_bits": 64})
    assert choice.engines == (
        choose("compact", {"max_bits": 64}),
        choose_calls("lattice", {"sets": "ml-kem-512"}),
        choose_calls("lattice", {"schemes": "ml-dsa"}),
    )
    assert choice.names == ("compact", "lattice", "lattice2")
    assert choice.modules == (
        *("coprime_suite_compact", "coprime_suite_lattice", "coprime_suite_lattice2"),
    )


def test_the_same_engine_twice_is_one_module():
    choice = choose_suite({"engines": "shake+compact+shake"})
    assert choice.modules == (
        *("coprime_suite_shake", "coprime_suite_compact", "coprime_suite_shake"),
    )


def test_the_values_choose_the_same_suite_again():
    choice = choose_suite({**THREE, "lattice2.schemes": "both"})
    assert choose_suite(choice.values) == choice
    assert choice.command("build").startswith(
        "coprime build suite -p engines=compact+lattice+lattice -p compact.max_bits="
    )


def test_an_engine_of_numbers_follows_the_lengths_of_a_key():
    lengths = {0: Lengths(modulus=3000)}
    assert choose_suite({}, lengths).engines[0].values["max_bits"] == 3072
    with pytest.raises(ValueError, match=r"engine compact: .*set -p compact\.max_bits=3072"):
        choose_suite({"compact.max_bits": 512}, lengths)


def test_a_source_is_that_of_all_engines():
    choice = choose_suite({"engines": "compact+shake+lattice"})
    assert takes_stream(choice)
    seeded = with_source(choice, RandomSource.SEEDED)
    assert (seeded.source, takes_stream(seeded)) == (RandomSource.SEEDED, False)
    nothing = choose_suite({"engines": "compact+shake"})
    with pytest.raises(ValueError, match="suite with these parameters draws no random bytes"):
        with_source(nothing, RandomSource.SEEDED)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"engines": "compact"}, f"a suite has 2..{MOST_ENGINES} engines, not 1"),
        ({"engines": "+".join(["shake"] * 33)}, f"2..{MOST_ENGINES} engines, not 33"),
        ({"engines": "compact+latice"}, "no family is called 'latice'; did you mean lattice?"),
        ({"engines": "compact+"}, "no family is called ''"),
        ({"engines": "compact+cluster"}, "a cluster has a bus slave of its own"),
        ({"engines": "suite+compact"}, "a suite has a bus slave of its own"),
        ({"engines": "direct+lattice"}, "direct is made for one modulus"),
        ({"max_bits": "512"}, "name the engine that it is for, such as compact.max_bits"),
        ({"shake.word": "1"}, "the suite has no 'shake', but compact, lattice"),
        ({"lattice.cores": "2"}, "name lattice several times in engines="),
        ({"compact.sets": "1"}, "suite, engine compact: compact has no parameter 'sets'"),
        ({"compact.max_bits": "1"}, "suite, engine compact: max_bits must be"),
        ({"compact.ecdsa": "drawn"}, "suite, engine compact: ecdsa=drawn is for curves="),
    ],
)
def test_what_no_suite_has_is_refused_by_name(settings, text):
    assert text in refusal(settings)
    if "ecdsa" not in text:  # of the design, which is checked as it is chosen
        with pytest.raises(ValueError, match=r"engine|suite|family"):
            check_settings("suite", settings)


def test_where_one_engine_is_taken_a_suite_is_not():
    for refuses in (choose, choose_calls):
        with pytest.raises(ValueError, match="suite has several engines"):
            refuses("suite", {})
    with pytest.raises(ValueError, match="a suite has 2"):
        SuiteChoice((choose("compact", {}),))
