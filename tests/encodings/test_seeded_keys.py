"""The three forms, beside elements made by hand."""

import pytest

from coprime.encodings.errors import KeyFileError
from coprime.encodings.seeded_keys import SeededKey
from tests.encodings import by_hand

SEED, EXPANDED = bytes(range(64)), bytes(range(200)) * 8
FORMS = {
    "seed": (SEED, None, by_hand.element(0x80, SEED)),
    "expanded": (None, EXPANDED, by_hand.octets(EXPANDED)),
    "both": (SEED, EXPANDED, by_hand.sequence(by_hand.octets(SEED), by_hand.octets(EXPANDED))),
}
NO_FORM = "the private key in the file is neither a seed nor an expanded key nor both"


def read(data):
    return SeededKey.read(data, seed_bytes=len(SEED), expanded_bytes=len(EXPANDED))


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    seed, expanded, encoded = FORMS[form]
    key = read(encoded)
    assert (key.seed, key.expanded, key.encoded) == (seed, expanded, encoded)
    assert repr(key) == "SeededKey()"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        by_hand.number(7),
        by_hand.element(0xA0, by_hand.octets(SEED)),  # an explicit tag
        by_hand.element(0x81, SEED),
        by_hand.sequence(by_hand.octets(SEED)),
        by_hand.sequence(*[by_hand.octets(SEED)] * 3),
        by_hand.sequence(by_hand.octets(SEED), by_hand.number(1)),
        by_hand.element(0x80, SEED)[:-1],
        by_hand.element(0x80, SEED) + b"\0",
    ],
    ids=lambda data: data[:4].hex(),
)
def test_other_forms_are_refused(data):
    with pytest.raises(KeyFileError) as found:
        read(data)
    assert str(found.value) == NO_FORM


@pytest.mark.parametrize("data", [SEED, EXPANDED], ids=["seed", "expanded"])
def test_bytes_without_a_form_are_named(data):
    with pytest.raises(KeyFileError, match=f"is {len(data):,} bytes without a form"):
        read(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (by_hand.element(0x80, SEED[1:]), "the seed in the file has 63 bytes"),
        (by_hand.octets(EXPANDED[1:]), "the expanded key in the file has 1,599 bytes"),
        (
            by_hand.sequence(by_hand.octets(SEED[:32]), by_hand.octets(EXPANDED)),
            "the seed in the file has 32 bytes, and with its algorithm it would have 64",
        ),
        (
            by_hand.sequence(by_hand.octets(SEED), by_hand.octets(b"")),
            "the expanded key in the file has 0 bytes, and with its algorithm it would have 1,600",
        ),
    ],
)
def test_lengths(data, text):
    with pytest.raises(KeyFileError, match=text):
        read(data)
