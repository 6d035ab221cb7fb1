"""A token's file as this test suite reads and writes it, apart from the module: the form that
coprime/token/src/store.c describes, with its digest made right after any change."""

import hashlib
import hmac
import struct
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC, OLD_MAGIC = b"Coprime token 2\0", b"Coprime token 1\0"
NO_PIN, OLD_PIN, TAGGED_PIN = range(3)
PRIVATE, GUEST = 1, 2
_OFFICER, _USER = 2, 1


@dataclass
class Pin:
    form: int = NO_PIN
    failures: int = 0
    log_n: int = 0
    r: int = 0
    p: int = 0
    salt: bytes = bytes(16)
    sealed: bytes = bytes(60)

    def packed(self):
        numbers = struct.pack("<5I", self.form, self.failures, self.log_n, self.r, self.p)
        return numbers + self.salt + self.sealed

    @classmethod
    def parsed(cls, data):
        return cls(*struct.unpack("<5I", data[:20]), data[20:36], data[36:])

    def key(self, pin):
        """What scrypt makes of a PIN."""
        limit = 2 << 7 + self.log_n + 3
        return hashlib.scrypt(
            pin.encode(), salt=self.salt, n=1 << self.log_n, r=self.r, p=self.p, dklen=32,
            maxmem=limit,
        )  # fmt: skip


@dataclass
class Record:
    number: int
    revision: int
    flags: int
    content: bytes

    def packed(self):
        head = struct.pack("<QQII", self.number, self.revision, self.flags, len(self.content))
        return head + self.content


def attributes(values):
    """A list of attributes: numbers are CK_ULONG, booleans one byte."""
    packed = b""
    for kind, value in values.items():
        if isinstance(value, bool):
            data = bytes([value])
        else:
            data = value.to_bytes(8, "little") if isinstance(value, int) else value
        packed += struct.pack("<QI", kind, len(data)) + data
    return packed


@dataclass
class Stored:
    """The content of a file."""

    generation: int
    instance: bytes
    label: bytes
    serial: bytes
    next_number: int
    officer: Pin
    user: Pin
    records: list[Record] = field(default_factory=list)
    tag: bytes | None = None

    @classmethod
    def read(cls, path):
        data = path.read_bytes()
        assert hashlib.sha256(data[:-32]).digest() == data[-32:]
        tagged = data[:16] == MAGIC
        place = 40
        tag = data[place : place + 32] if tagged else None
        place += 32 * tagged
        label, serial = data[place : place + 32], data[place + 32 : place + 48]
        place += 48
        (next_number,) = struct.unpack("<Q", data[place : place + 8])
        place += 8
        pins = [Pin.parsed(data[place + 96 * k : place + 96 * (k + 1)]) for k in range(2)]
        (count,) = struct.unpack("<I", data[place + 192 : place + 196])
        place += 196
        records = []
        for _ in range(count):
            number, revision, flags, size = struct.unpack("<QQII", data[place : place + 24])
            records.append(Record(number, revision, flags, data[place + 24 : place + 24 + size]))
            place += 24 + size
        assert place == len(data) - 32
        (generation,) = struct.unpack("<Q", data[16:24])
        return cls(generation, data[24:40], label, serial, next_number, *pins, records, tag)

    def packed(self):
        body = (MAGIC if self.tag is not None else OLD_MAGIC) + struct.pack("<Q", self.generation)
        body += self.instance + (self.tag or b"") + self.label + self.serial
        body += struct.pack("<Q", self.next_number) + self.officer.packed() + self.user.packed()
        body += struct.pack("<I", len(self.records))
        body += b"".join(record.packed() for record in self.records)
        return body + hashlib.sha256(body).digest()

    def write(self, path):
        """As another state of the file."""
        self.generation += 1
        path.write_bytes(self.packed())

    def add(self, values, flags=0):
        """A public object that nobody with a PIN has written."""
        self.records.append(Record(self.next_number, 1, flags, attributes(values)))
        self.next_number += 1

    def master(self, pin):
        """The master key, with the user's PIN."""
        return AESGCM(self.user.key(pin)).decrypt(
            self.user.sealed[:12],
            self.user.sealed[12:],
            self.instance + bytes([_USER, self.user.form]),
        )

    def derive_anew(self, officer_pin, user_pin, log_n):
        """Seal the master key with keys that scrypt derives from both PINs at another cost."""
        master = self.master(user_pin)
        for pin, text, who in (
            (self.officer, officer_pin, _OFFICER),
            (self.user, user_pin, _USER),
        ):
            bound = self.instance + bytes([who, pin.form])
            nonce, pin.log_n = pin.sealed[:12], log_n
            pin.sealed = nonce + AESGCM(pin.key(text)).encrypt(nonce, master, bound)
        self.tag_with(master)

    def tag_with(self, master):
        """Authenticate all records."""
        key = hmac.digest(master, b"Coprime token: all records\0", "sha256")
        pins = [Pin(**{**pin.__dict__, "failures": 0}) for pin in (self.officer, self.user)]
        text = self.instance + self.label + self.serial + b"".join(pin.packed() for pin in pins)
        text += b"".join(record.packed() for record in self.records if not record.flags & GUEST)
        self.tag = hmac.digest(key, text, "sha256")


def first_version(label, officer_pin, user_pin):
    """A file of the first version, which had no tag, with one public object."""
    instance, master = bytes(range(16)), bytes(range(32))

    def pin_of(pin, who):
        made = Pin(OLD_PIN, 0, 15, 8, 1, bytes([who]) * 16)
        nonce = bytes(12)
        bound = instance + bytes([who])
        made.sealed = nonce + AESGCM(made.key(pin)).encrypt(nonce, master, bound)
        return made

    made = Stored(
        *(1, instance, label.encode().ljust(32), b"0123456789abcdef", 7),
        *(pin_of(officer_pin, _OFFICER), pin_of(user_pin, _USER)),
    )
    made.add({0: 0, 1: True, 2: False, 3: b"second", 0x11: b"data"})
    made.records.append(Record(3, 1, 0, attributes({0: 0, 1: True, 2: False, 3: b"first"})))
    return made
