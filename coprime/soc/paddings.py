"""Paddings of the system's messages, by name."""

from collections.abc import Mapping

from coprime.padding.scheme import Padding

PADDINGS: Mapping[str, Padding | None] = {
    "none": None,
    "pkcs1": Padding.PKCS1,
    "oaep": Padding.OAEP,
}
"""What a message can be padded with, by name."""
