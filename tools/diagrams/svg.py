"""Pictures in SVG that are readable in a narrow page, on white and on black.

A picture is 480 units wide, as wide as the text of a telephone. Its colours follow the reader's
preference, light or dark.
"""

from dataclasses import dataclass, field
from html import escape

WIDTH = 480
LINE = 16
"""From one line of text to the next."""
_EM = {"head": 8.3, "text": 7.2, "small": 6.4}
"""Widths of a character, at the most on average, of each size of text."""

_STYLE = """
    text { font-family: Helvetica, Arial, sans-serif; fill: #1c2833; }
    .head { font-size: 14px; font-weight: bold; }
    .text { font-size: 13px; }
    .small { font-size: 11.5px; text-anchor: middle; }
    .soft { fill: #4a5a69; }
    .page { fill: #ffffff; }
    .box { fill: #f4f6f8; stroke: #5b6b7b; }
    .part { fill: #ffffff; stroke: #5b6b7b; }
    .xy { fill: #cfe2f7; stroke: #1f5fa8; }
    .qm { fill: #fbdcc0; stroke: #a8541f; }
    .other { fill: #e4e7ea; stroke: #5b6b7b; }
    .old { stroke-dasharray: 3 2; stroke-width: 1.6; }
    .idle { fill: none; stroke: #8695a3; stroke-dasharray: 1 3; }
    .line { fill: none; stroke-width: 1.6; }
    .wide { stroke-width: 3; }
    .c0 { stroke: #1f5fa8; } .t0 { fill: #1f5fa8; }
    .c1 { stroke: #b04a12; } .t1 { fill: #b04a12; }
    .c2 { stroke: #23733f; } .t2 { fill: #23733f; }
    .c3 { stroke: #7b3fb3; } .t3 { fill: #7b3fb3; }
    .c4 { stroke: #a3195b; } .t4 { fill: #a3195b; }
    .c5 { stroke: #5d6300; } .t5 { fill: #5d6300; }
    .c6 { stroke: #4a5a69; } .t6 { fill: #4a5a69; }
    @media (prefers-color-scheme: dark) {
      text { fill: #eef3f8; }
      .soft { fill: #b4c1cd; }
      .page { fill: #0f151b; }
      .box { fill: #1a232c; stroke: #7f92a4; }
      .part { fill: #0f151b; stroke: #7f92a4; }
      .xy { fill: #173a61; stroke: #6ea8e8; }
      .qm { fill: #5a3114; stroke: #e8a06e; }
      .other { fill: #303a44; stroke: #7f92a4; }
      .idle { stroke: #6b7a89; }
      .c0 { stroke: #6ea8e8; } .t0 { fill: #6ea8e8; }
      .c1 { stroke: #f0945a; } .t1 { fill: #f0945a; }
      .c2 { stroke: #66c389; } .t2 { fill: #66c389; }
      .c3 { stroke: #c09af0; } .t3 { fill: #c09af0; }
      .c4 { stroke: #f07fb4; } .t4 { fill: #f07fb4; }
      .c5 { stroke: #cbd05a; } .t5 { fill: #cbd05a; }
      .c6 { stroke: #b4c1cd; } .t6 { fill: #b4c1cd; }
    }
"""
COLOURS = 7
"""Of lines: classes c0, c1, ..."""


def wrap(text: str, width: float, kind: str = "text") -> list[str]:
    """Break a text into lines of at most this width."""
    lines: list[str] = []
    for word in text.split():
        if lines and (len(lines[-1]) + 1 + len(word)) * _EM[kind] <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


@dataclass
class Picture:
    """The parts of a picture, from the one in the background to the one in front."""

    title: str
    height: float = 0
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, kind: str = "text") -> None:
        """Add a line of text; y is its base line."""
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def paragraph(self, y: float, text: str, x: float = 8) -> float:
        """Add lines of text as wide as the page; the y below them."""
        for line in wrap(text, WIDTH - 2 * x):
            y += LINE
            self.text(x, y, line, "text soft")
        return y + 6

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        """Add a rectangle."""
        size = f'width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" {size} rx="4"/>')

    def path(self, path: str, kind: str) -> None:
        """Add a line."""
        self.parts.append(f'<path class="{kind}" d="{path}"/>')

    def dot(self, x: float, y: float, kind: str) -> None:
        """Add a dot."""
        self.parts.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="3"/>')

    def written(self, notice: str) -> str:
        """The picture as a file, with a line on where it comes from."""
        height = round(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title">'
        )
        lines = [
            f"<!-- {notice} -->",
            head,
            f'  <title id="title">{escape(self.title)}</title>',
            f"  <style>{_STYLE}  </style>",
            f'  <rect class="page" width="{WIDTH}" height="{height}"/>',
            *(f"  {part}" for part in self.parts),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"
