"""The commands that this package adds to `coprime`, with two files each as in `coprime.cli`."""

from collections.abc import Mapping, Sequence

from coprime_evidence.sweeps.specification_names import SPECIFICATIONS

COMMANDS: Mapping[str, str] = {
    "sweep": "Measure many points of the design space.",
    "report": "Write the report of what was measured.",
    "assess": "Assess a design against faults and power analysis, in simulation.",
}
BY_FAMILY: Mapping[str, str] = {"assess": "assess_calls"}
NAMED_FILES: Mapping[str, Sequence[str]] = {"SPEC.toml": tuple(SPECIFICATIONS)}
