"""An engine of byte strings with parameter sets, random bytes, secrets, slots that are used up."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring

from coprime.calls.family import CallChoice, CallFamily
from coprime.calls.interface import WIPE, Call, CallOutcome, EngineInterface, Slot
from coprime.calls.ports import CallSignature
from coprime.engine.capabilities import Error

SETS = ("small-8", "large-12")
SEED = Slot(0, "seed", "what a key is made of", (8,), secret=True)
KEY = Slot(2, "key", "a key, which stays inside", (8, 12), secret=True)
TAG = Slot(3, "tag", "shows which key it is", (4,), readable=True)
TEXT = Slot(4, "text", "what is hidden, or was", (12,))
COPY = Slot(9, "copy", "the text, hidden or shown", (12,), readable=True)
SLOTS = (SEED, KEY, TAG, TEXT, COPY)
WORDS = 3


def words_of(data):
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


def bytes_of(words):
    return b"".join(word.to_bytes(4, "little") for word in words)


def make(parameter_set, values):
    low, high = words_of(values["seed"])
    key = [low ^ 0xFFFFFFFF, high, low][: 2 + SETS.index(parameter_set)]
    return {"key": bytes_of(key), "tag": bytes_of([low ^ high])}


def hide(parameter_set, values):
    key, text = words_of(values["key"]), words_of(values["text"])
    return {"copy": bytes_of(word ^ key[k % len(key)] for k, word in enumerate(text))}


def draw_both(parameter_set, random):
    size = KEY.length(SETS.index(parameter_set))
    return {"key": random.randbytes(size), "text": random.randbytes(12)}


CALLS = (
    Call(
        *(17, "MAKE", "makes a key of a seed", ("seed",), ("key", "tag")),
        draw=lambda parameter_set, random: {"seed": random.randbytes(8)},
        reference=make,
        optional=frozenset({"seed"}),
    ),
    Call(
        *(42, "HIDE", "adds a key to a text, once", ("key", "text"), ("copy",)),
        draw=draw_both,
        reference=hide,
        uses_up=frozenset({"key"}),
    ),
    Call(
        *(43, "CHECK", "refuses odd tags", ("tag",), ()),
        draw=lambda parameter_set, random: {"tag": random.randbytes(4)},
        reference=lambda parameter_set, values: {},
    ),
)
INTERFACE = EngineInterface("vault", 0xABCF, SLOTS, CALLS, SETS)


class Vault(wiring.Component):
    """Draws a byte in each cycle in which there is one; all else takes a cycle."""

    def __init__(self):
        self.interface = INTERFACE
        super().__init__(CallSignature(INTERFACE))

    def elaborate(self, platform):
        m = Module()
        words = {one.number: [Signal(32) for _ in range(WORDS)] for one in SLOTS}
        seed, key, tag, text, copy = (words[one.number] for one in SLOTS)
        run, call, count = Signal(init=1), Signal(6, init=WIPE), Signal(4)
        place, error = Signal(2), Signal(Error)
        load = self.load.payload
        last = (
            (-(-one.length(k) // 4) - 1, one.number, k) for one in SLOTS for k in range(len(SETS))
        )
        m.d.comb += [self.error.eq(error), self.busy.eq(run), self.load.ready.eq(~run)]
        for number, own in words.items():
            with m.If(self.load.valid & ~run & (load.slot == number)):
                m.d.sync += Array(own)[load.index].eq(load.word.data)
            with m.If(self.read_slot == number):
                m.d.comb += self.output.payload.data.eq(Array(own)[place])
        for end, number, k in last:
            with m.If((self.read_slot == number) & (self.parameter_set == k)):
                m.d.comb += self.output.payload.last.eq(place == end)
        m.d.comb += [self.output.payload.bytes.eq(4), self.output.valid.eq(~run)]
        with m.If(self.output.valid & self.output.ready):
            m.d.sync += place.eq(place + 1)
        with m.If(self.read_restart):
            m.d.sync += place.eq(0)
        with m.If(~run & self.start):
            m.d.sync += [run.eq(1), call.eq(self.call), error.eq(Error.NONE)]
            m.d.sync += count.eq(0)
        draws = (call == 17) & ~self.complete[SEED.number] & (count < 8)
        with m.If(run & draws):
            m.d.comb += [self.random.ready.eq(1), self.working.eq(self.random.valid)]
            with m.If(self.random.valid):
                m.d.sync += count.eq(count + 1)
                m.d.sync += Cat(seed[0], seed[1]).word_select(count[:3], 8).eq(self.random.payload)
        with m.Elif(run):
            m.d.comb += [self.working.eq(1), self.done.eq(1), self.multiplying.eq(1)]
            m.d.comb += self.given.eq(self.complete)
            m.d.sync += run.eq(0)
            with m.Switch(call):
                with m.Case(17):
                    m.d.sync += [key[0].eq(~seed[0]), key[1].eq(seed[1]), key[2].eq(seed[0])]
                    m.d.sync += tag[0].eq(seed[0] ^ seed[1])
                    m.d.comb += self.given.eq(
                        self.complete | 1 << KEY.number | 1 << TAG.number | 1 << SEED.number
                    )
                with m.Case(42):
                    third = Mux(self.parameter_set, key[2], key[0])
                    for k, part in enumerate((key[0], key[1], third)):
                        m.d.sync += [copy[k].eq(text[k] ^ part), key[k].eq(0)]
                    m.d.comb += self.given.eq(
                        (self.complete | 1 << COPY.number) & ~(1 << KEY.number)
                    )
                with m.Case(43), m.If(tag[0][0]):
                    m.d.comb += self.error.eq(Error.SIGNATURE)
                    m.d.sync += error.eq(Error.SIGNATURE)
                with m.Default():
                    m.d.comb += self.given.eq(0)
                    for own in words.values():
                        m.d.sync += [word.eq(0) for word in own]
        return m


class VaultDesign:
    """The design of the vault."""

    interface = INTERFACE

    def hardware(self, target=None):
        return Vault()

    def predict(self, call, parameter_set, inputs, random=b""):
        if call.name == "CHECK" and inputs["tag"][0] & 1:
            return CallOutcome(Error.SIGNATURE, {}, 1)
        values = {"seed": random, **inputs}
        cycles = 1 + (8 if call.name == "MAKE" and "seed" not in inputs else 0)
        return CallOutcome(Error.NONE, call.reference(parameter_set, values), cycles)


VAULT = CallChoice(CallFamily("vault", "", "hides texts", (), "tests.calls.vault:VaultDesign"), {})
