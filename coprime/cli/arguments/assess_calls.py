"""Options of `coprime assess` for an engine of byte strings."""

from coprime.catalog import CALL_FAMILIES

from ..options import Parser, add_parameters, add_verb
from .assess import add_faults, add_proof


def add_options(parser: Parser, family: str) -> None:
    """Add the verbs that engines of byte strings have, for those of a family."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    faults = add_verb(verbs, "faults", "Run a call with faults, one in each run.")
    _add_faults_options(faults, family)
    text = "Prove that no secret changes how long calls take, or show that one may."
    proof = add_verb(verbs, "constant-time", text)
    proof.add_argument("family", metavar="FAMILY", choices=[family], help="the family")
    add_parameters(proof)
    add_proof(proof)


def _add_faults_options(parser: Parser, family: str) -> None:
    interfaces = CALL_FAMILIES[family].interfaces
    parser.add_argument("family", metavar="FAMILY", choices=[family], help="the family")
    add_parameters(parser)
    calls = {one.name: one for each in interfaces for one in each.calls}
    sets = [name for each in interfaces for name in each.parameter_sets]
    parser.choice("--operation", calls, "call (the engine's first one)")
    if len(sets) > 1:
        parser.choice("--set", sets, "parameter set (the engine's first one)")
    if any(one.refusal for one in calls.values()):
        text = "draw inputs that the call must refuse, such as an altered ciphertext"
        parser.flag("--refused", text)
    parser.number("--seed", "seed of inputs and draws", 1)
    add_faults(parser)
