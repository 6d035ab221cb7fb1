"""Options of `coprime x25519-mlkem768` and its like."""

from ..devices import add_call_device, add_device
from ..options import Parser, add_json, add_verb


def add_options(parser: Parser) -> None:
    """Add the verbs, which are the same for every group, with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    offer = add_verb(verbs, "offer", "Make a client's share, and the key that it keeps for it.")
    offer.path("-o", "--output", required=True, help="the client's share")
    offer.path("--private", required=True, help="the client's private key, for `finish`")
    answer = add_verb(verbs, "answer", "Make the server's share and the secret.")
    answer.path("--peer", required=True, help="the client's share")
    answer.path("-o", "--output", required=True, help="the server's share")
    answer.path("--secret", required=True, help="the shared secret")
    finish = add_verb(verbs, "finish", "Compute the secret from the server's share.")
    finish.path("--private", required=True, help="what `offer` has written")
    finish.path("--peer", required=True, help="the server's share")
    finish.path("-o", "--output", required=True, help="the shared secret")
    for verb in (offer, answer, finish):
        add_call_device(verb)
        add_device(verb, "--curve-device", curves=True)
        add_json(verb)
