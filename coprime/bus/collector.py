"""Completions of a cluster's cores, and their results, in the order in which cores have ended."""

from amaranth.hdl import Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.packing import DigitsToWords
from coprime.bus.port import WORD_BITS
from coprime.cells.target import Target
from coprime.cluster.packet import REPLY_OFFSET, RESIDUE_INDEX, PacketLayout
from coprime.engine.contract import ERROR_BITS, Capabilities
from coprime.engine.residue import residue_width

SLOTS = 4
"""Results stored or on their way, so that no core waits for a whole trip around the chain."""
POINTER_BITS = bits_for(2 * SLOTS - 1)
"""A slot pointer has one bit more than a slot's number, to tell all slots full from none."""


def distributed(shape: object, depth: int) -> Memory:
    """Make a memory in LUTs; block RAMs are left for the cores."""
    attributes = {"ram_style": "distributed", "no_rw_check": 1}
    return Memory(shape=shape, depth=max(2, depth), init=[], attrs=attributes)


def result_memory(shape: object, depth: int, target: Target) -> Memory:
    """Make a memory for results: in LUTs on xc7, which packs 64 bits into one."""
    if target is Target.XC7:
        return distributed(shape, depth)
    return Memory(shape=shape, depth=depth, init=[], attrs={"no_rw_check": 1})


class Notice(data.StructLayout):
    """A command of core `core` has ended with `error`; `result` is 1 if it has a result."""

    def __init__(self, capabilities: Capabilities, cores: int):
        core = PacketLayout(capabilities, cores)["core"].shape
        super().__init__({"core": core, "error": ERROR_BITS, "result": 1})


class CompletionSlot(data.StructLayout):
    """A completion, with the digits and bits of its result; both are 0 if there is none."""

    def __init__(self, capabilities: Capabilities, cores: int):
        fields = {
            "core": PacketLayout(capabilities, cores)["core"].shape,
            "error": ERROR_BITS,
            "digits": bits_for(capabilities.max_digits),
            "length": bits_for(capabilities.max_length),
        }
        super().__init__(fields)


class NoticeQueue(wiring.Component):
    """A FIFO with an entry for each core, in LUTs.

    The output is not a stream: the notice is valid a cycle after `any`, and is removed then.

    Members
    -------
    notices: stream of notices, always ready, since there is at most one for each core
    any: 1 while there is a notice
    oldest: the oldest notice, from the cycle after `any` became 1 or after `remove`
    remove: removes it
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        self.notice = Notice(capabilities, cores)
        self.memory = distributed(self.notice, cores)
        ports = {
            "notices": In(stream.Signature(self.notice, always_ready=True)),
            "any": Out(1),
            "oldest": Out(self.notice),
            "remove": In(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.memory = memory = self.memory
        write, read = memory.write_port(), memory.read_port()
        written, removed = Signal(range(memory.depth)), Signal(range(memory.depth))
        waiting = Signal(range(memory.depth + 1))
        m.d.comb += [
            write.en.eq(self.notices.valid),
            write.addr.eq(written),
            write.data.eq(self.notices.payload),
            read.addr.eq(removed),
            self.oldest.eq(read.data),
            self.any.eq(waiting != 0),
        ]
        m.d.sync += waiting.eq(waiting + self.notices.valid - self.remove)
        for moves, pointer in ((self.notices.valid, written), (self.remove, removed)):
            with m.If(moves):
                m.d.sync += pointer.eq(Mux(pointer == memory.depth - 1, 0, pointer + 1))
        return m


class Requester(wiring.Component):
    """Describes the slot of the oldest notice, and requests the digits of its result.

    A result of d digits takes d + REPLY_OFFSET cycles of `requests`, one more where results are
    `checked`, and 3 cycles to describe its slot.

    Members
    -------
    any, oldest, remove: the queue of notices
    free: 1 while a slot is free
    core: the core whose result is requested next; `digits` and `length` are the digits and bits of
        its modulus, two cycles later
    requests: stream of the indices of digits, always ready, without a gap in a result
    describe, slot: write `slot` to the slot at `pointer`
    pointer: the next slot to be described; advances once all of its digits are requested
    """

    def __init__(self, capabilities: Capabilities, cores: int):
        self.capabilities = capabilities
        self.notice = Notice(capabilities, cores)
        self.slot_layout = CompletionSlot(capabilities, cores)
        packet = PacketLayout(capabilities, cores)
        ports = {
            "any": In(1),
            "oldest": In(self.notice),
            "remove": Out(1),
            "free": In(1),
            "core": Out(packet["core"].shape),
            "digits": In(self.slot_layout["digits"].shape),
            "length": In(self.slot_layout["length"].shape),
            "requests": Out(stream.Signature(packet["index"].shape, always_ready=True)),
            "describe": Out(1),
            "slot": Out(self.slot_layout),
            "pointer": Out(POINTER_BITS),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities = self.capabilities
        notice = Signal(self.notice)
        m.d.comb += [
            self.core.eq(notice.core),
            self.slot.core.eq(notice.core),
            self.slot.error.eq(notice.error),
            self.slot.digits.eq(Mux(notice.result, self.digits, 0)),
            self.slot.length.eq(Mux(notice.result, self.length, 0)),
        ]
        # Requests after the present one. After the last digit, `more` of them request nothing, and
        # the index does not change. The last one of a checked result returns the residue, and
        # whether all digits were right.
        more = REPLY_OFFSET + capabilities.checked
        left = Signal(range(capabilities.max_digits + 1 + more))
        index = self.requests.payload
        with m.FSM():
            with m.State("REST"):
                m.d.sync += index.eq(0)
                with m.If(self.any & self.free):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.sync += notice.eq(self.oldest)
                m.d.comb += self.remove.eq(1)
                m.next = "LOOK_UP"
            with m.State("LOOK_UP"):
                m.next = "DESCRIBE"
            with m.State("DESCRIBE"):
                m.d.comb += self.describe.eq(1)
                m.d.sync += left.eq(self.digits + (more - 1))
                with m.If(notice.result):
                    m.next = "REQUEST"
                with m.Else():
                    m.d.sync += self.pointer.eq(self.pointer + 1)
                    m.next = "REST"
            with m.State("REQUEST"):
                m.d.comb += self.requests.valid.eq(1)
                m.d.sync += [left.eq(left - 1), index.eq(index + (left >= more))]
                if capabilities.checked:
                    with m.If(left == 1):
                        m.d.sync += index.eq(RESIDUE_INDEX)
                with m.If(left == 0):
                    m.d.sync += self.pointer.eq(self.pointer + 1)
                    m.next = "REST"
        return m


class SlotPointer(wiring.Component):
    """A pointer to a slot, and the address of the slot's first digit.

    Members
    -------
    advance: go to the next slot
    pointer: the slot, with a bit more than its number
    base: address of its first digit
    """

    def __init__(self, max_digits: int):
        self.max_digits = max_digits
        super().__init__(
            {"advance": In(1), "pointer": Out(POINTER_BITS), "base": Out(range(SLOTS * max_digits))}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        last = self.pointer[:-1] == SLOTS - 1
        with m.If(self.advance):
            m.d.sync += [
                self.pointer.eq(self.pointer + 1),
                self.base.eq(Mux(last, 0, self.base + self.max_digits)),
            ]
        return m


class Filler(wiring.Component):
    """Counts the digits of the slot being filled.

    Members
    -------
    replies: stream of the contents of returned packets, always ready
    requested: 1 while the slot at the pointer has been described and requested
    digits: number of digits of that slot
    place: number of the next digit
    stores: the digit in `replies` is stored there
    complete: the slot is full; the pointer advances
    brings_residue: the reply after the last digit; this and the next only if results are `checked`
    wrong: a digit of the slot was wrong, valid with `complete`
    """

    def __init__(self, capabilities: Capabilities):
        self.capabilities = capabilities
        reply = {"digit": capabilities.digit_width + capabilities.checked}
        if capabilities.checked:
            reply["wrong"] = 1
        self.reply = data.StructLayout(reply)
        ports = {
            "replies": In(stream.Signature(self.reply, always_ready=True)),
            "requested": In(1),
            "digits": In(bits_for(capabilities.max_digits)),
            "place": Out(range(capabilities.max_digits + 1 + capabilities.checked)),
            **dict.fromkeys(("stores", "complete"), Out(1)),
            **({"brings_residue": Out(1), "wrong": Out(1)} if capabilities.checked else {}),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        replies, place = self.replies, self.place
        # The first REPLY_OFFSET replies do not belong to this result.
        early = Signal(range(REPLY_OFFSET + 1), init=REPLY_OFFSET)
        full = place == self.digits
        if self.capabilities.checked:  # one more reply
            found_wrong = Signal()
            with m.If(replies.valid):
                m.d.sync += found_wrong.eq(replies.payload.wrong)
            m.d.comb += [
                self.stores.eq(replies.valid & (early == 0) & ~full),
                self.brings_residue.eq(replies.valid & (early == 0) & full),
                self.wrong.eq(found_wrong & (place != 0)),
            ]
            full = place == self.digits + (self.digits != 0)
        else:
            m.d.comb += self.stores.eq(replies.valid & (early == 0))
        m.d.comb += self.complete.eq(self.requested & full)
        with m.If(replies.valid):
            with m.If(early != 0):
                m.d.sync += early.eq(early - 1)
            with m.Else():
                m.d.sync += place.eq(place + 1)
        with m.If(self.complete):
            m.d.sync += [place.eq(0), early.eq(REPLY_OFFSET)]
        return m


class Collector(wiring.Component):
    """Records completions, fetches results, and shows the oldest.

    A core's command ends with a notice from the core, or from the front end, which refuses some
    commands itself; there is at most one notice for each core. While one of the SLOTS is free, the
    next result is requested, in an uninterrupted run of RECEIVE packets, and stored as digits.
    Software reads the oldest result as words.

    If results are `checked`, a result with a digit that was found wrong while it was fetched is
    dropped: its core sends another notice, with the error, when it has wiped its memory.

    Parameters
    ----------
    capabilities (Capabilities): of the engines

    Members
    -------
    notices : stream of notices, always ready
    asked_core : the core whose result is requested next; `asked_digits` and `asked_length` are the
        digits and bits of its modulus, two cycles later
    requests : stream of the indices of digits of `asked_core`, always ready: a RECEIVE packet for
        each must be sent in the same cycle
    replies : stream of the contents of returned packets, always ready: `digit`, and if results are
        `checked` also `wrong`, which is 1 if a digit was found wrong; after the last digit, `digit`
        is then the residue
    completions : stream of completions, the oldest first: core, error, `bytes` of the result, and
        if results are `checked` its `residue`. Without a completion the payload is 0. Taking a
        completion removes the unread words of its result.
    words : stream of the words of the oldest completion's result; the payload is 0 without a word
    word_pending : 1 while `words` has another word or will have one
    """

    def __init__(self, capabilities: Capabilities, cores: int, *, target: Target = Target.GENERIC):
        self.target, self.capabilities = target, capabilities
        self.queue = NoticeQueue(capabilities, cores)
        self.requester = Requester(capabilities, cores)
        self.filler = Filler(capabilities)
        self.slots = distributed(CompletionSlot(capabilities, cores), SLOTS)
        core = self.requester.signature.members["core"].shape
        size = bits_for((capabilities.max_length + 7) // 8)
        completion = {"core": core, "error": ERROR_BITS, "bytes": size}
        if capabilities.checked:
            completion["residue"] = residue_width(capabilities.digit_width) + 1
        ports = {
            "notices": self.queue.signature.members["notices"],
            "asked_core": Out(core),
            "asked_digits": self.requester.signature.members["digits"],
            "asked_length": self.requester.signature.members["length"],
            "requests": self.requester.signature.members["requests"],
            "replies": self.filler.signature.members["replies"],
            "completions": Out(stream.Signature(data.StructLayout(completion))),
            "words": Out(stream.Signature(WORD_BITS)),
            "word_pending": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities = self.capabilities
        m.submodules.queue, m.submodules.requester = queue, requester = self.queue, self.requester
        m.submodules.filler = filler = self.filler
        m.submodules.filled = filled = SlotPointer(capabilities.max_digits)
        m.submodules.shown = shown = SlotPointer(capabilities.max_digits)
        m.submodules.slots = slots = self.slots
        describe, filling, showing = (
            slots.write_port(),
            slots.read_port(domain="comb"),
            slots.read_port(domain="comb"),
        )
        m.submodules.digits = digits = result_memory(
            capabilities.digit_width, SLOTS * capabilities.max_digits, self.target
        )
        store, fetch = digits.write_port(), digits.read_port()
        words = DigitsToWords(
            capabilities.digit_width,
            capabilities.headroom,
            capabilities.max_length,
            alignable=capabilities.aligned,
        )
        removes = Signal()
        m.submodules.words = ResetInserter(removes)(words)

        # Request a result while a slot is free.
        wiring.connect(m, wiring.flipped(self.notices), queue.notices)
        wiring.connect(m, wiring.flipped(self.requests), requester.requests)
        m.d.comb += [
            requester.any.eq(queue.any),
            requester.oldest.eq(queue.oldest),
            queue.remove.eq(requester.remove),
            requester.free.eq((requester.pointer - shown.pointer)[:POINTER_BITS] != SLOTS),
            self.asked_core.eq(requester.core),
            requester.digits.eq(self.asked_digits),
            requester.length.eq(self.asked_length),
            describe.en.eq(requester.describe),
            describe.addr.eq(requester.pointer),
            describe.data.eq(requester.slot),
        ]

        # Store its digits. Registers around the memory, so that no path is long.
        wiring.connect(m, wiring.flipped(self.replies), filler.replies)
        m.d.comb += [
            filling.addr.eq(filled.pointer),
            filler.digits.eq(filling.data.digits),
            filler.requested.eq(filled.pointer != requester.pointer),
            filled.advance.eq(filler.complete),
            fetch.addr.eq(shown.base + words.digit_index),
        ]
        m.d.sync += [
            store.en.eq(filler.stores),
            store.addr.eq(filled.base + filler.place),
            store.data.eq(self.replies.payload.digit),
            words.digit.eq(fetch.data),
        ]

        self._show_oldest(m, filled, shown, showing, words, removes)
        return m

    def _show_oldest(
        self,
        m: Module,
        filled: SlotPointer,
        shown: SlotPointer,
        showing: ReadPort,
        words: DigitsToWords,
        removes: Signal,
    ) -> None:
        """The oldest result, until it is taken; one with a wrong digit is dropped."""
        capabilities = self.capabilities
        begun = Signal()  # the words of this result have begun
        dropped = Signal()
        if capabilities.checked:
            residue, was_wrong = self._keep_checks(m, filled, shown)
            m.d.comb += dropped.eq((shown.pointer != filled.pointer) & was_wrong)
        oldest, valid = showing.data, self.completions.valid
        m.d.comb += [
            showing.addr.eq(shown.pointer),
            valid.eq((shown.pointer != filled.pointer) & ~dropped),
            removes.eq(self.completions.ready & valid),
            shown.advance.eq(removes | dropped),
            words.digits.eq(oldest.digits),
            words.length.eq(oldest.length),
            words.start.eq(valid & ~begun & (oldest.digits != 0)),
            words.words.ready.eq(self.words.ready),
            self.word_pending.eq(words.start | words.busy),
            self.words.valid.eq(words.words.valid),
            self.words.payload.eq(Mux(words.words.valid, words.words.payload, 0)),
        ]
        with m.If(valid):
            m.d.comb += [
                self.completions.payload.core.eq(oldest.core),
                self.completions.payload.error.eq(oldest.error),
                self.completions.payload.bytes.eq((oldest.length + 7)[3:]),
            ]
            if capabilities.checked:
                with m.If(oldest.length != 0):  # else there is no result
                    m.d.comb += self.completions.payload.residue.eq(residue)
        with m.If(words.start):
            m.d.sync += begun.eq(1)
        with m.If(shown.advance):
            m.d.sync += begun.eq(0)

    def _keep_checks(
        self, m: Module, filled: SlotPointer, shown: SlotPointer
    ) -> tuple[Value, Value]:
        """The residue of the result shown, and whether one of its digits was found wrong."""
        filler = self.filler
        m.submodules.residues = residues = distributed(
            residue_width(self.capabilities.digit_width) + 1, SLOTS
        )
        keep, show = residues.write_port(), residues.read_port(domain="comb")
        m.d.comb += [
            keep.en.eq(filler.brings_residue),
            keep.addr.eq(filled.pointer),
            keep.data.eq(self.replies.payload.digit),
            show.addr.eq(shown.pointer),
        ]
        wrong = Signal(SLOTS)
        with m.If(filler.complete):
            m.d.sync += wrong.bit_select(filled.pointer[:-1], 1).eq(filler.wrong)
        return show.data, wrong.bit_select(shown.pointer[:-1], 1)
