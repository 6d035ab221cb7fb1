"""Samples that anyone can make again, with what NIST's program finds in them."""

import hashlib

import numpy as np

SIZE = 100_000


def _bytes(name):
    return np.frombuffer(hashlib.shake_256(name.encode()).digest(SIZE), dtype=np.uint8)


def fair():
    return _bytes("fair") & 1


def biased():
    return (_bytes("biased") < 200).astype(np.uint8)


def correlated():
    """Each sample is the one seven before it, three times out of four."""
    found, new, keeps = fair().copy(), _bytes("new") & 1, _bytes("keeps") < 192
    for place in range(7, SIZE):
        found[place] = found[place - 7] if keeps[place] else new[place]
    return found


def persistent():
    """Each sample differs from the one before with a probability of a fifth."""
    return (np.cumsum(_bytes("persistent") < 51) & 1).astype(np.uint8)


SAMPLES = {one.__name__: one for one in (fair, biased, correlated, persistent)}
NIST = {
    "fair": (
        0.987609,
        0.812044,
        0.999127,
        0.757022,
        0.920781,
        0.981364,
        0.988507,
        0.985908,
        0.985837,
        0.994362,
    ),
    "biased": (
        0.353417,
        0.349666,
        0.358994,
        0.210912,
        0.351802,
        0.600921,
        0.353377,
        0.600496,
        0.353444,
        0.353486,
    ),
    "correlated": (
        0.982754,
        0.610108,
        0.984328,
        0.679382,
        0.303434,
        0.430049,
        0.475848,
        0.187528,
        0.190023,
        0.475864,
    ),
    "persistent": (
        0.973518,
        0.162957,
        0.319317,
        0.208808,
        0.310534,
        0.532734,
        0.454399,
        0.311915,
        0.311918,
        0.311953,
    ),
}
"""What NIST's program SP800-90B_EntropyAssessment (of 2020, `ea_non_iid -i -a -v FILE 1`) prints of
these samples, in the order of ORDER."""
ORDER = (
    "most common value",
    "collision",
    "Markov",
    "compression",
    "t-tuple",
    "longest repeated substring",
    "most common in window",
    "lag",
    "multiple Markov models",
    "LZ78Y",
)
