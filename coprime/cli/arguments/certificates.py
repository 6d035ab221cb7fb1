"""Options of the verbs that make certificates, requests for them and CMS with a key of ML-DSA."""

import argparse

from ..options import Parser, add_input, add_output, add_verb


def add_certificates(verbs: "argparse._SubParsersAction[Parser]") -> list[Parser]:
    """Add the verbs, without the options that say which key signs; give their parsers."""
    certificate = add_verb(
        verbs, "certificate", "Write a certificate that a key of ML-DSA signs for itself."
    )
    certificate.number("--days", "how long it is valid", 365)
    certificate.flag("--ca", "it may sign certificates, and not messages")
    request = add_verb(verbs, "request", "Write a request for a certificate of a key of ML-DSA.")
    cms = add_verb(verbs, "cms", "Sign a file as CMS with a key of ML-DSA.")
    cms.path("--certificate", required=True, help="the key's, which goes with the signature")
    cms.flag("--detached", "write the signature without the file's contents")
    add_input(cms)
    for verb in (certificate, request):
        verb.add_argument("--subject", required=True, help="a name, such as CN=device,O=company")
    for verb in (certificate, request, cms):
        add_output(verb)
        verb.flag("--der", "write DER, not PEM")
    return [certificate, request, cms]
