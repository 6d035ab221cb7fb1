"""Options of `coprime assess` for an engine of byte strings."""

from coprime.catalog import CALL_FAMILIES
from coprime.cli.options import Parser, add_json, add_parameters, add_verb

from .assess import add_faults, add_proof, add_traces


def add_options(parser: Parser, family: str) -> None:
    """Add the verbs that engines of byte strings have, for those of a family."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    faults = add_verb(verbs, "faults", "Run a call with faults, one in each run.")
    _add_faults_options(faults, family)
    text = "Test whether the power of a call depends on its inputs."
    _add_leakage_options(add_verb(verbs, "leakage", text), family)
    text = "Prove that no secret changes how long calls take, or show that one may."
    proof = add_verb(verbs, "constant-time", text)
    _add_family(proof, family)
    add_proof(proof)
    text = "Prove that the schedule of transforms and products is right for all polynomials."
    schedule = add_verb(verbs, "schedule", text)
    _add_family(schedule, family)
    add_json(schedule)


def _add_faults_options(parser: Parser, family: str) -> None:
    _add_call(parser, family)
    if any(call.refusal for each in CALL_FAMILIES[family].interfaces for call in each.calls):
        text = "draw inputs that the call must refuse, such as an altered ciphertext"
        parser.flag("--refused", text)
    add_faults(parser)


def _add_leakage_options(parser: Parser, family: str) -> None:
    _add_call(parser, family)
    text = "name of the input that is fixed in half of the traces and random in the others; nothing"
    parser.add_argument("--test", metavar="SLOT", help=f"{text} is a control (the first one)")
    add_traces(parser)


def _add_family(parser: Parser, family: str) -> None:
    """Add the family, which is known already, and its parameters."""
    parser.add_argument("family", metavar="FAMILY", choices=[family], help="the family")
    add_parameters(parser)


def _add_call(parser: Parser, family: str) -> None:
    """Add what is run: the call, its parameter set, and the seed of everything that is drawn."""
    interfaces = CALL_FAMILIES[family].interfaces
    _add_family(parser, family)
    calls = {call.name: call for each in interfaces for call in each.calls}
    sets = [name for each in interfaces for name in each.parameter_sets]
    parser.choice("--operation", calls, "call (the engine's first one)")
    if len(sets) > 1:
        parser.choice("--set", sets, "parameter set (the engine's first one)")
    parser.number("--seed", "seed of inputs and draws", 1)
