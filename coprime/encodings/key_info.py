"""Keys of any kind as PKCS #8 and X.509 have them: an algorithm, and the key in its form.

Other forms are brought into these: PKCS #1, SEC 1, and what OpenSSH writes.
"""

from dataclasses import dataclass, field

from . import der

RSA, RSA_PSS = "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10"
_DSA = "1.2.840.10040.4.1"
EC = "1.2.840.10045.2.1"
ED25519 = "1.3.101.112"
_PUBLIC_KEY, _CURVE = 1, 0
"""Tags of SEC 1's ECPrivateKey; the public key's is that of RFC 5958, too."""


@dataclass(frozen=True)
class PrivateKeyInfo:
    """OneAsymmetricKey (RFC 5958), which was PrivateKeyInfo (RFC 5208). The repr shows no secret.

    Parameters
    ----------
    algorithm : its OBJECT IDENTIFIER; of a kind that only OpenSSH has, its name there
    parameters : of the algorithm: a curve's name
    key : contents of the OCTET STRING
    public : the public key, if the file has it
    """

    algorithm: str
    parameters: der.Element | None
    key: bytes = field(repr=False)
    public: bytes | None = None

    @property
    def encoded(self) -> bytes:
        """In DER, as version 1, without the public key."""
        return der.sequence(
            der.integer(0), _identifier(self.algorithm, self.parameters), der.octet_string(self.key)
        )


@dataclass(frozen=True)
class PublicKeyInfo:
    """SubjectPublicKeyInfo (RFC 5280, 4.1).

    Parameters
    ----------
    algorithm, parameters : as in PrivateKeyInfo
    key : contents of the BIT STRING
    """

    algorithm: str
    parameters: der.Element | None
    key: bytes

    @property
    def encoded(self) -> bytes:
        """In DER."""
        identifier = _identifier(self.algorithm, self.parameters)
        return der.sequence(identifier, der.bit_string(self.key))


def named(name: str) -> der.Element:
    """Parameters that are a name."""
    return der.read(der.object_identifier(name))


NULL = der.read(der.null())
"""Parameters of RSA."""


def _identifier(algorithm: str, parameters: der.Element | None) -> bytes:
    name = der.object_identifier(algorithm)
    return der.sequence(name, parameters.encoded) if parameters else der.sequence(name)


def _algorithm(element: der.Element) -> tuple[str, der.Element | None]:
    name, *parameters = element.parts()
    if len(parameters) > 1:
        raise ValueError("an algorithm has more than its parameters")
    return name.name(), parameters[0] if parameters else None


# --- Private keys -------------------------------------------------------------------------------


@dataclass(frozen=True)
class EncryptedKeyInfo:
    """EncryptedPrivateKeyInfo (RFC 5208): how it is encrypted, and what."""

    algorithm: der.Element
    data: bytes


@dataclass(frozen=True)
class EcPrivateKey:
    """SEC 1's ECPrivateKey (RFC 5915), whose number may have any count of bytes.

    Parameters
    ----------
    number : the private key
    curve : its parameters, if they are in it
    public : the point, if it is in it
    """

    number: int = field(repr=False)
    curve: der.Element | None
    public: bytes | None

    @classmethod
    def read(cls, data: bytes) -> "EcPrivateKey":
        """From DER. ValueError if it is none."""
        return cls.of_fields(der.read(data).parts())

    @classmethod
    def of_fields(cls, fields: list[der.Element]) -> "EcPrivateKey":
        """From the elements of the SEQUENCE. ValueError if they are none."""
        version, key, *others = fields
        if version.number() != 1:
            raise ValueError("the version of an ECPrivateKey is 1")
        tagged = {part.tag: part for part in others}
        if not tagged.keys() <= {der.context(_CURVE), der.context(_PUBLIC_KEY)}:
            raise ValueError("an ECPrivateKey has fields that are not known")
        curve = tagged.get(der.context(_CURVE))
        public = tagged.get(der.context(_PUBLIC_KEY))
        return cls(
            int.from_bytes(key.octets()),
            None if curve is None else der.read(curve.content),
            None if public is None else der.read(public.content).bits(),
        )


def read_private(data: bytes) -> PrivateKeyInfo | EncryptedKeyInfo | None:
    """A private key in DER: PKCS #8, encrypted or not, PKCS #1 or SEC 1; None for anything else."""
    try:
        fields = der.read(data).parts()
        tags = [part.tag for part in fields]
        if tags == [der.SEQUENCE, der.OCTET_STRING]:
            return EncryptedKeyInfo(fields[0], fields[1].octets())
        if tags[:3] == [der.INTEGER, der.SEQUENCE, der.OCTET_STRING]:
            return _of_pkcs8(fields)
        if tags[:2] == [der.INTEGER, der.OCTET_STRING]:
            return PrivateKeyInfo(EC, EcPrivateKey.of_fields(fields).curve, data)
        if tags[:9] == [der.INTEGER] * 9:
            return PrivateKeyInfo(RSA, NULL, data)
        if tags == [der.INTEGER] * 6:
            return PrivateKeyInfo(_DSA, None, data)
    except ValueError:
        pass
    return None


def _of_pkcs8(fields: list[der.Element]) -> PrivateKeyInfo:
    version, identifier, key, *others = fields
    if version.number() > 1:
        raise ValueError("the version of a private key is 0 or 1")
    tagged = {part.tag: part for part in others}
    attributes, public = der.context(0), der.implicit_context(_PUBLIC_KEY)
    if not tagged.keys() <= {attributes, public}:
        raise ValueError("a private key has fields that are not known")
    bits = tagged.get(public)
    if bits is not None and bits.content[:1] != b"\0":
        raise ValueError("a public key does not consist of whole bytes")
    return PrivateKeyInfo(
        *_algorithm(identifier), key.octets(), None if bits is None else bits.content[1:]
    )


# --- Public keys --------------------------------------------------------------------------------


def read_public(data: bytes) -> PublicKeyInfo | None:
    """A public key in DER: SubjectPublicKeyInfo, PKCS #1, or a certificate's (RFC 5280, 4.1), who
    has signed which is not checked; None for anything else.
    """
    try:
        fields = der.read(data).parts()
        tags = [part.tag for part in fields]
        if tags == [der.INTEGER, der.INTEGER]:
            return PublicKeyInfo(RSA, NULL, data)
        if tags == [der.SEQUENCE, der.SEQUENCE, der.BIT_STRING]:
            fields = _of_certificate(fields[0].parts())
        identifier, key = fields
        return PublicKeyInfo(*_algorithm(identifier), key.bits())
    except ValueError:
        return None


_BEFORE_KEY = [der.INTEGER, *[der.SEQUENCE] * 4]
"""Of a certificate: serial number, signature's algorithm, issuer, validity, subject."""


def _of_certificate(fields: list[der.Element]) -> list[der.Element]:
    """The parts of the public key."""
    if fields and fields[0].tag == der.context(0):  # the version
        del fields[0]
    before, key = fields[: len(_BEFORE_KEY)], fields[len(_BEFORE_KEY) :]
    if [part.tag for part in before] != _BEFORE_KEY or not key:
        raise ValueError("it is no certificate")
    return key[0].parts()
