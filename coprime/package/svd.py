"""The registers as CMSIS-SVD, for debuggers and generators of software such as svd2rust."""

from collections.abc import Mapping

from .description import Description
from .xml import filled_xml, written


def files(description: Description) -> Mapping[str, str]:
    """The registers as CMSIS-SVD 1.3: one peripheral, whose base address the user's system sets."""
    return {f"{description.name}.svd": written(filled_xml("registers.svd.j2", own=description))}
