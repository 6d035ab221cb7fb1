"""A noise source as a model: biased, correlated, and failing."""

import numpy as np

KINDS = ("stick", "repeat", "drift", "stop")


def samples(generator, count, *, ones=0.5, stays=0.5):
    """Samples of which `ones` are ones; each is the one before with a probability of `stays`, or
    drawn anew otherwise (0.5: independent)."""
    drawn = (generator.random(count) < ones).astype(np.uint8)
    kept = generator.random(count) < 2 * stays - 1
    for place in np.flatnonzero(kept):
        if place:
            drawn[place] = drawn[place - 1]
    return drawn


def failing(generator, kind, before, after, *, settings):
    """Samples of a source that fails after `before` samples, and from which sample on it has failed
    completely; a source that stops gives no more."""
    good = samples(generator, before, **settings)
    if kind == "stop":
        return good, before
    if kind == "stick":
        return np.concatenate((good, np.full(after, generator.integers(2), dtype=np.uint8))), before
    if kind == "repeat":
        period = int(generator.integers(1, 9))
        return np.concatenate((good, np.resize(good[-period:], after))), before
    steps = int(generator.integers(100, 1000))
    rising = np.minimum(1.0, 0.5 + np.arange(after) / (2 * steps))
    bad = (generator.random(after) < rising).astype(np.uint8)
    return np.concatenate((good, bad if generator.integers(2) else 1 - bad)), before + steps
