"""What evidence depends on besides its inputs: sources of Coprime and of this package."""

from coprime.flow import sources as of_coprime


def sources() -> str:
    """Hash of all their files: names and contents."""
    return of_coprime.sources("coprime_evidence")
