"""What `coprime choose` can be asked for: devices and parts by name."""

from collections.abc import Mapping

from coprime.catalog import CLUSTER
from coprime.flow.targets import FLOWS

DEVICES = {target.value: flow.default_device for target, flow in FLOWS.items()} | {
    "ecp5": "LFE5U-85F"
}
"""On which the designs of a target are compared; "" where none are placed. The one of ecp5 holds
each of the shipped measurements."""
OTHER_PART: Mapping[str, str] = {
    "accelerator": "engine",
    "engine": "accelerator",
    CLUSTER: "engine",
}
"""What may be chosen, with what is shown beside it."""
