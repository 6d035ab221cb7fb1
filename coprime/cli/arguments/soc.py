"""Options of `coprime soc`."""

from coprime.rsa.defaults import EXPONENT
from coprime.runs.exponents import EXPONENTS
from coprime.soc.paddings import PADDINGS

from ..options import Parser, add_bus, add_design, add_json, add_passphrase, location

MODEXP, ML_KEM, SECURE_BOOT = "modexp", "ml-kem", "secure-boot"
ALTERED = ("nothing", "image", "signature", "key", "version")


def add_options(parser: Parser) -> None:
    """Add the options of `coprime soc`."""
    add_design(parser, calls=True, suites=True)
    add_bus(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--bits", type=int, metavar="N", help="length of a test key or modulus")
    source.add_argument("--key", type=location, metavar="FILE", help="RSA key, PEM or DER")
    add_passphrase(parser)
    text = "message to encrypt for it (a greeting, with --operation as much of it as fits)"
    parser.add_argument("--message", help=text)
    text = (
        "encrypt or decrypt: one operation with padding in hardware, as in COMPRESSION's Figure 23;"
        " modexp: x^e mod m without a key, as in KARATSUBA's Table 4, compared with software;"
        " ml-kem: a key pair, an encapsulation, decapsulations, with lattice;"
        " secure-boot: an image that starts if its signature of ML-DSA is right, with lattice"
        " (default: decrypt, remove the padding in software, and compare with software; of a suite"
        " use all engines)"
    )
    parser.choice("--operation", ("encrypt", "decrypt", MODEXP, ML_KEM, SECURE_BOOT), text)
    parser.add_argument(
        "--set", metavar="NAME", help="parameter set of ml-kem or secure-boot (the engine's first)"
    )
    text = "what of secure-boot is another one than was signed, or an older version (nothing)"
    parser.choice("--alter", ALTERED, text)
    text = "exponent of modexp: worst, of ones only, or random (default: random)"
    parser.choice("--exponents", EXPONENTS, text)
    text = "with --operation: padding in hardware (pkcs1; none for keys of up to 64 bits)"
    parser.choice("--padding", PADDINGS, text)
    parser.number("--exponent", f"with --operation: public exponent ({EXPONENT})")
    parser.number("--seed", "seed of the test key, or of ml-kem's seeds", 1)
    parser.flag("--no-software", "leave out the comparison with software")
    add_json(parser)
