"""Cuts the tests into shards that take equally long, each simulated design in one of them."""

import heapq
import re
from collections.abc import Mapping


def parse(text: str) -> tuple[int, int]:
    """K and N of "K/N". Raises ValueError if it is no such text, or K is not in 1..N."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"a shard is K/N with K in 1..N, for example 3/12, not {text!r}")
    return int(found[1]), int(found[2])


def cut(units: Mapping[str, float], count: int) -> list[list[str]]:
    """`count` lists of the units' names, whose sums of seconds differ as little as can be expected.

    The longest unit first, each to the shard that has least (Graham, 1969: no shard takes more
    than 4/3 of what the best cut's longest one takes). It depends on names and seconds only.
    """
    shards: list[list[str]] = [[] for _ in range(count)]
    heap = [(0.0, k) for k in range(count)]
    for name, seconds in sorted(units.items(), key=lambda unit: (-unit[1], unit[0])):
        total, k = heapq.heappop(heap)
        shards[k].append(name)
        heapq.heappush(heap, (total + seconds, k))
    return shards
