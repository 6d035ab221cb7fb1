"""The token's file: what others may write into it, who owns it, how much fits, who waits."""

import ctypes
import errno
import fcntl
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from cryptography.exceptions import InvalidTag

from coprime.token import token_files
from coprime.token.module import TokenError, TokenModule
from tests.cli.command import run
from tests.token import cryptoki
from tests.token.cryptoki import open_session
from tests.token.cryptoki import running as running_token
from tests.token.stored import GUEST, OLD_PIN, TAGGED_PIN, Stored, first_version
from tests.token.tokens import LABEL, OFFICER_PIN, PIN, compile_library

pytestmark = pytest.mark.xdist_group("token")

DATA, CERTIFICATE = 0, 1
LABEL_OF, TRUSTED = 3, 0x86
OBJECT_HANDLE_INVALID = 0x82
CANT_LOCK, DEVICE_MEMORY, NOT_RECOGNIZED, WRITE_PROTECTED = 0x0A, 0x31, 0xE1, 0xE2
PIN_INCORRECT, PIN_LOCKED, NOT_LOGGED_IN = 0xA0, 0xA4, 0x101
PUBLIC_DATA = {cryptoki.CLASS: DATA, cryptoki.TOKEN: True, cryptoki.PRIVATE: False}

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")


def refused(code):
    return pytest.raises(TokenError, check=lambda error: error.code == code)


def change(token, how):
    """Change the stored file, with its digest made right."""
    path = token.folder / "token"
    stored = Stored.read(path)
    how(stored)
    stored.write(path)
    return stored


def public_key(bits):
    """The attributes of a public key that may do everything."""
    return {
        cryptoki.CLASS: cryptoki.PUBLIC_KEY,
        cryptoki.TOKEN: True,
        cryptoki.PRIVATE: False,
        cryptoki.KEY_TYPE: cryptoki.RSA,
        LABEL_OF: b"planted",
        cryptoki.WRAP: True,
        0x104: True,
        0x10A: True,
        TRUSTED: True,
        cryptoki.MODULUS: cryptoki.bytes_of(2**bits - 1),
        cryptoki.PUBLIC_EXPONENT: b"\1\0\1",
    }


# What somebody may write who has no PIN.


def plant(stored):
    stored.add(public_key(1024))


def drop(stored):
    stored.records.pop()


def change_object(stored):
    stored.records[0].content = stored.records[0].content.replace(b"kept", b"mine")


def relabel(stored):
    stored.label = b"another".ljust(32)


def mark_as_guest(stored):
    stored.records[0].flags |= GUEST


def go_back_to_the_first_version(stored):
    stored.tag = None


def forge_the_tag(stored):
    stored.add(public_key(1024))
    stored.tag_with(bytes(32))


HOSTILE = (
    *(plant, drop, change_object, relabel, mark_as_guest),
    *(go_back_to_the_first_version, forge_the_tag),
)


@pytest.fixture
def filled(token):
    """A token with two public objects that were written with the PIN."""
    with running_token(token) as session:
        session.login()
        for label in (b"kept", b"kept, too"):
            session.create(PUBLIC_DATA | {LABEL_OF: label})
    return token


@pytest.mark.parametrize("how", HOSTILE)
def test_a_file_that_was_changed_without_the_pin(filled, how):
    """Its digest is right, and nobody logs in; whoever is logged in already is logged out."""
    before = (filled.folder / "token").read_bytes()
    with running_token(filled) as session:
        session.login()
        session.find({})
        change(filled, how)
        with pytest.raises(TokenError):
            session.find({})
        (filled.folder / "token").write_bytes(before)
        session.login()
    change(filled, how)
    with running_token(filled) as session, refused(NOT_RECOGNIZED):
        session.login()


def test_the_test_writes_what_the_module_takes(filled):
    """With the master key the same additions are the user's own."""

    def add(stored):
        stored.add(public_key(1024))
        stored.tag_with(stored.master(PIN))

    change(filled, add)
    with running_token(filled) as session:
        session.login()
        assert len(session.find({LABEL_OF: b"planted"})) == 1


def test_a_guest_is_not_trusted_and_does_not_wrap(token):
    """Objects written without a PIN are seen, but for what others would rely on."""
    key = public_key(1024)
    change(token, lambda stored: stored.add(key, GUEST))
    with running_token(token) as session:
        assert session.find({LABEL_OF: b"planted"}) == []
        session.login()
        assert session.find({LABEL_OF: b"planted"}) == []
    change(token, lambda stored: stored.add(key | {TRUSTED: False}, GUEST))
    with running_token(token) as session:
        session.login()
        (found,) = session.find({LABEL_OF: b"planted"})
        assert not session.is_true(found, cryptoki.WRAP)


def test_a_guest_changes_only_what_guests_wrote(filled):
    with running_token(filled) as session:
        (kept, _) = session.find({cryptoki.CLASS: DATA})
        own = session.create(PUBLIC_DATA | {LABEL_OF: b"guest"})
        with refused(NOT_LOGGED_IN):
            session.call("C_DestroyObject", kept)
        with refused(NOT_LOGGED_IN):
            session.set(kept, LABEL_OF, b"changed")
        session.set(own, LABEL_OF, b"changed")
        session.login()
        session.call("C_DestroyObject", kept)
        session.set(own, LABEL_OF, b"adopted")
        session.call("C_Logout")
        with refused(NOT_LOGGED_IN):
            session.call("C_DestroyObject", own)


@pytest.mark.parametrize(("log_n", "r", "p"), [(24, 8, 1), (17, 64, 1), (17, 8, 16), (1, 1, 1)])
def test_scrypt_is_not_asked_for_gigabytes(token, log_n, r, p):
    def ask(stored):
        stored.user.log_n, stored.user.r, stored.user.p = log_n, r, p

    change(token, ask)
    with pytest.raises(TokenError) as error, running_token(token):
        pass
    assert error.value.code == NOT_RECOGNIZED


def test_numbers_of_the_file_are_bounded(token):
    """A public key of 8192 bits, and others of strange lengths, are no keys of the token."""
    strange = (
        public_key(8192),
        public_key(1024) | {cryptoki.MODULUS: b""},
        public_key(1024) | {0x40000600: bytes(7)},
        public_key(1024) | {cryptoki.KEY_TYPE: b"\0"},
        {cryptoki.CLASS: cryptoki.PRIVATE_KEY, cryptoki.TOKEN: True, cryptoki.PRIVATE: False},
    )
    for values in strange:
        before = (token.folder / "token").read_bytes()
        change(token, lambda stored, values=values: stored.add(values | {TRUSTED: False}, GUEST))
        with running_token(token) as session:
            for key in session.find({cryptoki.CLASS: cryptoki.PUBLIC_KEY}):
                with pytest.raises(TokenError):
                    session.encrypt(key, cryptoki.RSA_PKCS, b"a message")
        (token.folder / "token").write_bytes(before)


def test_a_file_of_the_first_version(token):
    """It opens with its PINs, and has a tag after a login; then no file without one is taken."""
    path = token.folder / "token"
    first_version(LABEL, OFFICER_PIN, "1234").write(path)
    with running_token(token) as session:
        with refused(PIN_INCORRECT):
            session.login("4321")
        session.login("1234")
        assert len(session.find({cryptoki.CLASS: DATA})) == 2
        session.create(PUBLIC_DATA | {LABEL_OF: b"third"})
    stored = Stored.read(path)
    assert (stored.user.form, stored.officer.form) == (TAGGED_PIN, OLD_PIN)
    assert [record.number for record in stored.records] == [3, 7, 8]
    token.tool("--init-pin", "--login", "--login-type", "so", "--so-pin", OFFICER_PIN,
               "--new-pin", PIN)  # fmt: skip
    change(token, go_back_to_the_first_version)
    with running_token(token) as session, refused(NOT_RECOGNIZED):
        session.login()


# An older file that was put back.

CREATE = """
import sys
from pathlib import Path
from tests.token.cryptoki import running
from tests.token.tokens import Token
with running(Token(Path(sys.argv[1]), Path(sys.argv[2]))) as session:
    session.login()
    session.create({0: 0, 1: True, 2: sys.argv[4] == "private", 3: sys.argv[3].encode()})
"""


def create_elsewhere(token, label, kind="public"):
    """Another process makes an object."""
    command = [sys.executable, "-c", CREATE, token.module, token.folder, label, kind]
    subprocess.run([str(word) for word in command], check=True)


@pytest.mark.parametrize("kind", ["public", "private"])
def test_a_file_that_was_put_back_and_changed(filled, kind):
    """By another process, which makes of generation N - 1 another N: nobody takes it for the one
    that he knows, overwrites it, or shows an object of the one as that of the other."""
    path = filled.folder / "token"
    older = path.read_bytes()
    template = PUBLIC_DATA | {cryptoki.PRIVATE: kind == "private"}
    with running_token(filled) as session:
        session.login()
        mine = session.create(template | {LABEL_OF: b"mine"})
        generation = Stored.read(path).generation
        path.write_bytes(older)
        create_elsewhere(filled, "theirs", kind)
        stored = Stored.read(path)
        assert stored.generation == generation
        for call in (
            lambda: session.get(mine, LABEL_OF),
            lambda: session.set(mine, LABEL_OF, b"changed"),
            lambda: session.call("C_DestroyObject", mine),
        ):
            with refused(OBJECT_HANDLE_INVALID):
                call()
        (theirs,) = session.find({LABEL_OF: b"theirs"})
        assert session.find({LABEL_OF: b"mine"}) == []
        session.set(theirs, LABEL_OF, b"of both")
        session.create(template | {LABEL_OF: b"more"})
    with running_token(filled) as session:
        session.login()
        for label in (b"kept", b"of both", b"more"):
            assert len(session.find({LABEL_OF: label})) == 1


def test_an_object_that_was_put_back_and_changed(filled):
    """In two ways, each the second revision of one object: the handle shows what the file has."""
    path = filled.folder / "token"
    older = path.read_bytes()
    with running_token(filled) as session:
        session.login()
        (kept,) = session.find({LABEL_OF: b"kept"})
        session.set(kept, LABEL_OF, b"mine")
        newer = Stored.read(path)
        stored = Stored.read(path)
        path.write_bytes(older)
        stored.records[0].content = stored.records[0].content.replace(b"mine", b"your")
        stored.tag_with(stored.master(PIN))
        stored.generation -= 1  # which writing adds
        stored.write(path)
        assert stored.generation == newer.generation
        assert session.get(kept, LABEL_OF) == b"your"


@pytest.mark.parametrize("what", ["next_number", "generation", "revision"])
def test_the_greatest_numbers_of_a_file(filled, what):
    """With the right tag: the token stays readable."""
    greatest = 2**64 - 1

    def raise_number(stored):
        if what == "revision":
            stored.records[0].revision = greatest
        elif what == "next_number":
            stored.next_number = greatest
        else:
            stored.generation = greatest - 1  # to which writing adds 1
        stored.tag_with(stored.master(PIN))

    change(filled, raise_number)
    with running_token(filled) as session:
        session.login()
        (kept,) = session.find({LABEL_OF: b"kept"})
        session.set(kept, LABEL_OF, b"changed")
        if what == "next_number":
            with refused(DEVICE_MEMORY):
                session.create(PUBLIC_DATA)
        else:
            session.create(PUBLIC_DATA)
    with running_token(filled) as session:
        session.login()
        assert len(session.find({LABEL_OF: b"changed"})) == 1


# How much fits.


def test_objects_without_a_pin_leave_room(token):
    """They fill a part of the token; it opens, and some can be deleted, and keys still fit."""
    with running_token(token) as session:
        made = [session.create(PUBLIC_DATA) for _ in range(256)]
        with refused(DEVICE_MEMORY):
            session.create(PUBLIC_DATA)
        session.call("C_DestroyObject", made.pop())
        session.create(PUBLIC_DATA)
        session.login()
        session.create(PUBLIC_DATA)
        session.generate_pair({cryptoki.TOKEN: True}, {cryptoki.TOKEN: True})
    with running_token(token) as session:
        for handle in made[:10]:
            session.call("C_DestroyObject", handle)
        large = PUBLIC_DATA | {cryptoki.VALUE: bytes(900_000)}
        session.create(large)
        with refused(DEVICE_MEMORY):
            session.create(large)


def test_a_store_over_its_limit_opens_to_delete(token):
    change(token, lambda stored: [stored.add(PUBLIC_DATA, GUEST) for _ in range(9000)])
    with running_token(token) as session:
        session.login()
        with refused(DEVICE_MEMORY):
            session.create(PUBLIC_DATA)
        session.call("C_DestroyObject", session.find({cryptoki.CLASS: DATA})[0])


# What is removed.


def generations(token):
    return [Stored.read(token.folder / name) for name in ("token", "token.old")]


@pytest.mark.matrix
def test_what_is_removed_is_in_no_generation(token):
    """A destroyed object, an attribute that was changed, and both PINs; the previous generation is
    kept where something was only added."""
    before = Stored.read(token.folder / "token")
    with running_token(token) as session:
        session.login()
        made = [session.create(PUBLIC_DATA | {LABEL_OF: b"a label"}) for _ in range(2)]
        assert [len(stored.records) for stored in generations(token)] == [2, 1]
        session.call("C_DestroyObject", made[0])
        assert [len(stored.records) for stored in generations(token)] == [1, 1]
        session.set(made[1], LABEL_OF, b"another")
        for stored in generations(token):
            assert b"a label" not in stored.records[0].content
        session.call("C_SetPIN", PIN.encode(), 6, b"654321", 6)
        for stored in generations(token):
            assert stored.user.sealed != before.user.sealed
        session.call("C_Logout")
        session.login(OFFICER_PIN, 0)
        session.call("C_SetPIN", OFFICER_PIN.encode(), 8, b"87654321", 8)
        session.call("C_InitPIN", b"111111", 6)
        for stored in generations(token):
            assert stored.officer.sealed != before.officer.sealed
            with pytest.raises(InvalidTag):
                stored.master("654321")
            stored.master("111111")
    old, new = (token.folder / name for name in ("token", "token.old"))
    assert old.read_bytes() == new.read_bytes()
    assert old.stat().st_ino != new.stat().st_ino  # what damages one of them leaves the other


def test_nothing_of_a_token_is_left_when_it_is_made_anew(filled, monkeypatch):
    before = Stored.read(filled.folder / "token")
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(filled.folder))
    module = TokenModule(filled.module)
    length = ctypes.c_ulong(len(OFFICER_PIN))
    with module.running():
        module.call(
            "C_InitToken", ctypes.c_ulong(0), OFFICER_PIN.encode(), length, b"anew".ljust(32)
        )
    for stored in generations(filled):
        assert stored.instance != before.instance
        assert stored.records == []


def test_a_second_copy_that_has_no_room_is_none(filled, tmp_path):
    """Rather than one that still has what was removed."""
    library = {"LD_PRELOAD": str(compile_library(tmp_path, "no_room"))}
    delete = ("--login", "--pin", PIN, "--delete-object", "--type", "data", "--label", "kept")
    filled.tool(*delete, environment=library)
    assert len(Stored.read(filled.folder / "token").records) == 1
    assert sorted(path.name for path in filled.folder.iterdir()) == ["lock", "token"]


# Whose the file is.


@as_root
def test_root_does_not_take_a_token_from_its_owner(token):
    """A wrong PIN writes the file: its owner, its group and its mode stay."""
    for path in (token.folder, token.folder / "token"):
        os.chown(path, 1234, 4321)
    (token.folder / "token").chmod(0o640)
    (token.folder / "lock").unlink(missing_ok=True)
    assert "CKR_PIN_INCORRECT" in token.tool("--login", "--pin", "000000", "-O", check=False)
    for name in ("token", "lock"):
        status = (token.folder / name).stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o640)


@pytest.mark.parametrize(("folder_mode", "mode"), [(0o700, 0o600), (0o770, 0o600), (0o2770, 0o660)])
def test_a_folder_may_give_a_token_to_its_group(token, tmp_path, folder_mode, mode):
    shared = type(token)(token.module, tmp_path / "shared")
    shared.folder.mkdir()
    shared.folder.chmod(folder_mode)
    init = ("--init-token", "--slot", "0", "--label", "t1", "--so-pin", OFFICER_PIN)
    shared.tool(*init)
    for name in ("token", "lock"):
        assert (shared.folder / name).stat().st_mode & 0o777 == mode


def test_a_new_file_is_never_written_into_another(token):
    """token.new that somebody made is not opened: it could be any file of the owner's."""
    precious = token.folder / "precious"
    precious.write_text("content")
    for make in (os.link, os.symlink):
        make(precious, token.folder / "token.new")
        token.tool("--login", "--pin", "000000", "-O", check=False)
        assert precious.read_text() == "content"
        token.tool("--login", "--pin", PIN, "-O")


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


def test_a_read_only_folder(keyed, check, tmp_path):
    """Login and signatures work; wrong PINs are counted by the process, and lock the PIN there."""
    wrap = ("unshare", "-rm", "sh", "-c", READ_ONLY, "sh", keyed.folder)
    if subprocess.run([*wrap, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mounts of its own (unshare -rm)")
    before = (keyed.folder / "token").read_bytes()
    (tmp_path / "data").write_bytes(b"data")
    sign = ("--sign", "--id", "01", "-m", "SHA256-RSA-PKCS", "-i", tmp_path / "data")
    signature = ("-o", tmp_path / "signature")
    keyed.tool("--login", "--pin", PIN, *sign, *signature, within=wrap)
    assert (tmp_path / "signature").stat().st_size == 256
    refuse = ("--login", "--pin", PIN, "--write-object", tmp_path / "data", "--type", "data")
    assert "CKR_TOKEN_WRITE_PROTECTED" in keyed.tool(*refuse, within=wrap, check=False)
    wrong = ("--login", "--pin", "0" * 6, "-O")
    assert "CKR_PIN_INCORRECT" in keyed.tool(*wrong, within=wrap, check=False)
    keyed.run(*wrap, check, keyed.module, "lock-pin")
    assert (keyed.folder / "token").read_bytes() == before


# A file that cannot be written for another reason.

# Runs a program with a full disk, and says whether that left a file behind.
FULL_DISK = """
folder="$1"; shift
cp "$folder/token" "$folder/../saved" && mount -t tmpfs -o size=16k none "$folder" || exit 9
cp "$folder/../saved" "$folder/token"
cat /dev/zero > "$folder/fill" 2> /dev/null
"$@" && test ! -e "$folder/token.new" && cmp "$folder/../saved" "$folder/token"
"""


def without_room(folder, why):
    """The beginning of a command that runs another one where no file can grow."""
    if why == "limit":
        return ("prlimit", "--fsize=100:100", "--")
    within = ("unshare", "-rm")
    if subprocess.run([*within, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mounts of its own (unshare -rm)")
    return (*within, "sh", "-c", FULL_DISK, "sh", folder)


@pytest.mark.parametrize("why", ["limit", "full disk"])
def test_wrong_pins_count_where_they_cannot_be_written(token, check, why):
    """The PIN is locked after ten; nothing is left behind, and no signal ends the program."""
    before = (token.folder / "token").read_bytes()
    token.run(*without_room(token.folder, why), check, token.module, "lock-pin")
    assert (token.folder / "token").read_bytes() == before
    assert not (token.folder / "token.new").exists()


@pytest.mark.parametrize("why", ["limit", "full disk"])
def test_the_right_pin_logs_in_where_nothing_can_be_written(token, tmp_path, why):
    """Also after a wrong one, which the file has."""
    wrong = ("--login", "--pin", "0" * 6, "-O")
    assert "CKR_PIN_INCORRECT" in token.tool(*wrong, check=False)
    within = without_room(token.folder, why)
    token.tool("--login", "--pin", PIN, "-O", within=within)
    (tmp_path / "data").write_bytes(bytes(5000))
    refuse = ("--login", "--pin", PIN, "--write-object", tmp_path / "data", "--type", "data")
    assert "failed" in token.tool(*refuse, within=within, check=False)
    assert Stored.read(token.folder / "token").user.failures == 1


def test_wrong_pins_that_were_not_written_are_not_forgotten(token):
    """Together with those of the file they are ten; who may write then writes them all."""
    (token.folder / "lock").touch()
    change(token, lambda stored: setattr(stored.user, "failures", 6))
    with running_token(token) as session:
        with immutable(token.folder):
            for _ in range(2):
                with refused(PIN_INCORRECT):
                    session.login("0" * 6)
        with refused(PIN_INCORRECT):
            session.login("0" * 6)
        assert Stored.read(token.folder / "token").user.failures == 9
        with immutable(token.folder), refused(PIN_INCORRECT):
            session.login("0" * 6)
        with refused(PIN_LOCKED):
            session.login()


@contextmanager
def immutable(folder):
    """Nobody, also not root, writes the folder's files: token.new is a folder that is not empty."""
    obstacle = folder / "token.new"
    (obstacle / "full").mkdir(parents=True)
    yield
    (obstacle / "full").rmdir()
    obstacle.rmdir()


def test_a_change_that_cannot_be_written_is_none(filled):
    """Neither for the one who made it, nor later."""
    with running_token(filled) as session:
        session.login()
        with immutable(filled.folder), pytest.raises(TokenError):
            session.create(PUBLIC_DATA | {LABEL_OF: b"lost"})
        assert session.find({LABEL_OF: b"lost"}) == []
        session.create(PUBLIC_DATA | {LABEL_OF: b"kept, three"})
    assert len(Stored.read(filled.folder / "token").records) == 3


def test_a_copy_that_cannot_be_written_is_none(token, monkeypatch, tmp_path):
    """`coprime token backup` and `repair` leave nothing of it, and a later one succeeds."""

    def fail(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (token.folder / "token").rename(token.folder / "token.old")
    (token.folder / "token").write_bytes(b"damaged")
    (token.folder / "token.repaired").write_bytes(b"of one that was stopped")
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", fail)
        token_files.repair(token.folder)
    assert not (token.folder / "token.repaired").exists()
    (token.folder / "token.repaired").write_bytes(b"of one that was stopped")
    token_files.repair(token.folder)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", fail)
        token_files.save(token.folder, tmp_path / "copy")
    token_files.save(token.folder, tmp_path / "copy")


# Who waits.


@pytest.mark.fuzz
def test_a_lock_that_another_process_keeps(token):
    """A change is given up after ten seconds; reading, and the calls of others, go on."""
    (token.folder / "lock").touch()
    with (token.folder / "lock").open() as lock, running_token(token) as session:
        session.find({})
        fcntl.flock(lock, fcntl.LOCK_EX)
        begin = time.monotonic()
        with refused(CANT_LOCK):
            session.create(PUBLIC_DATA)
        assert 9 < time.monotonic() - begin < 30
        with open_session(session.module) as other:
            other.find({})
        fcntl.flock(lock, fcntl.LOCK_UN)
        session.create(PUBLIC_DATA)


# `coprime token check`, `repair` and `backup`.


def test_a_flipped_bit_is_repaired(capsys, filled, monkeypatch, tmp_path):
    folder = ("--dir", filled.folder)
    (tmp_path / "pin").write_text(f"{PIN}\n")
    with_pin = ("--pin-file", tmp_path / "pin", "--module", filled.module)
    status, said, error = run(capsys, "token", "check", *folder, *with_pin)
    assert (status, error) == (0, "")
    assert "token: whole, t1, generation " in said
    assert "2 objects" in said
    assert run(capsys, "token", "repair", *folder)[0] == 2
    copy = tmp_path / "copy"
    assert run(capsys, "token", "backup", *folder, "-o", copy)[0] == 0
    assert copy.read_bytes() == (filled.folder / "token").read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run(capsys, "token", "backup", *folder, "-o", copy)[0] == 2
    damaged = bytearray(copy.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    (filled.folder / "token").write_bytes(damaged)
    status, said, _ = run(capsys, "token", "check", *folder)
    assert status == 1
    assert "is damaged" in said
    status, said, _ = run(capsys, "token", "repair", *folder)
    assert status == 0
    assert "with 1 objects" in said
    assert (filled.folder / "token.damaged").read_bytes() == damaged
    with running_token(filled) as session:
        session.login()
        assert len(session.find({LABEL_OF: b"kept"})) == 1


def test_a_check_with_the_pin_finds_a_change(capsys, filled, tmp_path):
    (tmp_path / "pin").write_text(f"{PIN}\n")
    change(filled, plant)
    check = ("token", "check", "--dir", filled.folder, "--module", filled.module)
    assert run(capsys, *check)[0] == 0
    status, said, _ = run(capsys, *check, "--pin-file", tmp_path / "pin")
    assert status == 1
    assert "changed by somebody without a PIN" in said


def test_short_pins(module, tmp_path, monkeypatch):
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(tmp_path / "token"))
    loaded = TokenModule(module)
    with loaded.running(), refused(0xA2):
        loaded.initialize(0, LABEL, b"12345", b"123456")


def test_what_the_module_says(token, tmp_path):
    """COPRIME_TOKEN_DEBUG names what fails and why, and no PIN."""
    log = tmp_path / "log"
    said = {"COPRIME_TOKEN_DEBUG": str(log)}
    token.tool("--login", "--pin", "135790", "-O", check=False, environment=said)
    (token.folder / "token").write_bytes(b"no token")
    token.tool("-O", check=False, environment=said)
    text = log.read_text()
    assert f"slot 0: folder {token.folder}" in text
    assert "the user's PIN is wrong" in text
    assert f"{token.folder}/token is damaged" in text
    assert "135790" not in text


def test_the_attribute_that_is_refused_is_named(token, tmp_path, monkeypatch):
    """In a template of a pair, one that the other half has."""
    monkeypatch.setenv("COPRIME_TOKEN_DEBUG", str(tmp_path / "log"))
    command = (
        "from tests.token.cryptoki import *; from tests.token.tokens import Token; import sys\n"
        "from pathlib import Path\n"
        "with running(Token(Path(sys.argv[1]), Path(sys.argv[2]))) as session:\n"
        "    session.login(); session.generate_pair({DECRYPT: True}, {ENCRYPT: True})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, str(token.module), str(token.folder)],
        capture_output=True,
        check=False,
    )
    assert b"0xd1" in done.stderr
    assert "attribute 0x105 of an object of class 0x2: error 0xd1" in (tmp_path / "log").read_text()


def test_memory_that_cannot_be_locked_is_told(token, tmp_path):
    log = tmp_path / "log"
    limited = ("prlimit", "--memlock=0:0", "--", "setpriv", "--bounding-set=-ipc_lock")
    said = {"COPRIME_TOKEN_DEBUG": str(log)}
    token.tool("--login", "--pin", PIN, "-O", within=limited, environment=said, check=False)
    assert "keys may be written to swap (see `ulimit -l`): mlock: " in log.read_text()
