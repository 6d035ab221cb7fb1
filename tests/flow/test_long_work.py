import time

import pytest

from coprime.flow import long_work as module
from coprime.flow.long_work import long_work, reporting


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    lines = []
    with reporting(lines.append):
        yield lines


def test_what_takes_long_is_said_once(said):
    with long_work("quick"):
        pass
    with long_work("slow"):
        time.sleep(0.4)
    assert said == ["slow"]


def test_the_work_inside_speaks_for_itself(said):
    with long_work("outer"):
        with long_work("inner"):
            time.sleep(0.25)
        with long_work("quick"):
            pass
        assert said == ["inner"]
        time.sleep(0.25)
        with long_work("again"):
            pass
        time.sleep(0.25)
    assert said == ["inner", "outer"]


def test_nothing_is_said_to_nobody(monkeypatch, capsys):
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    with long_work("slow"):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")
