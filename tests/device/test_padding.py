"""Padding in hardware with real keys, both ways, against the cryptography package."""

import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding as reference

from coprime.bus import registers
from coprime.catalog import choose, family_named
from coprime.device.cores import Cores
from coprime.device.padding import PaddedAccelerator
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.model.padding_formats import rejection_message
from coprime.padding.scheme import Padding, Scheme
from coprime.rsa import keys
from coprime.rsa.padding import Oaep, Pkcs1Encryption, Pkcs1Signature
from coprime.suites import SuiteChoice
from tests.calls import mock

BITS = 1024
SIZE = BITS // 8
KEY = keys.generate(BITS, seed=7)
THEIRS = serialization.load_pem_private_key(keys.private_pem(KEY), None)
SHA256 = hashes.SHA256()
DIGEST = hashlib.sha256(b"message").digest()


def oaep(label=None):
    return reference.OAEP(reference.MGF1(SHA256), SHA256, label)


def pss(salt_length=32):
    return reference.PSS(reference.MGF1(SHA256), salt_length)


def open_padded(family, paddings, **settings):
    choice = family_named(family).choose({name: str(value) for name, value in settings.items()})
    device = open_simulation(choice, paddings=paddings)
    return PaddedAccelerator(device, timeout=None), device


@pytest.fixture(
    scope="module",
    params=[
        # One worker does what the C driver does with it, too.
        pytest.param(
            ("fdfm", {"max_bits": BITS}), marks=pytest.mark.xdist_group("drivers, padding")
        ),
        pytest.param(("karatsuba", {"max_bits": BITS}), marks=pytest.mark.matrix),
        pytest.param(("montgomery-2csa", {"max_bits": BITS}), marks=pytest.mark.matrix),
        pytest.param(("suite", {"max_bits": BITS}), marks=pytest.mark.matrix),
    ],
    ids=lambda one: one[0],
)
def padded(request):
    """A suite has fdfm with paddings, and an engine of byte strings."""
    family, settings = request.param
    if family == "suite":
        device = open_simulation(
            SuiteChoice((choose("fdfm", settings), mock.FAMILY.choose({}))), paddings=tuple(Padding)
        )
        accelerator = PaddedAccelerator(Cores(device).numbers(), timeout=None)
    else:
        accelerator, device = open_padded(family, tuple(Padding), **settings)
    accelerator.load_public(KEY.n, KEY.e)
    accelerator.load_private(KEY)
    accelerator.device = device
    yield accelerator
    device.close()


MESSAGES = [b"", b"m", bytes(range(SIZE - 66))]


@pytest.mark.matrix
def test_what_the_hardware_encrypts_cryptography_decrypts(padded):
    assert padded.paddings == frozenset(Padding)
    for message in (*MESSAGES[:2], b"\0" * (SIZE - 11)):
        ciphertext = padded.encrypt(message, Scheme.PKCS1)
        assert THEIRS.decrypt(ciphertext, reference.PKCS1v15()) == message
    for message in MESSAGES:
        assert THEIRS.decrypt(padded.encrypt(message), oaep()) == message
        ciphertext = padded.encrypt(message, label=b"label")
        assert THEIRS.decrypt(ciphertext, oaep(b"label")) == message
    assert len({padded.encrypt(b"m", scheme) for scheme in (1, 1, 2, 2)}) == 4


@pytest.mark.matrix
def test_what_cryptography_encrypts_the_hardware_decrypts(padded):
    public = THEIRS.public_key()
    ciphertext = public.encrypt(b"m" * (SIZE - 11), reference.PKCS1v15())
    assert padded.decrypt(ciphertext, Scheme.PKCS1) == b"m" * (SIZE - 11)
    assert padded.decrypt(public.encrypt(b"m", oaep(b"label")), label=b"label") == b"m"


@pytest.mark.matrix
def test_other_labels_and_messages(padded):
    public = THEIRS.public_key()
    assert padded.decrypt(public.encrypt(b"", reference.PKCS1v15()), Scheme.PKCS1) == b""
    assert padded.decrypt(public.encrypt(b"m", oaep())) == b"m"
    with pytest.raises(Exception, match="the padding is wrong") as wrong:
        padded.decrypt(public.encrypt(b"m", oaep()), label=b"label")
    assert wrong.value.code is Error.PADDING


@pytest.mark.parametrize("last", [12, pytest.param(49, marks=pytest.mark.matrix)])
def test_a_wrong_padding_decrypts_to_what_openssl_makes_of_it(padded, last):
    secret = hashlib.sha256(KEY.d.to_bytes(SIZE)).digest()
    for first in range(3, last + 1):
        ciphertext = first.to_bytes(SIZE)
        expected = rejection_message(secret, ciphertext)
        assert THEIRS.decrypt(ciphertext, reference.PKCS1v15()) == expected
    assert padded.decrypt(ciphertext, Scheme.PKCS1) == expected


def test_the_hardware_s_signatures_are_good(padded):
    public = THEIRS.public_key()
    signature = padded.sign(b"message", hashes=True)
    public.verify(signature, b"message", pss(), SHA256)
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"massage", pss(), SHA256)


@pytest.mark.matrix
def test_signatures_of_all_kinds(padded):
    public = THEIRS.public_key()
    for signature in (
        padded.sign(b"message", Scheme.PKCS1_SIGNATURE, hashes=True),
        padded.sign(DIGEST, Scheme.PKCS1_SIGNATURE),
    ):
        public.verify(signature, b"message", reference.PKCS1v15(), SHA256)
    information = Pkcs1Signature("sha1").encode(b"message", BITS).partition(b"\xff\0")[2]
    signature = padded.sign(information, Scheme.PKCS1_SIGNATURE, identifier=False)
    public.verify(signature, b"message", reference.PKCS1v15(), hashes.SHA1())
    for signature, salt_length in (
        (padded.sign(b"message", hashes=True), 32),
        (padded.sign(DIGEST, salt=20), 20),
        (padded.sign(DIGEST, salt=b""), 0),
        (padded.sign(DIGEST, salt=b"salt"), 4),
    ):
        public.verify(signature, b"message", pss(salt_length), SHA256)
    assert padded.sign(DIGEST, salt=b"salt") == signature


def test_the_hardware_verifies(padded):
    for scheme, theirs in (
        (Scheme.PSS, pss()),
        (Scheme.PKCS1_SIGNATURE, reference.PKCS1v15()),
    ):
        signature = THEIRS.sign(b"message", theirs, SHA256)
        padded.verify(DIGEST, signature, scheme)
        other = (int.from_bytes(signature) ^ 1).to_bytes(SIZE)
        for digest, data in ((bytes(32), signature), (DIGEST, other)):
            with pytest.raises(Exception, match="the padding is wrong") as wrong:
                padded.verify(digest, data, scheme)
            assert wrong.value.code is Error.PADDING
    with pytest.raises(Exception, match="the padding is wrong"):
        padded.verify(DIGEST, THEIRS.sign(b"message", pss(20), SHA256))


def test_too_long_a_message_is_refused_and_its_lower_end_encrypted(padded):
    with pytest.raises(Exception, match="the input is longer") as refused:
        padded.encrypt(b"a" + b"m" * (SIZE - 11), Scheme.PKCS1)
    assert refused.value.code is Error.INPUT_CLIPPED
    words = padded._get_output(SIZE // 4)
    ciphertext = b"".join(word.to_bytes(4, "little") for word in words)[::-1]
    assert THEIRS.decrypt(ciphertext, reference.PKCS1v15()) == b"m" * (SIZE - 11)


def test_what_cannot_be_asked_for(padded):
    with pytest.raises(ValueError, match="a digest must have 32 bytes, not 3"):
        padded.verify(b"abc", bytes(SIZE))
    with pytest.raises(ValueError, match="a digest must have 32 bytes, not 31"):
        padded.sign(DIGEST[1:])
    for salt in (33, -1, bytes(33)):
        with pytest.raises(ValueError, match="a salt must have 0 to 32 bytes, not"):
            padded.sign(DIGEST, salt=salt)
    with pytest.raises(ValueError, match="a salt must have 0 to 32 bytes, not 33"):
        padded.verify(DIGEST, bytes(SIZE), salt_length=33)
    with pytest.raises(Exception, match="the input is longer") as refused:
        padded.encrypt(bytes(5000))
    assert refused.value.code is Error.INPUT_CLIPPED
    for ciphertext in (bytes(SIZE - 1), bytes(SIZE + 1)):
        with pytest.raises(Exception, match="the padding is wrong") as refused:
            padded.decrypt(ciphertext, Scheme.PKCS1)
        assert refused.value.code is Error.PADDING


def encoded_messages():
    """Good and wrong ones, with a first byte that keeps them below the modulus."""
    filler = bytes(range(1, SIZE))
    good = Pkcs1Encryption(random=lambda count: filler[:count]).encode(b"message", BITS)
    yield good
    for index, value in ((0, 1), (1, 1), (1, 0), (2, 0), (9, 0), (10, 0), (SIZE - 8, 1)):
        yield good[:index] + bytes([value]) + good[index + 1 :]
    yield b"\0\2" + filler[: SIZE - 2]


@pytest.mark.matrix
def test_time_and_registers_tell_nothing_of_the_padding(padded):
    """From the start to the interrupt, with one key and a ciphertext for each case."""
    for scheme in (Scheme.PKCS1, Scheme.OAEP):
        seen = set()
        good = THEIRS.public_key().encrypt(b"m", oaep())
        ciphertexts = [
            pow(int.from_bytes(data), KEY.e, KEY.n).to_bytes(SIZE) for data in encoded_messages()
        ]
        for ciphertext in (good, *ciphertexts):
            times = []
            execute = padded._execute

            def timed(*arguments, times=times, execute=execute):
                before = padded.device.cycles
                try:
                    execute(*arguments)
                finally:
                    times.append(padded.device.cycles - before)

            padded._execute = timed
            code = Error.NONE
            try:
                padded.decrypt(ciphertext, scheme)
            except Exception as error:
                code = error.code
            finally:
                padded._execute = execute
            assert code is (
                Error.PADDING if scheme is Scheme.OAEP and ciphertext != good else Error.NONE
            )
            shown = [
                padded._read(register)
                for register in (registers.STATUS, registers.CYCLES, registers.PRODUCTS)
            ]
            seen.add((*times, *shown))
        assert len(seen) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("padding", Padding)
def test_each_padding_can_be_left_out(padding):
    accelerator, device = open_padded("karatsuba", (padding,), max_bits=BITS, word=64)
    with device:
        assert accelerator.paddings == {padding}
        accelerator.load_public(KEY.n, KEY.e)
        for scheme in (Scheme.PKCS1, Scheme.OAEP, Scheme.PSS):
            if scheme in padding.schemes:
                continue
            with pytest.raises(Exception, match="does not implement the command") as refused:
                if scheme is Scheme.PSS:
                    accelerator.verify(DIGEST, bytes(SIZE), scheme)
                else:
                    accelerator.encrypt(b"m", scheme)
            assert refused.value.code is Error.UNSUPPORTED
        accelerator.load_private(KEY)
        if padding is Padding.PSS:
            accelerator.verify(DIGEST, accelerator.sign(DIGEST))
        elif padding is Padding.OAEP:
            assert accelerator.decrypt(accelerator.encrypt(b"m")) == b"m"
        else:
            ciphertext = accelerator.encrypt(b"m", Scheme.PKCS1)
            assert accelerator.decrypt(ciphertext, Scheme.PKCS1) == b"m"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("bits", "scheme", "message"), [(128, Scheme.PKCS1, b"Hello"), (544, Scheme.OAEP, b"no")]
)
def test_an_engine_for_one_modulus_works_both_ways(bits, scheme, message):
    """It has no RSA_PRIVATE: STATUS starts MODEXP with the exponent that the driver has loaded."""
    key = keys.generate(bits, seed=7)
    padding = next(one for one in Padding if scheme in one.schemes)
    accelerator, device = open_padded("direct", (padding,), modulus=key.n, multipliers=1, factor=1)
    theirs = Pkcs1Encryption() if scheme is Scheme.PKCS1 else Oaep()
    with device:
        accelerator.load_public(key.n, key.e)
        accelerator.load_private(key)
        ciphertext = accelerator.encrypt(message, scheme)
        encoded = pow(int.from_bytes(ciphertext), key.d, key.n).to_bytes(bits // 8)
        assert theirs.decode(encoded, b"wrong") == message
        assert accelerator.decrypt(ciphertext, scheme) == message
        ciphertext = pow(int.from_bytes(theirs.encode(message, bits)), key.e, key.n)
        assert accelerator.decrypt(ciphertext.to_bytes(bits // 8), scheme) == message
