"""`coprime assess` for engines of byte strings."""

import argparse

from coprime.assess.call_subject import CallSubject
from coprime.catalog import choose_calls

from .assess import check_faults, run_campaign
from .options import chosen_settings


def run_faults(options: argparse.Namespace) -> int:
    """Run a campaign; 1 if a wrong result came out of a call that checks its outputs.

    Raises ValueError for options that exclude each other or are out of range.
    """
    check_faults(options)
    choice = choose_calls(options.family, chosen_settings(options))
    interface = choice.design.interface
    operation = options.operation or interface.calls[0].name
    parameter_set = getattr(options, "set", interface.parameter_sets[0])
    refused = getattr(options, "refused", False)
    return run_campaign(
        options, CallSubject(choice, operation, parameter_set, options.seed, refused)
    )
