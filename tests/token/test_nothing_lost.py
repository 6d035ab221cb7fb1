"""What was acknowledged is there: after kills, among writers, with a clock that goes back, while
somebody changes the PIN. The slow tests are those of docs/token.md, "Under stress"."""

import random
import subprocess
import sys
import threading
import time

import pytest

from coprime.token.module import TokenError
from tests.token import cryptoki
from tests.token.cryptoki import open_session, running
from tests.token.stored import Stored
from tests.token.tokens import OFFICER_PIN, PIN, Token, compile_library

pytestmark = pytest.mark.xdist_group("token")


@pytest.fixture
def software(token):
    """The token on the device `software`."""
    return Token(token.module, token.folder, {"COPRIME_TOKEN_DEVICE": "software"})


def start(token, name, count, environment=()):
    command = [sys.executable, "-m", "tests.token.writer", token.module, name, count]
    return subprocess.Popen(
        [*map(str, command)],
        env=token.environment | dict(environment),
        stdout=subprocess.PIPE,
        text=True,
    )


def found(token):
    """The labels of all secret keys of the token, whose values are the same."""
    with running(token) as session:
        session.login()
        labels = set()
        for offset in range(1 << 20):
            keys = session.find({cryptoki.CLASS: cryptoki.SECRET_KEY, cryptoki.TOKEN: True})
            if not keys:
                break
            for key in keys:
                label = session.get(key, cryptoki.LABEL)
                assert session.get(key, cryptoki.VALUE) == label
                assert label.decode() not in labels, offset
                labels.add(label.decode())
                session.call("C_DestroyObject", key)
        return labels


def written(process):
    output, _ = process.communicate(timeout=600)
    return {line for line in output.split() if line != "ready"}


@pytest.mark.fuzz
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.fuzz)])
def test_four_writers_at_once(software, count):
    processes = [start(software, f"writer{number}", count) for number in range(4)]
    acknowledged = set().union(*map(written, processes))
    assert len(acknowledged) == 4 * count
    assert found(software) == acknowledged


@pytest.mark.parametrize("count", [3, pytest.param(200, marks=pytest.mark.fuzz)])
def test_killed_with_acknowledged_objects(software, count):
    """After each kill at a random moment the token opens with all that was acknowledged, and with
    one object more at most, which was not acknowledged yet."""
    generator = random.Random(29)
    for number in range(count):
        process = start(software, f"kill{number}", 1000)
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(generator.random() * 0.1)
        process.kill()
        acknowledged = written(process)
        labels = found(software)
        assert acknowledged <= labels, number
        assert len(labels - acknowledged) <= 1, number


@pytest.mark.fuzz
def test_a_clock_that_goes_back(software, tmp_path):
    """By a day at each look: nothing of the token depends on it."""
    library = compile_library(tmp_path, "clock_back")
    for name in ("first", "second"):
        process = start(software, name, 10, {"LD_PRELOAD": str(library)})
        acknowledged = written(process)
        assert len(acknowledged) == 10
        assert found(software) == acknowledged


@pytest.mark.fuzz
@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.fuzz)])
def test_the_pin_is_changed_while_another_process_logs_in(software, count):
    """The login is right before or after the change, and never loses an object."""
    path = software.folder / "token"
    stored = Stored.read(path)
    stored.derive_anew(OFFICER_PIN, PIN, log_n=15)  # a login takes a while
    stored.write(path)
    pins = [PIN, "another"]
    with running(software) as session:
        session.login()
        for number in range(count):
            process = start(software, f"login{number}", 3)
            time.sleep(random.Random(number).random() * 0.5)
            old, new = pins[number % 2], pins[1 - number % 2]
            session.call("C_SetPIN", old.encode(), len(old), new.encode(), len(new))
            acknowledged = written(process)
            assert process.returncode == 0 or not acknowledged
            labels = {
                session.get(key, cryptoki.LABEL).decode()
                for key in session.find({cryptoki.CLASS: cryptoki.SECRET_KEY})
            }
            assert acknowledged <= labels
            assert len(acknowledged) in (0, 3)
            with open_session(session.module) as other, pytest.raises(TokenError) as wrong:
                other.call("C_SetPIN", old.encode(), len(old), new.encode(), len(new))
            assert wrong.value.code == cryptoki.PIN_INCORRECT


def test_threads_of_one_process_write(software):
    """Each thread with a session of its own."""
    with running(software) as session:
        session.login()
        made, failures = [], []

        def write(name):
            try:
                with open_session(session.module) as own:
                    for number in range(5):
                        label = f"{name}-{number}".encode()
                        own.create(
                            {
                                cryptoki.CLASS: 0,
                                cryptoki.TOKEN: True,
                                cryptoki.LABEL: label,
                            }
                        )
                        made.append(label)
            except TokenError as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(made) == 20
        for label in made:
            assert len(session.find({cryptoki.CLASS: 0, cryptoki.LABEL: label})) == 1
