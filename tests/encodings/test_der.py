"""DER beside `cryptography`'s and by hand."""

import itertools
import random

import pytest

from coprime.encodings import der
from tests.encodings import by_hand


@pytest.mark.parametrize("length", [0, 1, 127, 128, 255, 256, 65535, 65536])
def test_lengths(length):
    content = bytes(length)
    made = der.octet_string(content)
    assert made == by_hand.octets(content)
    assert der.read(made).octets() == content
    with pytest.raises(ValueError, match=r"longer than what contains it|within its length"):
        der.read(made[:-1])
    with pytest.raises(ValueError, match=r"2 elements|ends within"):
        der.read(made + made)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, (1 << 4096) - 1])
def test_numbers(value):
    assert der.integer(value) == by_hand.number(value)
    assert der.read(der.integer(value)).number() == value


@pytest.mark.parametrize("content", ["80", "00ff", "0000ff", "ff"])
def test_a_zero_for_the_sign_may_be_missing_or_one_too_many(content):
    """Of a number that has no sign; another one has to be as DER has it."""
    data = bytes.fromhex(content)
    assert der.read(by_hand.element(2, data)).unsigned() == int.from_bytes(data)
    if content == "00ff":
        assert der.read(by_hand.element(2, data)).number() == 0xFF
        return
    with pytest.raises(ValueError, match="has a sign, or zeros in front of it"):
        der.read(by_hand.element(2, data)).number()


@pytest.mark.parametrize("text", ["048100", "04817f" + 127 * "00", "04820080" + 128 * "00", "0480"])
def test_lengths_that_are_not_der(text):
    with pytest.raises(ValueError, match=r"more bytes than it needs|no definite length"):
        der.read(bytes.fromhex(text))


def test_a_name_that_is_not_der():
    with pytest.raises(ValueError, match="a number with zeros in front of it"):
        der.read(by_hand.element(6, bytes.fromhex("2a8086480d"))).name()


def test_an_integer_without_bytes():
    with pytest.raises(ValueError, match="has a sign, or zeros"):
        der.read(by_hand.element(2, b"")).number()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("1.2.840.10045.3.1.7", "2a8648ce3d030107"),
        ("1.3.101.110", "2b656e"),
        ("2.16.840.1.101.3.4.1.42", "60864801650304012a"),
        ("2.999.1", "883701"),
        ("0.0", "00"),
    ],
)
def test_names(name, content):
    element = by_hand.element(6, bytes.fromhex(content))
    assert der.read(element).name() == name
    assert der.object_identifier(name) == element


def test_what_is_something_else():
    number = der.read(der.integer(1))
    for wrong in (number.octets, number.bits, number.name, number.parts):
        with pytest.raises(ValueError, match="is needed, and the tag is 0x2"):
            wrong()
    with pytest.raises(ValueError, match="whole bytes"):
        der.read(by_hand.element(3, b"\1\2")).bits()
    with pytest.raises(ValueError, match="ends within a number"):
        der.read(by_hand.element(6, b"\x2a\x86")).name()


def test_no_bytes_give_another_error():
    """All of up to two bytes, with more after them, and many drawn ones."""
    generator = random.Random(5)
    short = (bytes(one) + bytes(3) for one in itertools.product(range(256), repeat=2))
    drawn = (generator.randbytes(generator.randrange(40)) for _ in range(20_000))
    read = 0
    for data in itertools.chain(short, drawn):
        try:
            for one in der.elements(data):
                assert one.encoded
                read += 1
                one.parts()
        except ValueError as error:
            assert str(error)
    assert read > 500
