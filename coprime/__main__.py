"""`python -m coprime`: the command line."""

import sys

from coprime.cli import main

if __name__ == "__main__":
    sys.exit(main())
