from pathlib import Path

from coprime.flow.boards import BOARDS
from tools.board_pages import FOLDER, pages

PAGE = Path(__file__).parents[2] / "docs" / "boards.md"


def test_pages_are_those_of_the_records():
    """`make board-pages` writes them."""
    made = pages()
    assert {path.name for path in FOLDER.iterdir()} == set(made)
    for name, text in made.items():
        assert (FOLDER / name).read_text() == text


def test_every_board_has_a_page():
    text = PAGE.read_text()
    everything = "".join(pages().values())
    for name in BOARDS:
        assert name in everything
    for name in pages():
        assert name.endswith(".svg") or f"(boards/{name})" in text


def test_commands_are_five():
    for name, text in pages().items():
        if name.endswith(".md"):
            commands = text.split("```")[1].strip().splitlines()
            assert len([line for line in commands if "vivado" not in line]) == 5
