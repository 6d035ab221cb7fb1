"""Where byte strings lie."""

from itertools import combinations

import pytest

from coprime.lattice.memory.places import words_needed
from coprime.lattice.programs.places import ml_kem_places
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS

CHOICES = [ML_KEM_SETS[:1], ML_KEM_SETS[:2], ML_KEM_SETS, ML_KEM_SETS[2:]]
INSIDE = {
    "dk": {"dk_s", "dk_ek", "dk_t", "dk_rho", "dk_hash", "sigma", "dk_z"},
    "dk_ek": {"dk_t", "dk_rho"},
    "ek": {"ek_t", "ek_rho"},
    "c": {"c", "c_v"},
    "z_and_c": {"dk_z", "c"},
    "rho_and_sigma": {"dk_rho", "dk_hash", "sigma"},
    "key_and_coins": {"key", "coins", "scratch"},
}
OVERLAPPING = {("dk_hash", "sigma"), ("coins", "scratch")}
SLOTS = ("d", "z", "ek", "dk", "m", "c", "key")


@pytest.mark.parametrize("sets", CHOICES, ids=len)
def test_lengths_are_those_of_the_standard(sets):
    places = ml_kem_places(sets)
    for number, one in enumerate(sets):
        lengths = {
            "dk": one.dk_bytes,
            "ek": one.ek_bytes,
            "c": one.ciphertext_bytes,
            **dict.fromkeys(("d", "z", "m", "key", "coins", "refusal", "dk_rho", "dk_hash"), 32),
        }
        for name, length in lengths.items():
            assert 4 * places[name].words[number] == length, name


@pytest.mark.parametrize("sets", CHOICES, ids=len)
def test_places_overlap_only_as_they_are_meant_to(sets):
    places = ml_kem_places(sets)

    def words(name, number):
        start = places[name].addresses[number]
        return set(range(start, start + places[name].words[number]))

    leaves = [name for name in places if name not in INSIDE]
    for number in range(len(sets)):
        for one, other in combinations(leaves, 2):
            if (one, other) not in OVERLAPPING and (other, one) not in OVERLAPPING:
                assert not words(one, number) & words(other, number), (one, other)
        for name, parts in INSIDE.items():
            union = set().union(*(words(part, number) for part in parts))
            assert words(name, number) == union, name
        assert max(max(words(name, number)) for name in places) < words_needed(places)


@pytest.mark.parametrize("sets", CHOICES, ids=len)
def test_addresses_are_whole_seeds(sets):
    for name, place in ml_kem_places(sets).items():
        for address, words in zip(place.addresses, place.words, strict=True):
            assert address % 8 == words % 8 == 0, name
            assert words != 16 or address % 16 == 0, name


@pytest.mark.parametrize("sets", CHOICES, ids=len)
def test_slots_share_no_word(sets):
    places = ml_kem_places(sets)
    for number in range(len(sets)):
        words = [
            word
            for name in SLOTS
            for word in range(
                places[name].addresses[number],
                places[name].addresses[number] + places[name].words[number],
            )
        ]
        assert len(set(words)) == len(words)


def test_the_keys_of_genuine_and_refused_ciphertexts_differ_in_one_bit():
    places = ml_kem_places(ML_KEM_SETS)
    difference = places["key"].addresses[0] ^ places["refusal"].addresses[0]
    assert difference.bit_count() == 1
    assert not places["key"].addresses[0] & difference


def test_words_of_the_byte_memory():
    """As many as two RAMB36E1 have, at most."""
    assert words_needed(ml_kem_places(ML_KEM_SETS)) == 1648 <= 2048
    assert words_needed(ml_kem_places(ML_KEM_SETS[:1])) <= 1024
