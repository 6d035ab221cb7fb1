"""Whether a signature is valid, as a command says it."""

import argparse
import sys
from collections.abc import Callable, Mapping

from coprime.rsa.operations import InvalidSignatureError

from .options import FAILED
from .output import print_json


def report_validity(
    options: argparse.Namespace, record: Mapping[str, object], check: Callable[[], None]
) -> int:
    """Say whether a signature is valid: what `check` raises if it is not. Gives an exit status.

    With --json it is in a record; else InvalidSignatureError is raised.
    """
    if not options.json:
        check()
        print("the signature is valid", file=sys.stderr)
        return 0
    reason = None
    try:
        check()
    except InvalidSignatureError as error:
        reason = str(error)
    print_json({**record, "valid": reason is None, "reason": reason})
    return 0 if reason is None else FAILED
