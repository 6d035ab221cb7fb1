"""Programs that are refused, and what is in an assembled one."""

import pytest

from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side.instructions import (
    Destination,
    InstructionKind,
    Over,
    SpongeProgram,
    Tail,
    output_words,
)
from coprime.model.keccak import FUNCTIONS

SETS = (2, 3)


def program():
    return SpongeProgram(SETS, SETS, SETS)


def place(address, words):
    return BytePlace((address,) * 2, (words,) * 2)


SEED = place(16, 8)


def uniform(made):
    first = made.sample_uniform()
    made.absorb(SEED)
    made.tail(Tail.COLUMN_ROW)
    return first


def test_a_tail_needs_a_range():
    made = program()
    with pytest.raises(ValueError, match=r"a tail must follow a range: absorb one first"):
        made.tail(Tail.NONCE)
    made.sample_uniform()
    with pytest.raises(ValueError, match=r"a tail must follow a range"):
        made.tail(Tail.NONCE)


def test_nothing_but_messages_may_follow_a_uniform_polynomial():
    made = program()
    uniform(made)
    made.draw(SEED, 0)
    with pytest.raises(ValueError, match=r"instruction 2, DRAW, must settle"):
        made.assemble()
    made = program()
    uniform(made)
    made.settle()
    made.draw(SEED, 0)
    made.end()
    made.assemble()


def test_a_loop_leads_to_what_may_not_follow():
    made = program()
    draws = made.draw(SEED, 0)
    uniform(made)
    made.loop(Over.ROWS, draws)
    made.end()
    with pytest.raises(ValueError, match=r"instruction 0, DRAW, must settle"):
        made.assemble()


@pytest.mark.parametrize(
    ("address", "words"), [(4, 8), (8, 12), (8, 16), (24, 16), (0, 0)], ids=str
)
def test_ranges_are_whole_seeds(address, words):
    made = program()
    made.absorb(place(address, words), last=True)
    with pytest.raises(ValueError, match=r"a range must have whole seeds of 8 words"):
        made.assemble()


def test_an_output_of_bytes_is_one_or_two_seeds():
    made = program()
    made.hash("SHAKE256", place(0, 24))
    with pytest.raises(ValueError, match=r"an output must have at most 16 words, not 24"):
        made.assemble()


def test_a_table_has_room_for_16_ranges():
    made = program()
    for k in range(17):
        made.absorb(place(8 * k, 8), last=True)
    with pytest.raises(ValueError, match=r"at most 16 different ranges"):
        made.assemble()


def test_lengths_of_outputs():
    def found(into, repeats=0, units=1):
        return 4 * output_words(into, repeats, units, 8)

    for repeats in range(4):
        assert found(Destination.UNIFORM, repeats) == (3 + repeats) * FUNCTIONS[4].rate_bytes
        assert found(Destination.LARGE_UNIFORM, repeats) == (5 + repeats) * FUNCTIONS[4].rate_bytes
        assert found(Destination.BALL_49, repeats) == (1 + repeats) * FUNCTIONS[5].rate_bytes
    assert found(Destination.BINOMIAL_2) == 64 * 2
    assert found(Destination.BINOMIAL_3) == 64 * 3
    assert found(Destination.MASK_20) == 32 * 20
    assert [found(Destination.BYTES, units=units) for units in (1, 2)] == [32, 64]


def test_a_long_program_has_labels_of_more_bits():
    made = program()
    for _ in range(69):
        made.settle()
    made.end()
    assembled = made.assemble()
    assert assembled.counter_bits == 7
    assert all(word >> 8 & 127 == k + 1 for k, word in enumerate(assembled.words[:69]))
    assert made.instructions[-1].kind is InstructionKind.END
