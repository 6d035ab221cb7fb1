"""Completions of a cluster's cores, and their results, in the order in which cores have ended."""

from amaranth.hdl import Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.packing import DigitsToWords
from coprime.bus.port import WORD_BITS
from coprime.cells.target import Target
from coprime.cluster.packet import REPLY_OFFSET, PacketLayout
from coprime.engine.contract import ERROR_BITS, Capabilities

__all__ = ["Collector", "distributed"]

SLOTS = 4
"""Results that are here or on their way, so that nobody waits for a whole turn of the chain."""


def distributed(shape: object, depth: int) -> Memory:
    """Make a memory in LUTs: the block RAMs belong to the cores."""
    attributes = {"ram_style": "distributed", "no_rw_check": 1}
    return Memory(shape=shape, depth=max(2, depth), init=[], attrs=attributes)


def result_memory(shape: object, depth: int, target: Target) -> Memory:
    """Make a memory for results: in LUTs on xc7, which packs 64 bits into one."""
    if target is Target.XC7:
        return distributed(shape, depth)
    return Memory(shape=shape, depth=depth, init=[], attrs={"no_rw_check": 1})


class Collector(wiring.Component):
    """Keeps who has ended, fetches results, and shows the oldest.

    A core's command ends with a notice, or with one from the front end, which refuses some commands
    by itself; there is never more than one for each core. As long as one of SLOTS is free, the
    next result is asked for, in one run of RECEIVE packets that nothing may interrupt, and laid
    down as digits. Software reads the oldest one as words.

    Where results are `checked`, one of which a digit was found wrong while it was fetched is
    dropped: its core gives another notice, with the error, when it has wiped its memory.

    Parameters
    ----------
    capabilities : Capabilities
        Of the engines.
    cores : int
    target : Target

    Members
    -------
    notice : 1 where a command of core `notice_core` has ended with `notice_error`; `notice_result`
        tells whether there is a result
    asked_core : whose result is fetched next; `asked_digits` and `asked_length` are the digits and
        bits of that core's modulus, two cycles later
    request : 1 where a RECEIVE packet for digit `request_index` of `asked_core` must leave
    reply : 1 where a packet has brought `reply_digit`
    reply_wrong : with it: a digit was found wrong; only if results are `checked`
    valid : whether there is an oldest completion, which the next four tell of, and else are 0
    core, error, bytes : who, how, and the length of the result
    word, word_valid, word_ready : its words; one is taken where both are 1
    word_pending : another word is there, or will be
    remove : removes it; ignored if there is none
    """

    def __init__(self, capabilities: Capabilities, cores: int, *, target: Target = Target.GENERIC):
        self.target = target
        self.capabilities = capabilities
        self.cores = cores
        layout = PacketLayout(capabilities, cores)
        core, index = layout["core"].shape, layout["index"].shape
        count = bits_for(capabilities.max_digits)
        length = bits_for(capabilities.max_length)
        super().__init__(
            {
                "notice": In(1),
                "notice_core": In(core),
                "notice_error": In(ERROR_BITS),
                "notice_result": In(1),
                "asked_core": Out(core),
                "asked_digits": In(count),
                "asked_length": In(length),
                "request": Out(1),
                "request_index": Out(index),
                "reply": In(1),
                "reply_digit": In(capabilities.digit_width),
                **({"reply_wrong": In(1)} if capabilities.checked else {}),
                "valid": Out(1),
                "core": Out(core),
                "error": Out(ERROR_BITS),
                "bytes": Out(bits_for((capabilities.max_length + 7) // 8)),
                "word": Out(WORD_BITS),
                "word_valid": Out(1),
                "word_ready": In(1),
                "word_pending": Out(1),
                "remove": In(1),
            }
        )
        self.ending = data.StructLayout({"core": core, "error": ERROR_BITS, "result": 1})
        self.slot = data.StructLayout(
            {"core": core, "error": ERROR_BITS, "digits": count, "length": length}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        own = self.capabilities

        # Who has ended: first in, first out, with room for all.
        m.submodules.endings = endings = distributed(self.ending, self.cores)
        pushes, pulls = endings.write_port(), endings.read_port()
        pushed = Signal(range(endings.depth))
        pulled = Signal(range(endings.depth))
        waiting = Signal(range(endings.depth + 1))
        pull = Signal()
        m.d.comb += [
            pushes.en.eq(self.notice),
            pushes.addr.eq(pushed),
            pushes.data.core.eq(self.notice_core),
            pushes.data.error.eq(self.notice_error),
            pushes.data.result.eq(self.notice_result),
            pulls.addr.eq(pulled),
        ]
        m.d.sync += waiting.eq(waiting + self.notice - pull)
        for moves, pointer in ((self.notice, pushed), (pull, pulled)):
            with m.If(moves):
                m.d.sync += pointer.eq(Mux(pointer == endings.depth - 1, 0, pointer + 1))

        # The slots: asked for, then filled, then shown. A pointer counts twice around, so that all
        # slots full differs from none.
        m.submodules.slots = slots = distributed(self.slot, SLOTS)
        m.submodules.digits = digits = result_memory(
            own.digit_width, SLOTS * own.max_digits, self.target
        )
        place_bits = bits_for(2 * SLOTS - 1)
        asked, filled, shown = (Signal(place_bits, name=n) for n in ("asked", "filled", "shown"))
        describe = slots.write_port()
        filling = slots.read_port(domain="comb")
        showing = slots.read_port(domain="comb")
        store, fetch = digits.write_port(), digits.read_port()
        base = [Signal(range(digits.depth), name=f"{n}_base") for n in ("filled", "shown")]

        def advance(pointer: Signal, start: Signal) -> list[object]:
            """Move to the next slot, and to the place of its digits."""
            last = pointer[:-1] == SLOTS - 1
            return [pointer.eq(pointer + 1), start.eq(Mux(last, 0, start + own.max_digits))]

        # Ask for a result.
        ending = Signal(self.ending)
        m.d.comb += [
            self.asked_core.eq(ending.core),
            describe.addr.eq(asked),
            describe.data.core.eq(ending.core),
            describe.data.error.eq(ending.error),
            describe.data.digits.eq(Mux(ending.result, self.asked_digits, 0)),
            describe.data.length.eq(Mux(ending.result, self.asked_length, 0)),
        ]
        # Requests after the present one. Behind the last digit, `more` of them ask for nothing: the
        # index stays there. The last one of a checked result tells whether all digits were right.
        more = REPLY_OFFSET + own.checked
        requests = Signal(range(own.max_digits + 1 + more))
        with m.FSM(name="asking"):
            with m.State("REST"):
                m.d.sync += self.request_index.eq(0)
                with m.If((waiting != 0) & ((asked - shown)[:place_bits] != SLOTS)):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.sync += ending.eq(pulls.data)
                m.d.comb += pull.eq(1)
                m.next = "LOOK_UP"
            with m.State("LOOK_UP"):
                m.next = "DESCRIBE"
            with m.State("DESCRIBE"):
                m.d.comb += describe.en.eq(1)
                m.d.sync += requests.eq(self.asked_digits + (more - 1))
                with m.If(ending.result):
                    m.next = "ASK"
                with m.Else():
                    m.d.sync += asked.eq(asked + 1)
                    m.next = "REST"
            with m.State("ASK"):
                m.d.comb += self.request.eq(1)
                m.d.sync += [
                    requests.eq(requests - 1),
                    self.request_index.eq(self.request_index + (requests >= more)),
                ]
                with m.If(requests == 0):
                    m.d.sync += asked.eq(asked + 1)
                    m.next = "REST"

        words = DigitsToWords(own.digit_width, own.headroom, own.max_length, alignable=own.aligned)
        removes = Signal()
        m.submodules.words = ResetInserter(removes)(words)

        # Lay down what comes. The first REPLY_OFFSET digits are not of this result.
        early = Signal(range(REPLY_OFFSET + 1), init=REPLY_OFFSET)
        place = Signal(range(own.max_digits + 1 + own.checked))
        complete = place == filling.data.digits
        stores = self.reply & (early == 0)
        wrong = Signal(SLOTS)
        if own.checked:
            stores &= ~complete
            complete = place == filling.data.digits + (filling.data.digits != 0)
            found_wrong = Signal()
            with m.If(self.reply):
                m.d.sync += found_wrong.eq(self.reply_wrong)
        m.d.comb += filling.addr.eq(filled)
        # Registers around the memory, so that no path is long.
        m.d.comb += fetch.addr.eq(base[1] + words.digit_index)
        m.d.sync += [
            store.en.eq(stores),
            store.addr.eq(base[0] + place),
            store.data.eq(self.reply_digit),
            words.digit.eq(fetch.data),
        ]
        with m.If(self.reply):
            with m.If(early != 0):
                m.d.sync += early.eq(early - 1)
            with m.Else():
                m.d.sync += place.eq(place + 1)
        with m.If((filled != asked) & complete):
            m.d.sync += [*advance(filled, base[0]), place.eq(0), early.eq(REPLY_OFFSET)]
            if own.checked:
                m.d.sync += wrong.bit_select(filled[:-1], 1).eq(found_wrong & (place != 0))

        # Show the oldest.
        begun = Signal()  # the words of this one have begun
        there, dropped = Signal(), Signal()
        oldest = showing.data
        if own.checked:
            m.d.comb += dropped.eq((shown != filled) & wrong.bit_select(shown[:-1], 1))
        m.d.comb += [
            showing.addr.eq(shown),
            there.eq((shown != filled) & ~dropped),
            self.valid.eq(there),
            words.digits.eq(oldest.digits),
            words.length.eq(oldest.length),
            words.start.eq(there & ~begun & (oldest.digits != 0)),
            self.word_pending.eq(words.start | words.busy),
            removes.eq(self.remove & there),
            self.word.eq(Mux(words.word_valid, words.word, 0)),
            self.word_valid.eq(words.word_valid),
            words.word_ready.eq(self.word_ready),
        ]
        with m.If(there):
            m.d.comb += [
                self.core.eq(oldest.core),
                self.error.eq(oldest.error),
                self.bytes.eq((oldest.length + 7)[3:]),
            ]
        with m.If(words.start):
            m.d.sync += begun.eq(1)
        with m.If(removes | dropped):
            m.d.sync += [*advance(shown, base[1]), begun.eq(0)]
        return m
