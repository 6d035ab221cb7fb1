"""A PKCS #11 module from Python, as far as making a token ready and showing it need it.

The functions are the standard's, called through ctypes: `module.call("C_Login", session, ...)`.
"""

import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import Structure, byref, c_char, c_ubyte, c_ulong, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coprime.errors import CoprimeError

from .mechanism_names import CLASSES, FLAGS, KEY_TYPES, MECHANISMS, RIGHTS

OFFICER, USER = 0, 1  # who logs in: CKU_SO and CKU_USER
MIN_PIN, ADVISED_PIN = 6, 8
"""Lengths of PINs in bytes: the least that is taken, and the least that is advised."""
NOT_RECOGNIZED = 0xE1
"""The error of a file that is no token's, is damaged, or was changed without a PIN."""
_SERIAL, _WRITES = 4, 2
_INITIALIZED, _USER_PIN, _WRITE_PROTECTED = 0x400, 0x8, 0x2
_USER_PIN_LOCKED, _OFFICER_PIN_LOCKED = 0x40000, 0x400000
_LABEL_BYTES = 32
_MOST_OBJECTS = 8192
_LONGEST_ATTRIBUTE = 4096
"""Bytes: a public key of ML-DSA-87 has 2,614 with its algorithm."""
_CLASS, _LABEL, _KEY_TYPE = 0, 3, 0x100

_SENTENCES = {
    0x03: "there is no such slot",
    0x06: "the module cannot start: see its configuration in docs/token.md",
    0x0A: "another process has locked the token's folder for ten seconds",
    0x30: "the device, or the token's folder, cannot be used",
    0x31: "the token, or the disk, is full",
    0x70: "the token's device does not do this: see COPRIME_TOKEN_DEVICE in docs/token.md",
    0xA0: "the PIN is wrong",
    0xA2: f"a PIN has {MIN_PIN} to 255 bytes",
    0xA4: "the PIN was wrong too often, and is locked",
    0xE1: "the slot has no token yet, or its file is damaged: `coprime token check` tells",
    0xE2: "the token's folder cannot be written",
}


class TokenError(CoprimeError):
    """A function of the module returned an error.

    Attributes
    ----------
    code (int): the standard's number, CKR_..
    """

    def __init__(self, function: str, code: int):
        super().__init__(_SENTENCES.get(code, f"{function} returned error {code:#x}"))
        self.code = code


class _TokenInfo(Structure):
    _fields_ = [
        *(("label", c_char * 32), ("manufacturer", c_char * 32), ("model", c_char * 16)),
        *(("serial", c_char * 16), ("flags", c_ulong), ("numbers", c_ulong * 10)),
        *(("versions", c_ubyte * 4), ("time", c_char * 16)),
    ]


@dataclass(frozen=True)
class TokenState:
    """What a slot's token says of itself.

    Parameters
    ----------
    slot : its number
    label, serial : without the blanks at the end
    initialized : whether it is ready for a user's PIN
    user_pin : whether it has one
    writable : whether its folder can be written
    user_pin_locked, officer_pin_locked : whether the PIN was wrong too often
    """

    slot: int
    label: str
    serial: str
    initialized: bool
    user_pin: bool
    writable: bool
    user_pin_locked: bool
    officer_pin_locked: bool


class _MechanismInfo(Structure):
    _fields_ = [(name, c_ulong) for name in ("least", "most", "flags")]


class Attribute(Structure):
    """CK_ATTRIBUTE; CK_MECHANISM has the same members."""

    _fields_ = [("type", c_ulong), ("bytes", c_void_p), ("size", c_ulong)]


Template = Mapping[int, bytes | int | bool]
"""Attributes of the standard by their numbers."""


def template(attributes: Template) -> tuple[object, c_ulong]:
    """An array of CK_ATTRIBUTE, which keeps its bytes, and how many attributes it has."""
    made: Any = (Attribute * len(attributes))()
    made.kept = []
    for place, (kind, value) in zip(made, attributes.items(), strict=True):
        if isinstance(value, bool):
            content = bytes([value])
        else:
            content = bytes(c_ulong(value)) if isinstance(value, int) else value
        made.kept.append(ctypes.create_string_buffer(content, len(content)))
        place.type, place.size = kind, len(content)
        place.bytes = ctypes.cast(made.kept[-1], c_void_p)
    return made, c_ulong(len(attributes))


@dataclass(frozen=True)
class TokenKey:
    """A key of a token, as far as it can be seen.

    Parameters
    ----------
    label : without which it is empty
    kind : public, private or secret
    type : RSA, EC and so on; a number that has no name here is one in hexadecimal
    rights : what it is allowed to do
    """

    label: str
    kind: str
    type: str
    rights: Sequence[str]


class TokenModule:
    """A module that is loaded. Raises OSError if the file is none."""

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path.resolve()))

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of the standard. Raises TokenError unless it returns CKR_OK."""
        function = getattr(self._library, name)
        function.restype = c_ulong
        code = function(*arguments)
        if code:
            raise TokenError(name, code)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Initialize the module, and finalize it."""
        self.call("C_Initialize", None)
        try:
            yield
        finally:
            self.call("C_Finalize", None)

    def slots(self) -> Sequence[int]:
        """The numbers of all slots."""
        count = c_ulong()
        self.call("C_GetSlotList", c_ubyte(1), None, byref(count))
        slots = (c_ulong * count.value)()
        self.call("C_GetSlotList", c_ubyte(1), slots, byref(count))
        return list(slots)

    def state(self, slot: int) -> TokenState:
        """The token of a slot."""
        info = _TokenInfo()
        self.call("C_GetTokenInfo", c_ulong(slot), byref(info))
        label, serial = (
            bytes(text).decode("utf-8", "replace").rstrip() for text in (info.label, info.serial)
        )
        flags = info.flags
        return TokenState(
            *(slot, label, serial, bool(flags & _INITIALIZED), bool(flags & _USER_PIN)),
            writable=not flags & _WRITE_PROTECTED,
            user_pin_locked=bool(flags & _USER_PIN_LOCKED),
            officer_pin_locked=bool(flags & _OFFICER_PIN_LOCKED),
        )

    def mechanisms(self, slot: int) -> dict[str, Sequence[str]]:
        """What each mechanism of a slot does, by its name."""
        count = c_ulong()
        self.call("C_GetMechanismList", c_ulong(slot), None, byref(count))
        numbers = (c_ulong * count.value)()
        self.call("C_GetMechanismList", c_ulong(slot), numbers, byref(count))
        found: dict[str, Sequence[str]] = {}
        for number in numbers:
            info = _MechanismInfo()
            self.call("C_GetMechanismInfo", c_ulong(slot), c_ulong(number), byref(info))
            does = [name for flag, name in FLAGS.items() if info.flags & flag]
            found[MECHANISMS.get(number, f"{number:#x}")] = does
        return found

    def keys(self, slot: int, pin: bytes | None = None) -> list[TokenKey]:
        """The keys of a token: those that can be seen without a PIN, or all. Raises TokenError."""
        with self.session(slot, pin) as session:
            made = [self._key(session, handle) for handle in self.find(session, {})]
        return [key for key in made if key is not None]

    def find(self, session: c_ulong, attributes: Template) -> list[int]:
        """The handles of the objects that have these attributes."""
        found, count = (c_ulong * _MOST_OBJECTS)(), c_ulong()
        self.call("C_FindObjectsInit", session, *template(attributes))
        self.call("C_FindObjects", session, found, c_ulong(_MOST_OBJECTS), byref(count))
        self.call("C_FindObjectsFinal", session)
        return list(found[: count.value])

    def _key(self, session: c_ulong, handle: int) -> TokenKey | None:
        """What an object says of itself, if it is a key."""
        kind = CLASSES.get(self._number(session, handle, _CLASS))
        if kind is None:
            return None
        number = self._number(session, handle, _KEY_TYPE)
        label = self.attribute(session, handle, _LABEL).decode("utf-8", "replace")
        rights = [
            name
            for right, name in RIGHTS.items()
            if self.attribute(session, handle, right) == b"\1"
        ]
        return TokenKey(label, kind, KEY_TYPES.get(number, f"{number:#x}"), rights)

    def attribute(self, session: c_ulong, handle: int, kind: int) -> bytes:
        """An attribute's value; nothing if the object has none."""
        room = ctypes.create_string_buffer(_LONGEST_ATTRIBUTE)
        wanted = Attribute(kind, ctypes.cast(room, c_void_p), len(room))
        try:
            self.call("C_GetAttributeValue", session, c_ulong(handle), byref(wanted), c_ulong(1))
        except TokenError:
            return b""
        return room.raw[: wanted.size]

    def _number(self, session: c_ulong, handle: int, kind: int) -> int:
        return int.from_bytes(self.attribute(session, handle, kind), sys.byteorder)

    def initialize(self, slot: int, label: str, officer_pin: bytes, user_pin: bytes) -> None:
        """Make a token anew, with both PINs: all that was in it is gone.

        ValueError: the label has more than 32 bytes. Raises TokenError.
        """
        padded = label.encode().ljust(_LABEL_BYTES)
        if len(padded) > _LABEL_BYTES:
            raise ValueError(f"a label has at most {_LABEL_BYTES} bytes, not {len(padded)}")
        length = c_ulong(len(officer_pin))
        self.call("C_InitToken", c_ulong(slot), officer_pin, length, padded)
        with self.session(slot) as session:
            self.call("C_Login", session, c_ulong(OFFICER), officer_pin, length)
            self.call("C_InitPIN", session, user_pin, c_ulong(len(user_pin)))

    def check_pin(self, slot: int, pin: bytes) -> None:
        """Log in as the user, which also finds what was written by somebody without a PIN.

        Raises TokenError.
        """
        with self.session(slot, pin):
            pass

    @contextmanager
    def session(self, slot: int, pin: bytes | None = None) -> Iterator[c_ulong]:
        """A session, in which the user is logged in if there is a PIN. Raises TokenError."""
        session = c_ulong()
        flags = c_ulong(_SERIAL | _WRITES)
        self.call("C_OpenSession", c_ulong(slot), flags, None, None, byref(session))
        try:
            if pin is not None:
                self.call("C_Login", session, c_ulong(USER), pin, c_ulong(len(pin)))
            yield session
        finally:
            self.call("C_CloseSession", session)
