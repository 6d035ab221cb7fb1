"""What the errors that this library raises of its own have in common."""

__all__ = ["CoprimeError"]


class CoprimeError(Exception):
    """An error that is none of Python's: of a device, a tool, a key file, a wrong result.

    What is wrong with an argument is a TypeError or a ValueError, as in Python's own libraries;
    an error that is both, such as that a message is too long, is a ValueError as well.
    """
