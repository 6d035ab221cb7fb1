"""Draw the pictures of the documentation, or check that they show today's hardware.

Block diagrams are from the elaborated designs (`blocks.py`), schedules from simulations of the
multipliers and from the model of `ring` (`slots.py`). What there is as a whole is drawn from the
catalogue, the boards' records and a package (`overview.py`).
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import blocks
import layers
import overview
import slots
from svg import Picture

from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.axi_cluster import AxiCluster, ChainEnds
from coprime.catalog import choose_calls, family_named
from coprime.cluster.node import Node
from coprime.engine.contract import capabilities_of

ROOT = Path(__file__).parents[2]
TOOL = "tools/diagrams"
IMAGES = Path("docs/images")

EXPANDED = ("lane", "multiplier", "exponentiator")
"""Parts of an engine whose own parts are boxes."""


def engine(family: str) -> Picture:
    """An engine of a family."""
    design = family_named(family).choose(_SETTINGS[family]).design
    block = blocks.block_of(design.hardware(), family)
    return blocks.draw(block, f"The parts of an engine of {family} and their signals", EXPANDED)


def lattice() -> Picture:
    """The engine of ML-KEM: both sides, and what is between them."""
    block = blocks.block_of(choose_calls("lattice", {}).design.hardware(), "lattice")
    title = "The parts of an engine of lattice and their signals"
    return blocks.draw(block, title, ("sponge", "arithmetic"))


def accelerator() -> Picture:
    """An accelerator: an engine behind its bus."""
    component = AxiAccelerator(family_named("compact").choose({}).design.hardware())
    block = blocks.block_of(component, "accelerator")
    title = "The parts of an accelerator, with compact as its engine, and their signals"
    return blocks.draw(block, title, ("front_end",))


def cluster(cores: int = 4) -> Picture:
    """A cluster: a chain of nodes with an engine each."""
    core = family_named("fdfm").choose({}).design.hardware()
    capabilities = capabilities_of(core)
    block = blocks.cluster_of(
        ChainEnds(capabilities, cores),
        Node(core, cores),
        AxiCluster(capabilities, cores, ends="ends", node="node"),
        "cluster",
    )
    title = "The parts of a cluster of four engines of fdfm and their signals"
    return blocks.draw(block, title, ("front_end", "node_0"))


XY, QM = "(xᵢ − xⱼ)(yᵢ − yⱼ), or xᵢyᵢ", "(qᵢ − qⱼ)(M′ᵢ − M′ⱼ), or qᵢM′ᵢ"


def fdfm_schedule() -> Picture:
    """Algorithm 3 on one DSP slice."""
    note = (
        "Below each box: what port A reads, then what port B reads or, with an arrow, writes. A "
        "product is shown in the cycle in which its digit is asked for; its sum is written six "
        "cycles later."
    )
    legend = [
        ("xy", "a digit of X times a digit of Y"),
        ("xy old", "the same ahead of time, for q only"),
        ("qm", "q times a digit of M"),
        ("other", "q, from the sum and −M⁻¹; ≫: the accumulator, shifted by a digit"),
    ]
    title = "fdfm: the cycles of a multiplication of three digits by three"
    return slots.draw(slots.fdfm(), title, legend, note)


def compact_schedule() -> Picture:
    """Columns of products of differences."""
    note = (
        "A row is column k, a cell a cycle. Below it, what port B writes: a digit of q or of the "
        "result S, at times once more, as the first time was too early."
    )
    legend = [
        ("xy", XY),
        ("qm", QM),
        ("xy old", "a diagonal product once more, subtracted (blue or orange)"),
        ("idle", "no product"),
    ]
    title = "compact: the cycles of a multiplication of five digits by five"
    return slots.draw(slots.compact(), title, legend, note)


def ring_schedule() -> Picture:
    """Two products on a ring."""
    note = (
        "A row is step s, a cell a cycle. Below it, the word of q or of the result, which is the "
        "next factor x, that can be read from this cycle on."
    )
    legend = [
        ("xy", XY + ", of the new multiplication"),
        ("qm", QM + ", of the new multiplication"),
        ("xy old", "the same of the old one (blue or orange)"),
        ("idle", "no product"),
    ]
    title = "ring: the cycles from one multiplication to the next one, tile one17"
    return slots.draw(slots.ring(), title, legend, note)


def karatsuba_schedule() -> Picture:
    """Iterations on two multipliers of words."""
    note = (
        "A row is iteration i, a cell a cycle, with a product on each of two multipliers. Below "
        "it: what port A reads, then what port B reads or, with an arrow, writes."
    )
    legend = [("xy", "a word of X times a word of Y"), ("qm", "q times a word of M")]
    title = "karatsuba: the cycles of a multiplication of seven words by seven"
    return slots.draw(slots.karatsuba(), title, legend, note)


_SETTINGS: Mapping[str, Mapping[str, int | str]] = {
    "fdfm": {},
    "compact": {},
    "ring": {},
    "karatsuba": {},
    "montgomery-1csa": {"max_bits": 256},
    "montgomery-2csa": {"max_bits": 256},
    "interleaved-csa": {"max_bits": 256},
    "montgomery-r2": {"max_bits": 256},
    "compression": {"modulus": "3329"},
    "direct": {"modulus": "3329"},
}
"""Of the engines that are drawn, by family."""

PICTURES: Mapping[str, Callable[[], Picture]] = {
    **overview.PICTURES,
    **{family: partial(engine, family) for family in _SETTINGS},
    "lattice": lattice,
    "accelerator": accelerator,
    "cluster": cluster,
    "token": partial(layers.draw, ROOT / "coprime/token/src", "The layers of the PKCS #11 module"),
    "fdfm-schedule": fdfm_schedule,
    "compact-schedule": compact_schedule,
    "ring-schedule": ring_schedule,
    "karatsuba-schedule": karatsuba_schedule,
}
"""By the name of the file."""


def main(arguments: list[str]) -> int:
    """Write or check the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="check only, write nothing")
    parser.add_argument("names", nargs="*", help="of pictures; by default all")
    options = parser.parse_args(arguments)
    stale = []
    for name in options.names or PICTURES:
        path = ROOT / IMAGES / f"{name}.svg"
        text = PICTURES[name]().written(f"Drawn by {TOOL}; do not edit.")
        if not options.check:
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            stale.append(path.relative_to(ROOT).as_posix())
    for one in stale:
        print(f"{one} is not up to date: run python {TOOL}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
