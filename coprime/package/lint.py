"""Waivers for `verilator --lint-only -Wall`: which rules the Verilog does not follow, and why."""

import textwrap
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description

__all__ = ["LATER_RULES", "RULES", "files", "waiver_files"]

RULES = {
    "CASEINCOMPLETE": "a register keeps its value where no case applies, and a signal its default,"
    " which is assigned before the case",
    "DECLFILENAME": "the design is one file with all its modules",
    "UNUSED": "a module has the same ports wherever it is used, and not every user reads each bit",
    "VARHIDDEN": "a module's signal may have the name of an instance that surrounds it",
    "WIDTH": "operands of different widths are extended, and sums cut to the width of their target,"
    " as the language defines; the generator has worked out each width",
}
"""By rule. UNUSED and WIDTH are groups, so that versions before and after their split know them."""
LATER_RULES = {
    "PROCASSINIT": "a register begins, after configuration, with the value that a reset gives it",
}
"""Rules that Verilator 5.034 does not know, and 5.038 has: a file of their own, since an unknown
rule is an error."""
_CELLS = {
    "DECLFILENAME": "a file with all models",
    "UNUSED": "a model has all ports of the cell, and simulates the modes that are used",
    "WIDTH": "parameters are numbers of 32 bits, of which a model uses the lowest",
}
_VENDOR = {"PINMISSING": "pins that are not used have the cell's default"}


def waiver_files(description: Description) -> tuple[str, str]:
    """Names of the waivers: for every version, and of rules that only later versions know."""
    return f"{description.name}.vlt", f"{description.name}_later.vlt"


def files(description: Description) -> Mapping[str, str]:
    """The waivers."""
    first, later = waiver_files(description)
    rules = {description.verilog: RULES}
    if description.target is not Target.GENERIC:
        rules = {
            description.verilog: RULES | _VENDOR,
            f"cells_{description.target.value}.v": _CELLS,
        }
    return {
        first: _text("Waivers for verilator --lint-only -Wall.", rules),
        later: _text(
            "Waivers for rules that Verilator 5.034 does not know and 5.038 has.",
            {description.verilog: LATER_RULES},
        ),
    }


def _text(title: str, rules: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["`verilator_config", "", f"// {title}"]
    for file, each in rules.items():
        for rule, reason in each.items():
            comment = textwrap.wrap(f"{reason[0].upper()}{reason[1:]}.", 96)
            lines += ["", *(f"// {line}" for line in comment)]
            lines.append(f'lint_off -rule {rule} -file "*{file}"')
    return "\n".join(lines) + "\n"
