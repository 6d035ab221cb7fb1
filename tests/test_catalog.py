"""The catalogue: designs whose max_bits follows the lengths of what they are to work on."""

import pytest

from coprime.catalog import CLUSTER, FAMILIES, choose, most_bits, settings_for
from coprime.engine.contract import Command
from coprime.operations.lengths import Lengths

ANY_MODULUS = [family for family in FAMILIES.values() if family.sizes]


def names(families):
    return [family.name for family in families]


def test_families_for_one_modulus_have_no_sizes():
    assert set(FAMILIES) - set(names(ANY_MODULUS)) == {"compression", "direct"}
    settings = {"modulus": "kyber"}
    assert choose("direct", settings, Lengths(4096)) == choose("direct", settings)


def test_no_family_takes_more():
    longest = most_bits()
    assert choose("compact", {}, Lengths(longest)).values["max_bits"] == longest == 8192
    for family in ANY_MODULUS:
        with pytest.raises(ValueError, match=f"not {longest + 1}.; no family takes more"):
            choose(family.name, {}, Lengths(longest + 1))


@pytest.mark.parametrize("family", ANY_MODULUS, ids=names(ANY_MODULUS))
def test_max_bits_follows_the_modulus(family):
    """It stays the default while that is enough, then it is the next multiple of 1024."""
    default, *_, longest = family.sizes
    for bits in (64, default, default + 1, 2049, 3072, longest):
        if bits <= longest:
            step = min(-(-bits // 1024) * 1024, longest)
            followed = family.choose({}, Lengths(bits, (bits + 1) // 2, 17))
            assert followed.values["max_bits"] == (default if bits <= default else step)
            assert followed.design.capabilities.max_length >= bits
    assert family.choose({}).values["max_bits"] == default


@pytest.mark.parametrize("family", ANY_MODULUS, ids=names(ANY_MODULUS))
def test_max_bits_follows_the_longest_prime(family):
    """Of a modulus of 2048 bits; each size that was passed over has no room for it."""
    lengths = Lengths(2048, 1500, 17)
    chosen = family.choose({}, lengths)
    assert chosen.design.capabilities.max_prime_length >= 1500
    for bits in family.sizes[: family.sizes.index(chosen.values["max_bits"])]:
        assert not lengths.fit(chosen.of_size(bits).design.capabilities)


def test_max_bits_follows_the_public_exponent_of_a_check():
    assert choose("compact", {}, Lengths(2048, 1024, 1500)).values["max_bits"] == 3072
    assert choose("compact", {}, Lengths(2048, exponent=1500)).values["max_bits"] == 2048


def test_a_cluster_follows_too():
    settings = {"engine": "compact", "cores": "2"}
    assert choose(CLUSTER, settings, Lengths(2000, 1000)).core.values["max_bits"] == 2048


def test_max_bits_that_is_given_stays():
    assert choose("compact", {"max_bits": "1111"}, Lengths(1111)).values["max_bits"] == 1111
    with pytest.raises(
        ValueError, match=r"^compact with max_bits=1111 takes moduli of up to 1111"
    ) as caught:
        choose("compact", {"max_bits": "1111"}, Lengths(1112))
    assert str(caught.value).endswith(" (not 1112); set -p max_bits=2048, or leave it out")
    with pytest.raises(ValueError, match=r"; set sim:fdfm,max_bits=2176, or"):
        choose("fdfm", {"max_bits": "64"}, Lengths(65), option="sim:fdfm,")


def test_longer_than_a_family_takes():
    shortest = min(ANY_MODULUS, key=lambda family: family.sizes[-1])
    longest = max(family.sizes[-1] for family in ANY_MODULUS)
    with pytest.raises(ValueError, match="; these take them: ") as caught:
        choose(shortest.name, {}, Lengths(longest))
    start = f"{shortest.name} with max_bits={shortest.sizes[-1]} takes moduli of up to"
    assert str(caught.value).startswith(start)
    named = str(caught.value).split("these take them: ")[1].split(", ")
    assert named == [family.name for family in ANY_MODULUS if family.sizes[-1] == longest]
    with pytest.raises(ValueError, match="; no family takes more"):
        choose("compact", {}, Lengths(longest + 1))


def test_the_nearest_parameter():
    with pytest.raises(ValueError, match="did you mean max_bits"):
        choose("compact", {"maxbits": "1024"})
    with pytest.raises(
        ValueError, match="compact has no parameter 'x'; it has: max_bits, blinding"
    ):
        choose("compact", {"x": "1"})


def test_family_numbers():
    """Published in the register FAMILY: each is one family's, and a new family takes the next."""
    numbers = {
        name: one.choose({}).design.capabilities.family_number for name, one in FAMILIES.items()
    }
    assert sorted(numbers.values()) == [*range(1, len(FAMILIES) + 1)]
    assert (numbers["fdfm"], numbers["compact"], numbers["direct"], numbers["ring"]) == (
        1,
        8,
        9,
        10,
    )


def test_parameters_are_texts_or_numbers():
    for family in ("fdfm", CLUSTER):
        assert choose(family, {"max_bits": 1024}) == choose(family, {"max_bits": "1024"})
    assert choose(CLUSTER, {"cores": 3, "engine": "compact"}).cores == 3
    assert choose("direct", {"modulus": 3329}) == choose("direct", {"modulus": "3329"})
    given = settings_for("compact", {"max_bits": 256}, Command.X_MULTIPLY)
    assert given == {"curves": "montgomery", "max_bits": "256"}
    ring = choose("ring", {}).family
    assert ring.within_budget({"dsp": 24}) == ring.within_budget({"dsp": "24"})
    with pytest.raises(ValueError, match=r"max_bits must be an integer in 64\.\.8192, not '9'"):
        choose("fdfm", {"max_bits": 9})
    for value in (1024.0, True, None):
        with pytest.raises(TypeError, match=f"max_bits must be a str or an int, not {value}"):
            choose("fdfm", {"max_bits": value})
