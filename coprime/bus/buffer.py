"""The message buffer: software's input and the result, in one memory."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus import registers
from coprime.bus.port import WORD_BITS
from coprime.bus.shared_registers import exceeds

WORD_BYTES = WORD_BITS // 8
INPUT_WINDOW_BITS = bits_for(registers.INPUT_WINDOW.words - 1)
OUTPUT_WINDOW_BITS = bits_for(registers.OUTPUT_WINDOW.words - 1)


class InputLength(wiring.Component):
    """Number of input bytes that are used.

    Parameters
    ----------
    byte_bits: width of a length in bytes

    Members
    -------
    write, value: software sets the length; one that does not fit is stored as all ones
    limit: maximum number of bytes
    padded, size: the buffer holds a padded message of `size` bytes instead of the input
    empty: the length is 0
    clipped: a cycle after `limit`: the length exceeds it
    bytes: a cycle after `clipped`: the number of bytes that are used
    """

    def __init__(self, byte_bits: int):
        ports = {
            "write": In(1),
            "value": In(WORD_BITS),
            "limit": In(byte_bits),
            "padded": In(1),
            "size": In(byte_bits),
            **dict.fromkeys(("empty", "clipped"), Out(1)),
            "bytes": Out(byte_bits),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        length = Signal.like(self.bytes)
        with m.If(self.write):
            m.d.sync += length.eq(self.value)
        with m.If(self.write & self.value[len(length) :].any()):
            m.d.sync += length.eq(~0)
        m.d.comb += self.empty.eq(length == 0)
        m.d.sync += [
            self.clipped.eq(length > self.limit),
            self.bytes.eq(Mux(self.padded, self.size, Mux(self.clipped, self.limit, length))),
        ]
        return m


class Buffer(wiring.Component):
    """One memory: the input in the lower half, the result in the upper one.

    Its two ports never access the same address: the input half is written while idle and read while
    busy, the output half is written while busy and read while idle. The memory is slow, so a word
    that is read passes through a register.

    Parameters
    ----------
    max_length: bits of the longest input and of the longest result
    byte_access: whether it has the ports for a padding unit, below

    Members
    -------
    busy: a command runs
    store, store_word, store_data: while idle: write a word of the input
    read_word, word: while idle: number of a word of the result, and the word two cycles later
    feed_first, feed: while busy: begin to feed the words of the input; continue while `feed` is 1
    feed_word, words: number of the next word, and the stream of the words. A word is present from
        the third cycle after `feed_first`, and from two cycles after the previous word was taken.
        Bytes from number `bytes` on are 0; `bytes` must be stable for a cycle before.
    results, result_word: stream of the words of the result, always ready, and the number of each
    wipe: overwrite a word per cycle with `store_data`, which must be 0
    wipe_first: begin at the first word
    wiped: with `wipe`: this is the last word
    byte_access: while busy: read or write a byte, instead of the above
    byte_address, byte_result: its address, and whether it is in the result or in the input
    byte_store, byte_data: write the byte
    byte_word: the word that contains the byte, a cycle later
    """

    def __init__(self, max_length: int, *, byte_access: bool = False):
        # Input below, output above.
        self.words_each = -(-max_length // WORD_BITS)
        self.word_bits = bits_for(self.words_each - 1)
        self.byte_bits = bits_for(self.words_each * WORD_BYTES + 1)
        self.has_bytes = byte_access
        self.memory = Memory(
            shape=WORD_BITS,
            depth=(1 << self.word_bits) + self.words_each,
            init=[],
            attrs={"no_rw_check": 1},
        )
        byte_ports = {
            "byte_access": In(1),
            "byte_address": In(self.word_bits + 2),
            **dict.fromkeys(("byte_result", "byte_store"), In(1)),
            "byte_data": In(8),
            "byte_word": Out(WORD_BITS),
        }
        ports = {
            **dict.fromkeys(("busy", "store"), In(1)),
            "store_word": In(self.word_bits),
            "store_data": In(WORD_BITS),
            "read_word": In(self.word_bits),
            "word": Out(WORD_BITS),
            **dict.fromkeys(("feed_first", "feed"), In(1)),
            "feed_word": In(self.word_bits),
            "bytes": In(self.byte_bits),
            "words": Out(stream.Signature(WORD_BITS)),
            "results": In(stream.Signature(WORD_BITS, always_ready=True)),
            "result_word": In(self.word_bits),
            **dict.fromkeys(("wipe", "wipe_first"), In(1)),
            "wiped": Out(1),
            **(byte_ports if byte_access else {}),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.memory = memory = self.memory
        store = memory.write_port(granularity=8 if self.has_bytes else None)
        fetch = memory.read_port()

        # Reads. While busy, bytes beyond the used length are masked.
        masked = Signal(WORD_BYTES)
        m.d.comb += [
            fetch.addr.eq(Mux(self.busy, Cat(self.feed_word, 0), Cat(self.read_word, 1))),
            self.words.payload.eq(self.word),
        ]
        m.d.sync += [
            self.word.eq(fetch.data),
            *(
                masked[i].eq(self.busy & (Cat(Const(i, 2), self.feed_word) >= self.bytes))
                for i in range(WORD_BYTES)
            ),
        ]
        for i in range(WORD_BYTES):
            with m.If(masked[i]):
                m.d.sync += self.word.word_select(i, 8).eq(0)
        # A word is present two cycles after the previous one was taken.
        advance = Signal()
        advanced = Signal(2)
        m.d.comb += [
            self.words.valid.eq(self.feed & ~advanced.any()),
            advance.eq(self.feed_first | (self.words.ready & self.words.valid)),
        ]
        m.d.sync += advanced.eq(Cat(advance, advanced))

        # Writes.
        every_byte = len(store.en)
        wipe_address = Signal(range(memory.depth))
        m.d.comb += [
            store.en.eq(self.store.replicate(every_byte)),
            store.addr.eq(Cat(self.store_word, 0)),
            store.data.eq(self.store_data),
            self.wiped.eq(wipe_address == memory.depth - 1),
        ]
        with m.If(self.wipe):
            m.d.comb += [store.en.eq(-1), store.addr.eq(wipe_address), fetch.en.eq(0)]
        with m.If(self.wipe & ~self.wiped):
            m.d.sync += wipe_address.eq(wipe_address + 1)
        with m.If(self.wipe_first):
            m.d.sync += wipe_address.eq(0)
        with m.If(self.results.valid):
            m.d.comb += [
                store.en.eq(-1),
                store.addr.eq(Cat(self.result_word, 1)),
                store.data.eq(self.results.payload),
            ]
        if self.has_bytes:
            address = Cat(self.byte_address[2:], self.byte_result)
            m.d.comb += self.byte_word.eq(fetch.data)
            with m.If(self.byte_access):
                m.d.comb += [
                    fetch.addr.eq(address),
                    fetch.en.eq(~self.byte_store),
                    store.addr.eq(address),
                    store.data.eq(self.byte_data.replicate(WORD_BYTES)),
                    store.en.eq(Mux(self.byte_store, Const(1) << self.byte_address[:2], 0)),
                ]
        return m


class BufferRegisters(wiring.Component):
    """The registers through which software writes the input and reads the result.

    INPUT_FIFO and WRITE_ADDRESS write a word with two accesses, INPUT_WINDOW with one; READ_ADDRESS
    and OUTPUT_FIFO read one with two, OUTPUT_WINDOW with one.

    Parameters
    ----------
    words: number of words of the input, and of the result
    byte_bits: width of the length of the result

    Members
    -------
    accepts, value: a write begins, with this value; never while busy
    write_window, write_word: it is to INPUT_WINDOW, to this word
    writes_fifo, writes_address, writes_window, writes_read_address: a cycle later: the write takes
        place, to this register
    clear: clears INPUT_FIFO
    store, store_word, store_data: as in Buffer
    beyond: the write is to a word that does not exist
    read_window, read_word_in: a read is of OUTPUT_WINDOW, of this word
    read_word: the word to read
    output_length: bytes of the result
    shown: a cycle later: the word belongs to the result
    """

    def __init__(self, words: int, byte_bits: int):
        self.words = words
        word_bits = bits_for(words - 1)
        ports = {
            **dict.fromkeys(("accepts", "write_window", "read_window"), In(1)),
            "value": In(WORD_BITS),
            "write_word": In(INPUT_WINDOW_BITS),
            **dict.fromkeys(("writes_fifo", "writes_address", "writes_window"), In(1)),
            **dict.fromkeys(("writes_read_address", "clear"), In(1)),
            "store": Out(1),
            **dict.fromkeys(("store_word", "read_word"), Out(word_bits)),
            "store_data": Out(WORD_BITS),
            "beyond": Out(1),
            "read_word_in": In(OUTPUT_WINDOW_BITS),
            "output_length": In(byte_bits),
            "shown": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        last = self.words - 1
        beyond = Signal()
        stores = self.writes_address | self.writes_window
        m.d.comb += [
            self.store.eq(stores & ~beyond),
            self.store_word.eq(Mux(self.write_window, self.write_word, self.value)),
            self.beyond.eq(stores & beyond),
        ]
        with m.If(self.accepts):
            m.d.sync += beyond.eq(
                Mux(self.write_window, exceeds(self.write_word, last), exceeds(self.value, last))
            )
        # A word of the window arrives a cycle earlier, so that the write stores it.
        with m.If(self.writes_fifo | (self.accepts & self.write_window)):
            m.d.sync += self.store_data.eq(self.value)
        with m.If(self.clear):
            m.d.sync += self.store_data.eq(0)

        read_address, read_beyond = Signal.like(self.read_word), Signal()
        with m.If(self.writes_read_address):
            m.d.sync += [read_address.eq(self.value), read_beyond.eq(beyond)]
        word = Mux(self.read_window, self.read_word_in, read_address)
        m.d.comb += self.read_word.eq(word)
        m.d.sync += self.shown.eq(
            (self.read_window | ~read_beyond) & (Cat(Const(0, 2), word) < self.output_length)
        )
        return m
