"""The help of every command reads as sentences."""

import argparse
import re

import pytest

from coprime.cli import parser
from coprime.cli.commands import entries
from coprime.cli.options import sentence
from coprime.engine.contract import Command


def texts(command):
    """The text of each argument of a command and of its verbs, by the names of both."""
    found = {}
    pending = [((command,), parser([command]))]
    while pending:
        words, one = pending.pop()
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                pending += [((*words, name), each) for name, each in action.choices.items()]
            elif action.help != argparse.SUPPRESS:
                found[*words, "/".join(action.option_strings) or action.dest] = action.help
    return found


@pytest.mark.parametrize("command", entries())
def test_every_text_is_a_sentence(command):
    """Capital letter or a name first, some words, no part alone, a full stop."""
    for names, text in texts(command).items():
        if text is None:  # -o FILE, and what a choice of names says by itself
            continue
        assert text.endswith("."), (names, text)
        assert not re.match(r"[a-z]+[ ,.]|\(|Of ", text), (names, text)


def test_a_name_keeps_its_first_letter():
    assert sentence("number of cores") == "Number of cores."
    assert sentence("max_bits of a key") == "max_bits of a key."
    assert sentence("sim:FAMILY is simulated") == "sim:FAMILY is simulated."
    assert sentence("Done.") == "Done."


def test_an_operand_says_what_it_is_for_each_operation():
    """The same letter is different things: the base of a power, a point, a public key."""
    help_texts = {names[-1].lstrip("-"): text for names, text in texts("run").items()}
    assert help_texts["x"].startswith("For MODMUL, the first factor; for MODEXP and RSA_PUBLIC, ")
    for command in Command:
        if command.operation.is_private:
            continue
        for one in command.operation.inputs:
            (part,) = [
                part
                for part in help_texts[one.name].rstrip(".").split("; ")
                if part.lower().endswith(f", the {one.meaning.lower()}")
                and (command.name in part or f"curves={command.operation.setting[1]}" in part)
            ]
            assert " it" not in part.split("the ", 1)[1].split(), part
