"""`coprime demo`: decrypt and sign with a real key on a generated accelerator."""

import argparse

from coprime.explore.demo import demonstrate

from .key_files import load_private
from .options import FAILED
from .progress import progress


def run(options: argparse.Namespace) -> int:
    """Run the demonstration; 1 if something in it is wrong."""
    key = load_private(options) if options.key else None
    with progress("simulating") as passed:
        return 0 if demonstrate(key, options.bits, progress=passed) else FAILED
