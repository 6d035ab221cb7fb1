"""A session of a PKCS #11 module, through ctypes, and numbers of the standard that tests use."""

import ctypes
from contextlib import contextmanager
from ctypes import Structure, byref, c_char, c_ubyte, c_ulong, c_void_p

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateNumbers

from coprime.token.module import TokenModule
from tests.token.tokens import PIN

PUBLIC_KEY, PRIVATE_KEY, SECRET_KEY = 2, 3, 4
RSA, DSA, EC, GENERIC_SECRET, AES = 0, 1, 3, 0x10, 0x1F
CLASS, TOKEN, PRIVATE, VALUE, KEY_TYPE = 0, 1, 2, 0x11, 0x100
TRUSTED, SENSITIVE, ENCRYPT, DECRYPT, WRAP, UNWRAP, SIGN = 0x86, *range(0x103, 0x109)
LABEL, ID, WRAP_TEMPLATE, UNWRAP_TEMPLATE = 3, 0x102, 0x40000211, 0x40000212
MODULUS, MODULUS_BITS, PUBLIC_EXPONENT, PRIVATE_EXPONENT = 0x120, 0x121, 0x122, 0x123
PRIME_1, PRIME_2, EXPONENT_1, EXPONENT_2, COEFFICIENT = range(0x124, 0x129)
ALLOWED_MECHANISMS, VERIFY = 0x40000600, 0x10A
VALUE_LEN, EXTRACTABLE, LOCAL = 0x161, 0x162, 0x163
NEVER_EXTRACTABLE, ALWAYS_SENSITIVE, ALWAYS_AUTHENTICATE = 0x164, 0x165, 0x202

RSA_PKCS_KEY_PAIR_GEN, RSA_PKCS, RSA_X_509, RSA_PKCS_OAEP, RSA_PKCS_PSS = 0, 1, 3, 9, 0xD
RSA_AES_KEY_WRAP, AES_KEY_GEN, AES_CBC_PAD, AES_KEY_WRAP_KWP = 0x1054, 0x1080, 0x1085, 0x210B
SHA256, SHA256_RSA_PKCS = 0x250, 0x40
DATA_SPECIFIED, PUBLIC_KEY_INFO, UNIQUE_ID = 1, 0x129, 4
EC_EDWARDS, EC_MONTGOMERY, EC_PARAMS, EC_POINT, DERIVE = 0x40, 0x41, 0x180, 0x181, 0x10C
EC_KEY_PAIR_GEN, EC_EDWARDS_KEY_PAIR_GEN, EC_MONTGOMERY_KEY_PAIR_GEN = 0x1040, 0x1055, 0x1056
ECDSA, ECDSA_SHA256, EDDSA = 0x1041, 0x1044, 0x1057
ECDH1_DERIVE, ECDH1_COFACTOR_DERIVE, NO_KDF = 0x1050, 0x1051, 1

OK, ATTRIBUTE_READ_ONLY, ATTRIBUTE_SENSITIVE, ATTRIBUTE_VALUE_INVALID = 0, 0x10, 0x11, 0x13
DEVICE_ERROR, ENCRYPTED_DATA_INVALID, FUNCTION_NOT_PARALLEL = 0x30, 0x40, 0x51
KEY_HANDLE_INVALID, KEY_TYPE_INCONSISTENT, KEY_FUNCTION_NOT_PERMITTED = 0x60, 0x63, 0x68
KEY_UNEXTRACTABLE, OPERATION_ACTIVE, OPERATION_NOT_INITIALIZED = 0x6A, 0x90, 0x91
PIN_INCORRECT, SIGNATURE_INVALID, TEMPLATE_INCONSISTENT = 0xA0, 0xC0, 0xD1
MECHANISM_PARAM_INVALID, TEMPLATE_INCOMPLETE, CURVE_NOT_SUPPORTED = 0x71, 0xD0, 0x140
TOKEN_NOT_RECOGNIZED, USER_NOT_LOGGED_IN, WRAPPED_KEY_INVALID = 0xE1, 0x101, 0x110
KEY_NOT_WRAPPABLE, KEY_SIZE_RANGE, BUFFER_TOO_SMALL = 0x69, 0x62, 0x150
SESSION_READ_ONLY, MECHANISM_INVALID, KEY_INDIGESTIBLE = 0xB5, 0x70, 0x67
ACTION_PROHIBITED, WRAP_WITH_TRUSTED = 0x1B, 0x210

ML_KEM, ML_DSA, PARAMETER_SET, SEED = 0x49, 0x4A, 0x61D, 0x637
ENCAPSULATE, DECAPSULATE, ENCAPSULATE_TEMPLATE, DECAPSULATE_TEMPLATE = 0x633, 0x634, 0x62A, 0x62B
ML_KEM_KEY_PAIR_GEN, ML_KEM_MECHANISM, ML_DSA_KEY_PAIR_GEN, ML_DSA_MECHANISM = 0xF, 0x17, 0x1C, 0x1D
PARAMETER_SET_NOT_SUPPORTED, WRAPPED_KEY_LEN_RANGE = 0x209, 0x112
UNWRAPPING_KEY_HANDLE_INVALID, UNWRAPPING_KEY_TYPE_INCONSISTENT = 0xF0, 0xF2
_USER, _CONTEXT_SPECIFIC = 1, 2
_SERIAL, _WRITES = 4, 2


class _Buffer(Structure):
    """CK_ATTRIBUTE and CK_MECHANISM: a type, and bytes."""

    _fields_ = [("type", c_ulong), ("bytes", c_void_p), ("size", c_ulong)]


def bytes_of(number):
    """An integer as an attribute, the highest byte first."""
    return number.to_bytes((number.bit_length() + 7) // 8)


def _value(value):
    if isinstance(value, bool):
        return bytes([value])
    return bytes(c_ulong(value)) if isinstance(value, int) else value


def _buffer(kind, value):
    """The structure, which keeps its bytes; a dictionary is a template within a template."""
    if isinstance(value, dict):
        return _array(kind, [_buffer(inner, _value(found)) for inner, found in value.items()])
    content = ctypes.create_string_buffer(value, len(value))
    made = _Buffer(kind, ctypes.cast(content, c_void_p) if value else None, len(value))
    made.content = content
    return made


def _array(kind, buffers):
    """An attribute whose value is an array of others."""
    array = (_Buffer * len(buffers))(*buffers)
    made = _Buffer(kind, ctypes.cast(array, c_void_p) if buffers else None, ctypes.sizeof(array))
    made.content = (array, buffers)
    return made


def mechanism(kind, parameter=b""):
    """CK_MECHANISM."""
    return _buffer(kind, bytes(parameter))


def pss(digest, mask, salt):
    """The parameters of PSS."""
    return bytes((c_ulong * 3)(digest, mask, salt))


class Oaep(Structure):
    """The parameters of OAEP."""

    _fields_ = [(name, c_ulong) for name in ("digest", "mask", "source")]
    _fields_ += [("label", c_void_p), ("label_size", c_ulong)]

    def __init__(self, digest, mask, label=b""):
        self.content = ctypes.create_string_buffer(label, len(label))
        place = ctypes.cast(self.content, c_void_p) if label else None
        super().__init__(digest, mask, DATA_SPECIFIED, place, len(label))


class RsaAes(Structure):
    """The parameters of CKM_RSA_AES_KEY_WRAP."""

    _fields_ = [("bits", c_ulong), ("oaep", c_void_p)]

    def __init__(self, bits, oaep):
        self.content = oaep
        super().__init__(bits, ctypes.cast(ctypes.pointer(oaep), c_void_p))


class Eddsa(Structure):
    """The parameters of EdDSA."""

    _fields_ = [("prehashed", c_ubyte), ("context_size", c_ulong), ("context", c_void_p)]

    def __init__(self, prehashed, context):
        self.content = ctypes.create_string_buffer(context, len(context))
        place = ctypes.cast(self.content, c_void_p) if context else None
        super().__init__(prehashed, len(context), place)


HEDGE_PREFERRED, HEDGE_REQUIRED, DETERMINISTIC_REQUIRED = range(3)


class SignContext(Structure):
    """The parameters of ML-DSA."""

    _fields_ = [("hedge", c_ulong), ("context", c_void_p), ("context_size", c_ulong)]

    def __init__(self, hedge=HEDGE_PREFERRED, context=b""):
        self.content = ctypes.create_string_buffer(context, len(context))
        place = ctypes.cast(self.content, c_void_p) if context else None
        super().__init__(hedge, place, len(context))


class HashSignContext(Structure):
    """The parameters of CKM_HASH_ML_DSA."""

    _fields_ = [*SignContext._fields_, ("hash", c_ulong)]

    def __init__(self, digest, hedge=HEDGE_PREFERRED, context=b""):
        self.content = ctypes.create_string_buffer(context, len(context))
        place = ctypes.cast(self.content, c_void_p) if context else None
        super().__init__(hedge, place, len(context), digest)


class Gcm(Structure):
    """The parameters of GCM."""

    _fields_ = [("iv", c_void_p), ("iv_size", c_ulong), ("iv_bits", c_ulong)]
    _fields_ += [("data", c_void_p), ("data_size", c_ulong), ("tag_bits", c_ulong)]

    def __init__(self, iv, data, tag_bits):
        self.content = [ctypes.create_string_buffer(one, len(one)) for one in (iv, data)]
        places = [ctypes.cast(one, c_void_p) for one in self.content]
        super().__init__(places[0], len(iv), 8 * len(iv), places[1], len(data), tag_bits)


class Ccm(Structure):
    """The parameters of CCM: of the whole text it is the length that is given here."""

    _fields_ = [("text_size", c_ulong), ("nonce", c_void_p), ("nonce_size", c_ulong)]
    _fields_ += [("data", c_void_p), ("data_size", c_ulong), ("tag", c_ulong)]

    def __init__(self, nonce, data, tag, text_size):
        self.content = [ctypes.create_string_buffer(one, len(one)) for one in (nonce, data)]
        places = [ctypes.cast(one, c_void_p) for one in self.content]
        super().__init__(text_size, places[0], len(nonce), places[1], len(data), tag)


class Chacha(Structure):
    """The parameters of ChaCha20-Poly1305."""

    _fields_ = [("nonce", c_void_p), ("nonce_size", c_ulong)]
    _fields_ += [("data", c_void_p), ("data_size", c_ulong)]

    def __init__(self, nonce, data):
        self.content = [ctypes.create_string_buffer(one, len(one)) for one in (nonce, data)]
        places = [ctypes.cast(one, c_void_p) for one in self.content]
        super().__init__(places[0], len(nonce), places[1], len(data))


NO_GENERATE, GENERATE, GENERATE_COUNTER, GENERATE_RANDOM = range(4)


class _Message(Structure):
    """The parameters of one message: its nonce and its tag are the caller's memory."""

    def __init__(self, nonce, tag, *others):
        self.nonce_bytes = ctypes.create_string_buffer(nonce, len(nonce))
        self.tag_bytes = ctypes.create_string_buffer(tag, len(tag))
        self.place = ctypes.cast(self.nonce_bytes, c_void_p)
        self.tag_place = ctypes.cast(self.tag_bytes, c_void_p)
        super().__init__(*others)


class GcmMessage(_Message):
    """Those of GCM."""

    _fields_ = [("iv", c_void_p), ("iv_size", c_ulong), ("fixed", c_ulong), ("source", c_ulong)]
    _fields_ += [("tag", c_void_p), ("tag_bits", c_ulong)]

    def __init__(self, nonce, tag, *, fixed=0, source=NO_GENERATE):
        super().__init__(nonce, tag)
        self.iv, self.iv_size, self.fixed, self.source = self.place, len(nonce), fixed, source
        self.tag, self.tag_bits = self.tag_place, 8 * len(tag)


class CcmMessage(_Message):
    """Those of CCM."""

    _fields_ = [("text_size", c_ulong), ("iv", c_void_p), ("iv_size", c_ulong)]
    _fields_ += [("fixed", c_ulong), ("source", c_ulong), ("tag", c_void_p), ("tag_size", c_ulong)]

    def __init__(self, nonce, tag, text_size, *, fixed=0, source=NO_GENERATE):
        super().__init__(nonce, tag)
        self.iv, self.iv_size, self.fixed, self.source = self.place, len(nonce), fixed, source
        self.text_size, self.tag, self.tag_size = text_size, self.tag_place, len(tag)


class ChachaMessage(_Message):
    """Those of ChaCha20-Poly1305."""

    _fields_ = [("iv", c_void_p), ("iv_size", c_ulong), ("tag", c_void_p)]

    def __init__(self, nonce, tag):
        super().__init__(nonce, tag)
        self.iv, self.iv_size, self.tag = self.place, len(nonce), self.tag_place


class Ecdh(Structure):
    """The parameters of ECDH1: a key derivation function, what it is given, a public key."""

    _fields_ = [("kdf", c_ulong), ("shared_size", c_ulong), ("shared", c_void_p)]
    _fields_ += [("point_size", c_ulong), ("point", c_void_p)]

    def __init__(self, point, kdf=NO_KDF, shared=b""):
        self.content = [ctypes.create_string_buffer(one, len(one)) for one in (shared, point)]
        places = [ctypes.cast(one, c_void_p) for one in self.content]
        super().__init__(kdf, len(shared), places[0] if shared else None, len(point), places[1])


class EncryptedData(Structure):
    """The parameters of CKM_AES_ECB_ENCRYPT_DATA."""

    _fields_ = [("data", c_void_p), ("size", c_ulong)]

    def __init__(self, data):
        self.content = ctypes.create_string_buffer(data, len(data))
        super().__init__(ctypes.cast(self.content, c_void_p) if data else None, len(data))


class ChainedData(Structure):
    """The parameters of CKM_AES_CBC_ENCRYPT_DATA."""

    _fields_ = [("iv", c_ubyte * 16), ("data", c_void_p), ("size", c_ulong)]

    def __init__(self, iv, data):
        self.content = ctypes.create_string_buffer(data, len(data))
        place = ctypes.cast(self.content, c_void_p) if data else None
        super().__init__((c_ubyte * 16)(*iv), place, len(data))


class Hkdf(Structure):
    """The parameters of HKDF: the salt is bytes, the handle of a key, or None."""

    _fields_ = [("extract", c_ubyte), ("expand", c_ubyte), ("digest", c_ulong)]
    _fields_ += [("salt_type", c_ulong), ("salt", c_void_p), ("salt_size", c_ulong)]
    _fields_ += [("salt_key", c_ulong), ("info", c_void_p), ("info_size", c_ulong)]

    def __init__(self, digest, salt=None, info=b"", *, extract=True, expand=True):
        data = salt if isinstance(salt, bytes) else b""
        self.content = [ctypes.create_string_buffer(one, len(one)) for one in (data, info)]
        places = [ctypes.cast(one, c_void_p) for one in self.content]
        kind = 1 if salt is None else 2 if isinstance(salt, bytes) else 4
        super().__init__(
            *(extract, expand, digest, kind, places[0], len(data)),
            *(salt if kind == 4 else 0, places[1], len(info)),
        )


class _Field(Structure):
    """CK_PRF_DATA_PARAM."""

    _fields_ = [("type", c_ulong), ("value", c_void_p), ("size", c_ulong)]


class _Counter(Structure):
    """CK_SP800_108_COUNTER_FORMAT."""

    _fields_ = [("little_endian", c_ubyte), ("bits", c_ulong)]


class _Length(Structure):
    """CK_SP800_108_DKM_LENGTH_FORMAT."""

    _fields_ = [("method", c_ulong), ("little_endian", c_ubyte), ("bits", c_ulong)]


ITERATION, COUNTER, LENGTH, BYTES = range(1, 5)


def field(kind, value=None):
    """A field of SP 800-108: bytes, or of a counter its bits and whether it is little-endian, and
    of a length also how it is counted (1: of the key, 2: of all blocks)."""
    if isinstance(value, tuple):
        content = (
            _Length(value[2], value[1], value[0]) if kind == LENGTH else _Counter(*value[::-1])
        )
    else:
        content = ctypes.create_string_buffer(value or b"", len(value or b""))
    size = ctypes.sizeof(content)
    made = _Field(kind, ctypes.cast(ctypes.byref(content), c_void_p) if size else None, size)
    made.content = content
    return made


class Kbkdf(Structure):
    """The parameters of SP 800-108's functions but for the feedback's."""

    _fields_ = [("prf", c_ulong), ("count", c_ulong), ("fields", c_void_p)]
    _fields_ += [("keys_count", c_ulong), ("keys", c_void_p)]

    def __init__(self, prf, fields, keys=0):
        self.content = (fields, (_Field * len(fields))(*fields))
        place = ctypes.cast(self.content[1], c_void_p)
        super().__init__(prf, len(fields), place, keys, None)


class KbkdfFeedback(Structure):
    """Those of the feedback."""

    _fields_ = [("prf", c_ulong), ("count", c_ulong), ("fields", c_void_p)]
    _fields_ += [("start_size", c_ulong), ("start", c_void_p)]
    _fields_ += [("keys_count", c_ulong), ("keys", c_void_p)]

    def __init__(self, prf, fields, start=b""):
        data = ctypes.create_string_buffer(start, len(start))
        self.content = (fields, (_Field * len(fields))(*fields), data)
        place = ctypes.cast(self.content[1], c_void_p)
        first = ctypes.cast(data, c_void_p) if start else None
        super().__init__(prf, len(fields), place, len(start), first, 0, None)


class EcdhAes(Structure):
    """The parameters of CKM_ECDH_AES_KEY_WRAP."""

    _fields_ = [("bits", c_ulong), ("kdf", c_ulong), ("shared_size", c_ulong), ("shared", c_void_p)]

    def __init__(self, bits, kdf=NO_KDF, shared=b""):
        self.content = ctypes.create_string_buffer(shared, len(shared))
        place = ctypes.cast(self.content, c_void_p) if shared else None
        super().__init__(bits, kdf, len(shared), place)


class Session:
    """A session; errors are TokenError, with the standard's number as `code`."""

    def __init__(self, module, handle):
        self.module, self.handle = module, handle

    def call(self, name, *arguments):
        """Call a function whose first argument is the session."""
        made = (c_ulong(value) if isinstance(value, int) else value for value in arguments)
        self.module.call(name, self.handle, *made)

    def login(self, pin=PIN, who=_USER):
        self.call("C_Login", who, pin.encode(), len(pin))

    def login_again(self, pin=PIN):
        """For the next operation of a key with CKA_ALWAYS_AUTHENTICATE."""
        self.login(pin, _CONTEXT_SPECIFIC)

    def generate_pair(self, public=(), private=(), bits=1024):
        """The handles of a public and a private key."""
        return self.generate(
            RSA_PKCS_KEY_PAIR_GEN, {MODULUS_BITS: bits, **dict(public)}, dict(private)
        )

    def generate(self, kind, public, private):
        """The same, with any mechanism."""
        handles = c_ulong(), c_ulong()
        self.call(
            *("C_GenerateKeyPair", byref(_buffer(kind, b""))),
            *(*self._template(public), *self._template(private), *map(byref, handles)),
        )
        return tuple(handle.value for handle in handles)

    def derive(self, key, point, template=(), *, kind=ECDH1_DERIVE, **parameters):
        """The handle of a secret key that both sides have in common."""
        return self.derive_with(kind, Ecdh(point, **parameters), key, template)

    def derive_with(self, kind, given, key, template=()):
        """The same, by any mechanism."""
        handle = c_ulong()
        self.call(
            *("C_DeriveKey", byref(mechanism(kind, given)), key),
            *(*self._template(dict(template)), byref(handle)),
        )
        return handle.value

    def generate_aes(self, template):
        return self.generate_secret(AES_KEY_GEN, template)

    def generate_secret(self, kind, template):
        handle = c_ulong()
        mechanism = byref(_buffer(kind, b""))
        self.call("C_GenerateKey", mechanism, *self._template(template), byref(handle))
        return handle.value

    def create(self, template):
        handle = c_ulong()
        self.call("C_CreateObject", *self._template(template), byref(handle))
        return handle.value

    def find(self, template):
        """The handles of all objects with these attributes, of at most 64."""
        self.call("C_FindObjectsInit", *self._template(template))
        found, count = (c_ulong * 64)(), c_ulong()
        self.call("C_FindObjects", found, 64, byref(count))
        self.call("C_FindObjectsFinal")
        return found[: count.value]

    def get(self, key, kind):
        """An attribute's bytes."""
        attribute = _buffer(kind, bytes(8192))
        self.call("C_GetAttributeValue", key, byref(attribute), 1)
        return attribute.content.raw[: attribute.size]

    def get_template(self, key, kind, room=64, places=16):
        """An attribute that is a template, read in the standard's two steps: how many attributes it
        has, and then their types and values, each of which has so much room."""
        asked = _Buffer(kind, None, 0)
        self.call("C_GetAttributeValue", key, byref(asked), 1)
        count = asked.size // ctypes.sizeof(_Buffer)
        inner = [_buffer(0, bytes(room)) for _ in range(count)]
        found = _array(kind, inner[:places])
        self.call("C_GetAttributeValue", key, byref(found), 1)
        array = found.content[0]
        return {
            array[i].type: inner[i].content.raw[: array[i].size] for i in range(min(count, places))
        }

    def is_true(self, key, kind):
        return self.get(key, kind) == b"\1"

    def copy(self, key, template=()):
        handle = c_ulong()
        self.call("C_CopyObject", key, *self._template(dict(template)), byref(handle))
        return handle.value

    def set(self, key, kind, value):
        self.call("C_SetAttributeValue", key, *self._template({kind: value}))

    def import_pair(self, key, private=()):
        """A key of `cryptography`, or its numbers: the handles of its public and private half."""
        numbers = key if isinstance(key, RSAPrivateNumbers) else key.private_numbers()
        public = {
            MODULUS: bytes_of(numbers.public_numbers.n),
            PUBLIC_EXPONENT: bytes_of(numbers.public_numbers.e),
        }
        secret = {
            PRIVATE_EXPONENT: numbers.d,
            PRIME_1: numbers.p,
            PRIME_2: numbers.q,
            EXPONENT_1: numbers.dmp1,
            EXPONENT_2: numbers.dmq1,
            COEFFICIENT: numbers.iqmp,
        }
        common = {KEY_TYPE: RSA, **public}
        return (
            self.create({CLASS: PUBLIC_KEY, **common}),
            self.create(
                {CLASS: PRIVATE_KEY, **common}
                | {kind: bytes_of(number) for kind, number in secret.items()}
                | dict(private)
            ),
        )

    def digest(self, mechanism, data):
        self.call("C_DigestInit", byref(_buffer(mechanism, b"")))
        return self.finish("C_Digest", data)

    def sign(self, key, mechanism, data, parameter=b""):
        self.begin("C_SignInit", key, mechanism, parameter)
        return self.finish("C_Sign", data)

    def verify(self, key, mechanism, data, signature, parameter=b""):
        self.begin("C_VerifyInit", key, mechanism, parameter)
        self.call("C_Verify", data, len(data), signature, len(signature))

    def verify_given(self, key, mechanism, parts, signature, parameter=b""):
        """Verify with the signature first: one part in one call, others part by part."""
        how = byref(_buffer(mechanism, bytes(parameter)))
        self.call("C_VerifySignatureInit", how, key, signature, len(signature))
        if len(parts) == 1:
            self.call("C_VerifySignature", parts[0], len(parts[0]))
        else:
            for part in parts:
                self.call("C_VerifySignatureUpdate", part, len(part))
            self.call("C_VerifySignatureFinal")

    def sign_message(self, data):
        """A signature of one of many messages; it is asked for the length first."""
        size = c_ulong()
        self.call("C_SignMessage", None, 0, data, len(data), None, byref(size))
        made = (c_ubyte * size.value)()
        self.call("C_SignMessage", None, 0, data, len(data), made, byref(size))
        return bytes(made[: size.value])

    def verify_message(self, data, signature):
        self.call("C_VerifyMessage", None, 0, data, len(data), signature, len(signature))

    def encrypt(self, key, mechanism, data, parameter=b""):
        self.begin("C_EncryptInit", key, mechanism, parameter)
        return self.finish("C_Encrypt", data)

    def decrypt(self, key, mechanism, data, parameter=b""):
        self.begin("C_DecryptInit", key, mechanism, parameter)
        return self.finish("C_Decrypt", data)

    def begin(self, function, key, mechanism, parameter=b""):
        self.call(function, byref(_buffer(mechanism, bytes(parameter))), key)

    def finish(self, function, data):
        """What a function makes of the data; it is asked for the length first."""
        size = c_ulong()
        self.call(function, data, len(data), None, byref(size))
        made = (c_ubyte * size.value)()
        self.call(function, data, len(data), made, byref(size))
        return bytes(made[: size.value])

    def update(self, function, data):
        """Give a part to a function that returns nothing for it."""
        self.call(function, data, len(data))

    def give(self, function, data):
        """Give a part to a function that returns something for it."""
        size = c_ulong(len(data) + 64)
        made = (c_ubyte * size.value)()
        self.call(function, data, len(data), made, byref(size))
        return bytes(made[: size.value])

    def ask(self, function, data):
        """The length of the result of a function that has the whole input."""
        size = c_ulong()
        self.call(function, data, len(data), None, byref(size))
        return size.value

    def ask_final(self, function):
        """The length of the result after all parts."""
        size = c_ulong()
        self.call(function, None, byref(size))
        return size.value

    def final(self, function, room=8192):
        """The result after all parts."""
        made, size = (c_ubyte * room)(), c_ulong(room)
        self.call(function, made, byref(size))
        return bytes(made[: size.value])

    def cancel(self, function, key=None):
        """End an operation by a function that begins one."""
        self.call(function, None, *(() if key is None else (key,)))

    def encapsulate(self, key, template=(), *, room=None, kind=ML_KEM_MECHANISM, parameter=b""):
        """A ciphertext and the handle of a secret key; it is asked for the length first."""
        handle, size = c_ulong(), c_ulong()
        how, array = byref(mechanism(kind, parameter)), self._template(dict(template))
        self.call("C_EncapsulateKey", how, key, *array, None, byref(size), byref(handle))
        size = c_ulong(size.value if room is None else room)
        made = (c_ubyte * size.value)()
        self.call("C_EncapsulateKey", how, key, *array, made, byref(size), byref(handle))
        return bytes(made[: size.value]), handle.value

    def decapsulate(self, key, ciphertext, template=(), kind=ML_KEM_MECHANISM):
        """The handle of the secret key of a ciphertext."""
        handle = c_ulong()
        self.call(
            *("C_DecapsulateKey", byref(mechanism(kind)), key, *self._template(dict(template))),
            *(ciphertext, len(ciphertext), byref(handle)),
        )
        return handle.value

    def wrap(self, mechanism, wrapping, key, parameter=b""):
        made, size = (c_char * 16384)(), c_ulong(16384)
        how = byref(_buffer(mechanism, bytes(parameter)))
        self.call("C_WrapKey", how, wrapping, key, made, byref(size))
        return made.raw[: size.value]

    def unwrap(self, mechanism, unwrapping, wrapped, template, parameter=b""):
        handle = c_ulong()
        self.call(
            *("C_UnwrapKey", byref(_buffer(mechanism, bytes(parameter))), unwrapping),
            *(wrapped, len(wrapped), *self._template(template), byref(handle)),
        )
        return handle.value

    @staticmethod
    def _template(attributes):
        buffers = [_buffer(kind, _value(value)) for kind, value in attributes.items()]
        array = (_Buffer * len(buffers))(*buffers)
        array.content = buffers
        return array, len(buffers)


@contextmanager
def running(token):
    """A session of a token, while its module runs in this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in token.environment.items():
            if name.startswith("COPRIME_TOKEN_"):
                patch.setenv(name, value)
        module = TokenModule(token.module)
        with module.running(), open_session(module) as session:
            yield session


@contextmanager
def open_session(module, *, writes=True):
    handle, flags = c_ulong(), c_ulong(_SERIAL | (_WRITES if writes else 0))
    module.call("C_OpenSession", c_ulong(0), flags, None, None, byref(handle))
    session = Session(module, handle)
    try:
        yield session
    finally:
        module.call("C_CloseSession", handle)
