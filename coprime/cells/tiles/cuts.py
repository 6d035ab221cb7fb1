"""How words, and differences of words, are cut into digits that a DSP slice multiplies."""

from collections.abc import Sequence
from itertools import accumulate

from amaranth.hdl import Value


def cut(word: Value, digits: Sequence[int]) -> list[Value]:
    """The digits of a word, as wide as `digits` says; the highest one has all that remains.

    If the word is signed, so is the highest digit.
    """
    *lower, highest = accumulate(digits[:-1], initial=0)
    found = [word[low : low + bits] for low, bits in zip(lower, digits[:-1], strict=True)]
    top = word[highest:]
    return [*found, top.as_signed() if word.shape().signed else top]


def differences(word_0: Value, word_1: Value, digits: Sequence[int]) -> list[Value]:
    """Digits of word_0 - word_1, each the difference of two digits: no carry leaves a digit."""
    pairs = zip(cut(word_0, digits), cut(word_1, digits), strict=True)
    return [digit_0 - digit_1 for digit_0, digit_1 in pairs]
