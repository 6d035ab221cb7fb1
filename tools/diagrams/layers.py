"""The layers of a program in C, from the headers that its headers include."""

import re
from functools import cache
from pathlib import Path

from svg import LINE, WIDTH, Picture, wrap

_MARGIN, _PADDING, _NAME = 8, 8, 156
_LONG = 60
"""Characters of a sentence from which on only its first part is shown."""


def layers(folder: Path) -> list[dict[str, str]]:
    """The files of each layer with what they are for, the layer that uses no other one first.

    A file with a header has the header's place, and is one with it. ValueError if headers include
    each other in a circle.
    """
    texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.c"))}
    texts |= {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.h"))}

    @cache
    def layer(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise ValueError(f"headers include each other: {', '.join((*above, name))}")
        used = {*re.findall(r'^#include "(\w+)\.h"', texts[name], re.M)} & {*texts} - {name}
        return 1 + max((layer(one, (*above, name)) for one in used), default=-1)

    found: list[dict[str, str]] = [{} for _ in range(1 + max(map(layer, texts)))]
    for name, text in sorted(texts.items()):
        found[layer(name)][name] = _summary(text)
    return found


def _summary(text: str) -> str:
    """The first sentence of a file's first comment, or its beginning."""
    comment = re.search(r"/\*(.*?)\*/", text, re.S)
    sentence = re.split(r"\. |\.$", " ".join(comment[1].split()) if comment else "")[0]
    for end in (":|;", ","):
        if len(sentence) > _LONG:
            sentence = re.split(end, sentence)[0]
    return sentence


def draw(folder: Path, title: str) -> Picture:
    """Draw the layers, the one that uses no other at the bottom."""
    picture = Picture(title)
    y: float = _MARGIN
    for files in reversed(layers(folder)):
        lines = [
            (name if row == 0 else "", line)
            for name, summary in files.items()
            for row, line in enumerate(
                wrap(summary, WIDTH - 2 * _MARGIN - _NAME - _PADDING) or [""]
            )
        ]
        height = len(lines) * LINE + 2 * _PADDING - 4
        picture.box(_MARGIN, y, WIDTH - 2 * _MARGIN, height)
        for row, (name, line) in enumerate(lines):
            at = y + _PADDING + 11 + row * LINE
            picture.text(_MARGIN + _PADDING, at, name, "head")
            picture.text(_MARGIN + _NAME, at, line)
        y += height + 6
    picture.height = (
        picture.paragraph(y - 6, "A header includes headers of boxes below it only.") + 2
    )
    return picture
