"""What is no longer a parameter, or a value of one: the error names what has taken its place."""

import pytest

from coprime.catalog import FAMILIES, choose
from coprime.engine.former_parameters import check_former

ON_OTHERS = "does not take curves=weierstrass; use compact or ring, which also check their results"


@pytest.mark.parametrize("family", [one for one in FAMILIES if one not in ("compact", "ring")])
def test_curves_of_other_families(family):
    with pytest.raises(ValueError, match=f"^{family} {ON_OTHERS}$"):
        choose(family, {"curves": "weierstrass"})
    with pytest.raises(ValueError, match=f"^{family} {ON_OTHERS}$"):
        choose("cluster", {"engine": family, "curves": "weierstrass"})


@pytest.mark.parametrize("family", ["compact", "ring"])
@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("blinding", "both", "use blinding=all, which blinds base"),
        ("nonce", "host", "use ecdsa=host, the default"),
        ("nonce", "random", "use ecdsa=drawn"),
        *(("base_multiple", one, "leave it out, since k G") for one in ("once", "verified")),
        ("scalar_blinding", "0", "leave it out, since that is so with ecdsa=host and drawn"),
        ("scalar_blinding", "64", "use ecdsa=hardened, which blinds with half"),
        ("private_key", "plain", "leave it out, since that is so with ecdsa=host and drawn"),
        ("private_key", "shares", "use ecdsa=hardened"),
    ],
)
def test_what_has_another_name(family, name, value, remedy):
    with pytest.raises(ValueError, match=f"^{family} does not take {name}={value}; {remedy}"):
        choose(family, {"curves": "weierstrass", name: value})


@pytest.mark.parametrize("family", ["fdfm", "karatsuba"])
def test_another_family_never_had_them(family):
    with pytest.raises(ValueError, match=f"{family} has no parameter 'nonce'"):
        choose(family, {"nonce": "random"})


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_takes_is_no_former_parameter(family):
    known = {one.name: one for one in FAMILIES[family].settings}
    for one in known.values():
        for value in getattr(one, "choices", ("1",)):
            check_former(family, known, one.name, value)


def test_a_name_that_never_was_is_unknown():
    with pytest.raises(ValueError, match="compact has no parameter 'curve'; did you mean curves"):
        choose("compact", {"curve": "weierstrass"})
