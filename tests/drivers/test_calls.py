"""Calls by the C driver on simulated engines of byte strings, and what it refuses."""

import random

import pytest

from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.calls.interface import WIPE
from coprime.engine.contract import Error
from coprime.flow.simulation import build_simulation
from coprime.flow.verilog import to_verilog
from tests.calls.mock import CALLS as MOCK_CALLS
from tests.calls.mock import COPY, ECHO, HIDDEN, KEY, SECOND, TEXT, MockCalls, inverted
from tests.calls.slow import ECHO as SLOW_ECHO
from tests.calls.slow import TEXT as SLOW_TEXT
from tests.calls.slow import SlowCalls
from tests.drivers.harness import (
    CALLS,
    DRIVER,
    HARNESS,
    SANITIZERS,
    Harness,
    can_compile,
    compile_c,
)

COPY_CALL, ECHO_CALL, FAIL_CALL = 20, 33, 63
TIMEOUT, SIZE, DEVICE, UNREADABLE = 257, 260, 263, 265
LENGTHS = [*range(1, 14), 31, 32, 33, 127, 128, 129, 300]
UNSET = b"\x5a"


def start(folder, engine, bus, *more):
    """The harness on a simulated engine."""
    flags = [*more, *(SANITIZERS if can_compile(folder, *SANITIZERS) else ())]
    text = to_verilog(AxiAccelerator(engine, bus), "coprime_mock")
    simulation = build_simulation(text, "coprime_mock")
    sources = (HARNESS, DRIVER, CALLS, simulation)
    return Harness(compile_c(folder, "harness", "-DSIMULATION", "-DCALLS", *flags, *sources))


@pytest.fixture(scope="module", params=Bus, ids=lambda bus: bus.value)
def harness(request, tmp_path_factory):
    """The harness on the mock engine: on AXI4 it moves blocks."""
    running = start(tmp_path_factory.mktemp("calls"), MockCalls(), request.param)
    running("blocks", int(request.param is Bus.AXI4))
    yield running
    running.close()


@pytest.fixture
def opened(harness):
    """The harness on an accelerator that is reset."""
    harness("limit", 100_000)
    harness("reset")
    assert harness("open")[0] == 0
    return harness


def shown(number):
    """The bytes that the harness shows after a 1."""
    return bytes.fromhex(f"{number:x}"[1:])


def text_of(data):
    return "-" if data is None else f"x{data.hex()}"


def call(harness, code, inputs, outputs=()):
    """A whole call; `inputs` are slots with bytes, `outputs` slots with room."""
    words = [code, len(inputs)]
    for slot, data in inputs:
        words += [slot.number, text_of(data)]
    words.append(len(outputs))
    for slot, room in outputs:
        words += [slot.number, room]
    error, *found = harness("call", *words)
    return error, *map(shown, found)


def take(harness, how, slot, room):
    error, found = harness(how, slot.number, room)
    return error, shown(found)


def complete(harness):
    _, mask = harness("complete")
    return {k for k in range(31) if mask >> k & 1}


def cycles(harness):
    return harness("cycles")[1:]


def test_open_finds_slots_streams_and_calls(opened):
    _, slots, streams, commands, high = opened("slots")
    every = (KEY, SECOND, COPY, HIDDEN, TEXT, ECHO)
    assert slots == sum(1 << one.number for one in every)
    assert streams == 1 << TEXT.number | 1 << ECHO.number
    assert commands | high << 32 == 1 << WIPE | sum(1 << one.code for one in MOCK_CALLS)
    assert complete(opened) == set()


@pytest.mark.parametrize("number", [0, 1])
def test_a_call(opened, number):
    key = random.Random(number).randbytes(KEY.lengths[number])
    assert opened("parameter_set", number) == (0,)
    error, found = call(opened, COPY_CALL, [(KEY, key)], [(COPY, 20)])
    assert (error, found) == (0, inverted(key))
    assert complete(opened) == {KEY.number, COPY.number}
    assert cycles(opened)[0] == 4 * -(-len(key) // 4)


def test_outputs_stay_and_are_read_later(opened):
    assert call(opened, COPY_CALL, [(KEY, b"seven b")]) == (0,)
    assert take(opened, "read_slot", COPY, 7) == (0, inverted(b"seven b"))
    assert call(opened, COPY_CALL, [], [(COPY, 7)]) == (0, inverted(b"seven b"))


def test_an_optional_input(opened):
    given = [(SECOND, b"four"), (KEY, bytes(7))]
    assert call(opened, COPY_CALL, given, [(SECOND, 4)]) == (0, b"four")


@pytest.mark.parametrize("length", LENGTHS)
def test_a_stream(opened, length):
    """The engine echoes at once: a word is given for each that is taken."""
    text = random.Random(length).randbytes(length)
    assert opened("start", ECHO_CALL) == (0,)
    found = b""
    for k in range(0, length, 4):
        part = text[k : k + 4]
        how = "finish" if k + 4 >= length else "update"
        assert opened(how, TEXT.number, text_of(part)) == (0,)
        error, data = take(opened, "read_stream", ECHO, len(part))
        assert error == 0
        found += data
    assert opened("end") == (0,)
    assert found == inverted(text)
    assert cycles(opened) == (-(-length // 4), 2 * -(-length // 4))


def test_parts_of_less_than_a_word_are_kept(opened):
    assert opened("start", ECHO_CALL) == (0,)
    for part in (b"a", b"", b"bc"):
        assert opened("update", TEXT.number, text_of(part)) == (0,)
    assert opened("update", TEXT.number, text_of(b"def")) == (0,)  # a word of them, and 2 bytes
    assert take(opened, "read_stream", ECHO, 4) == (0, inverted(b"abcd"))
    assert opened("finish", TEXT.number, text_of(b"g")) == (0,)
    assert take(opened, "read_stream", ECHO, 3) == (0, inverted(b"efg"))
    assert opened("end") == (0,)


def test_a_part_that_is_kept_is_for_its_stream(opened):
    assert opened("start", ECHO_CALL) == (0,)
    assert opened("update", TEXT.number, text_of(b"a")) == (0,)
    for how in ("update", "finish"):
        assert opened(how, ECHO.number, text_of(b"b")) == (Error.NOT_READY,)
    assert opened("finish", TEXT.number, text_of(b"b")) == (0,)
    assert take(opened, "read_stream", ECHO, 2) == (0, inverted(b"ab"))
    assert opened("end") == (0,)


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """An engine that keeps each access waiting until it is refused; the driver tries often."""
    running = start(
        tmp_path_factory.mktemp("slow"), SlowCalls(), Bus.AXI4, "-DCOPRIME_PATIENCE=200"
    )
    yield running
    running.close()


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("length", [1, 4, 7, 20, 21])
@pytest.mark.parametrize("blocks", [0, 1])
def test_what_an_engine_takes_and_gives_late_is_moved_again(slow, blocks, length):
    slow("limit", 100_000)
    slow("reset")
    slow("blocks", blocks)
    assert slow("open")[0] == 0
    text = random.Random(length).randbytes(length)
    assert call(slow, 40, [(SLOW_TEXT, text)], [(SLOW_ECHO, length)]) == (0, text)
    parts = [text[k : k + 3] for k in range(0, length, 3)]
    assert slow("start", 40) == (0,)
    for part in parts:
        assert slow("update", SLOW_TEXT.number, text_of(part)) == (0,)
    assert slow("finish", SLOW_TEXT.number, "x") == (0,)
    for k in range(0, length, 8):
        assert take(slow, "read_stream", SLOW_ECHO, len(text[k : k + 8])) == (0, text[k : k + 8])
    assert slow("end") == (0,)


def test_a_stream_that_does_not_move_is_given_up(slow):
    slow("limit", 100_000)
    slow("reset")
    assert slow("open")[0] == 0
    assert slow("start", 40) == (0,)
    assert take(slow, "read_stream", SLOW_ECHO, 4) == (TIMEOUT, bytes(4))
    assert slow("load_slot", SLOW_TEXT.number, "x00") == (Error.BUSY,)
    assert slow("finish", SLOW_TEXT.number, text_of(b"late")) == (0,)
    assert take(slow, "read_stream", SLOW_ECHO, 4) == (0, b"late")
    assert slow("end") == (0,)


def test_refused_calls(opened):
    assert call(opened, COPY_CALL, []) == (Error.OPERAND_MISSING,)
    for code in (0, 19, 62, 64, 52):
        assert call(opened, code, []) == (Error.UNSUPPORTED,)
    assert call(opened, FAIL_CALL, [(KEY, bytes(7))]) == (Error.OPERAND_MISSING,)


def test_refused_slots(opened):
    for size in (0, 6, 8, 12):
        given = [(KEY, bytes(size))]
        assert call(opened, COPY_CALL, given, [(COPY, 7)]) == (Error.SLOT_LENGTH, bytes(7))
    assert call(opened, COPY_CALL, [(COPY, bytes(7))]) == (Error.SLOT_LENGTH,)  # no input
    for number in (2, 7, 30, 31, 32, 64, 1 << 31):
        assert opened("load_slot", number, "x00") == (Error.ADDRESS,)
        assert opened("read_slot", number, 1) == (Error.ADDRESS, 0x15A)
    assert take(opened, "read_slot", COPY, 7) == (UNREADABLE, UNSET * 7)
    assert call(opened, COPY_CALL, [(KEY, bytes(7))], [(COPY, 6)]) == (SIZE, bytes(6))
    assert take(opened, "read_slot", KEY, 7) == (UNREADABLE, UNSET * 7)  # it is private
    assert take(opened, "read_slot", COPY, 8) == (0, b"\xff" * 7)


def test_refused_streams(opened):
    """Before and after a call, and of slots that are none."""
    assert opened("update", KEY.number, "x00") == (Error.NOT_READY,)
    assert opened("finish", 64, "x00") == (Error.NOT_READY,)
    assert take(opened, "read_stream", COPY, 1) == (Error.NOT_READY, UNSET)
    assert opened("finish", TEXT.number, "x0011") == (Error.NOT_READY,)
    assert take(opened, "read_stream", ECHO, 4)[0] == Error.NOT_READY
    assert take(opened, "read_stream", ECHO, 0) == (0, b"")
    # A call that takes no stream has ended, or does not take it.
    given = [(KEY, bytes(7)), (TEXT, b"text")]
    assert call(opened, COPY_CALL, given, [(COPY, 7)])[0] in (Error.NOT_READY, TIMEOUT)


def test_parameter_sets(opened):
    assert call(opened, COPY_CALL, [(KEY, bytes(7))]) == (0,)
    assert opened("parameter_set", 1) == (0,)
    assert complete(opened) == set()
    for number in (2, 31, 32, 1 << 31):
        assert opened("parameter_set", number) == (Error.ADDRESS,)
    assert call(opened, COPY_CALL, [(KEY, bytes(12))], [(COPY, 12)]) == (0, b"\xff" * 12)


def test_a_reset_is_noticed(opened):
    assert opened("parameter_set", 1) == (0,)
    opened("reset")
    while (found := call(opened, COPY_CALL, [])) == (Error.BUSY,):  # it clears itself
        pass
    assert found == (DEVICE,)
    assert opened("open")[0] == 0
    assert call(opened, COPY_CALL, [(KEY, bytes(7))], [(COPY, 7)]) == (0, b"\xff" * 7)


def test_wipe(opened):
    assert call(opened, COPY_CALL, [(KEY, bytes(7))]) == (0,)
    assert opened("wipe") == (0,)
    assert complete(opened) == set()
    assert take(opened, "read_slot", COPY, 7) == (UNREADABLE, UNSET * 7)
    assert call(opened, COPY_CALL, []) == (Error.OPERAND_MISSING,)


def test_busy_and_too_late(opened):
    opened("limit", 50)
    assert opened("start", ECHO_CALL) == (0,)
    assert opened("end") == (TIMEOUT,)
    assert opened("start", ECHO_CALL) == (Error.BUSY,)
    assert call(opened, COPY_CALL, [(KEY, bytes(7))], [(COPY, 7)]) == (Error.BUSY, bytes(7))
    assert opened("parameter_set", 1) == (Error.BUSY,)
    assert take(opened, "read_slot", COPY, 7) == (Error.BUSY, UNSET * 7)
    assert opened("open")[0] == Error.BUSY


def test_a_call_is_given_up(opened):
    assert call(opened, COPY_CALL, [(KEY, bytes(7))]) == (0,)
    assert opened("start", ECHO_CALL) == (0,)
    assert opened("update", TEXT.number, text_of(b"a part")) == (0,)
    assert opened("wipe") == (0,)
    assert complete(opened) == set()
    assert call(opened, COPY_CALL, [(KEY, bytes(7))], [(COPY, 7)]) == (0, b"\xff" * 7)


def test_by_polling(opened):
    opened("poll")
    assert call(opened, COPY_CALL, [(KEY, bytes(7))], [(COPY, 7)]) == (0, b"\xff" * 7)


def test_an_engine_of_byte_strings_takes_no_modulus(opened):
    opened.set_modulus(17)
    assert opened("load_modulus") == (Error.UNSUPPORTED,)
    assert opened("modulus_constants", 0)[0] == Error.LENGTH_OVER


def test_an_engine_of_numbers_makes_no_calls(tmp_path):
    """And without any accelerator there are neither."""
    flags = SANITIZERS if can_compile(tmp_path, *SANITIZERS) else ()
    alone = Harness(compile_c(tmp_path, "harness", "-DCALLS", *flags, HARNESS, DRIVER, CALLS))
    assert alone("open")[0] == 256
    assert call(alone, COPY_CALL, [(KEY, bytes(7))]) == (Error.UNSUPPORTED,)
    assert alone("parameter_set", 0) == (Error.UNSUPPORTED,)
    assert complete(alone) == set()
    alone.close()
