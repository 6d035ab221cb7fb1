"""A challenge: few coefficients that are 1 or -1, the others 0.

Source: FIPS 204, algorithm 29; the model is `challenge` of
`../../model/lattice/ml_dsa_sampling.py`.
"""

import enum

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory, WritePort
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model.lattice.ml_dsa_sampling import CANDIDATE_BITS, COEFFICIENTS, SIGN_BYTES
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .coefficient_sampler import COEFFICIENT

TAUS = tuple(parameter_set.tau for parameter_set in ML_DSA_SETS)


class BallState(enum.Enum):
    """The states; PLACE, MOVE and SIGN are the lines of the algorithm's loop."""

    CLEAR = 0
    SIGNS = 1
    PLACE = 2  # read c[j], or refuse j
    MOVE = 3  # c[i] = c[j]
    SIGN = 4  # c[j] = 1 or -1
    OUTPUT = 5
    FORGET = 6
    DONE = 7


class BallSampler(wiring.Component):
    """Shuffles 256 numbers of two bits in a LUT RAM with one port, and gives them in order.

    The first eight bytes are signs. Then each byte is a place: refused in a cycle if it is above
    the current last place, which grows from 256 - tau on; else three cycles exchange both. As the
    numbers leave, one a cycle, zeros are written, so that the memory is clear when the next
    challenge begins. If the bytes do not suffice it is cleared without giving any number.

    Members
    -------
    enable (1 bit, in): there is a challenge; 0 for a cycle at least before the next one
    tau (in): which of TAUS: how many coefficients are not 0; stable while `enable`
    bytes (in): a stream of bytes
    missing (1 bit, in): there are no more bytes
    samples (out): 256 numbers of signed 24 bits
    completes (1 bit, out): no more bytes are needed
    complete (1 bit, out): all coefficients were taken
    fails (1 bit, out): the bytes did not suffice, and the memory is clear
    wipe (1 bit, in): clear the memory, which takes 256 cycles; `enable` is 0 in the next cycle
    wiping (1 bit, out): this is under way, as it is after a reset
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "enable": In(1),
                "tau": In(range(len(TAUS))),
                "bytes": In(stream.Signature(8)),
                "missing": In(1),
                "samples": Out(stream.Signature(COEFFICIENT)),
                **dict.fromkeys(("completes", "complete", "fails", "wiping"), Out(1)),
                "wipe": In(1),
            }
        )

    @staticmethod
    def cycles(data: bytes, tau: int) -> int:
        """From the first byte's cycle to the first one in which no more bytes are needed, if all
        are there; then 256 until `complete`, if the taker is ready."""
        found, last = SIGN_BYTES, COEFFICIENTS - tau
        for byte in data[SIGN_BYTES:]:
            found += 3 if byte <= last else 1
            last += byte <= last
            if last == COEFFICIENTS:
                break
        return found

    def elaborate(self, platform: object) -> Module:
        """The states are lines of the algorithm."""
        m = Module()
        attributes = {"ram_style": "distributed"}
        m.submodules.numbers = numbers = Memory(
            shape=2, depth=COEFFICIENTS, init=[], attrs=attributes
        )
        m.submodules.signs = signs = Memory(shape=8, depth=SIGN_BYTES, init=[], attrs=attributes)
        read, write = numbers.read_port(domain="comb"), numbers.write_port()
        read_sign, write_sign = signs.read_port(domain="comb"), signs.write_port()
        last = Signal(range(COEFFICIENTS))  # i of the algorithm, then the place of the output
        signed = Signal(range(8 * SIGN_BYTES))  # bytes of signs, then signs used
        state, moved, failed = Signal(BallState, init=BallState.CLEAR), Signal(2), Signal()
        byte, samples = self.bytes.payload, self.samples
        address, refused, passes = Signal(range(COEFFICIENTS)), Signal(), Signal()
        m.d.comb += [
            refused.eq(byte > last),
            address.eq(Mux((state == BallState.PLACE) | (state == BallState.SIGN), byte, last)),
            read.addr.eq(address),
            write.addr.eq(address),
            read_sign.addr.eq(signed[3:]),
            write_sign.addr.eq(signed),
            write_sign.data.eq(byte),
            samples.payload.eq(Cat(read.data[0], read.data[1].replicate(CANDIDATE_BITS))),
            self.completes.eq((state == BallState.OUTPUT) | (state == BallState.DONE)),
            self.complete.eq((state == BallState.DONE) & ~failed),
            self.fails.eq((state == BallState.DONE) & failed),
            self.wiping.eq(state == BallState.CLEAR),
        ]
        with m.Switch(state):
            with m.Case(BallState.SIGNS):
                m.d.comb += [self.bytes.ready.eq(1), write_sign.en.eq(self.bytes.valid)]
                with m.If(self.bytes.valid):
                    m.d.sync += signed.eq(signed + 1)
                    with m.If(signed == SIGN_BYTES - 1):
                        first = [COEFFICIENTS - tau for tau in TAUS]
                        m.d.sync += [
                            signed.eq(0),
                            last.eq(look_up(first, self.tau, len(last))),
                            state.eq(BallState.PLACE),
                        ]
            with m.Case(BallState.PLACE):
                m.d.comb += self.bytes.ready.eq(refused)
                m.d.sync += moved.eq(read.data)
                with m.If(self.bytes.valid & ~refused):
                    m.d.sync += state.eq(BallState.MOVE)
                with m.If(self.missing):
                    m.d.sync += [state.eq(BallState.FORGET), last.eq(0), failed.eq(1)]
            with m.Case(BallState.MOVE):
                m.d.comb += [write.en.eq(1), write.data.eq(moved)]
                m.d.sync += state.eq(BallState.SIGN)
            with m.Case(BallState.SIGN):
                sign = read_sign.data.bit_select(signed[:3], 1)
                m.d.comb += [
                    self.bytes.ready.eq(1),
                    write.en.eq(1),
                    write.data.eq(Cat(1, sign)),
                ]
                m.d.sync += [
                    last.eq(last + 1),
                    signed.eq(signed + 1),
                    state.eq(Mux(last.all(), BallState.OUTPUT, BallState.PLACE)),
                ]
            with m.Case(BallState.DONE), m.If(~self.enable):
                m.d.sync += [state.eq(BallState.SIGNS), failed.eq(0), signed.eq(0)]
            with m.Default():
                self._clear_in_order(m, write, state, last, passes)
        with m.If(self.wipe):
            m.d.sync += [
                state.eq(BallState.CLEAR),
                *(register.eq(0) for register in (last, moved, signed, failed)),
            ]
        return m

    def _clear_in_order(
        self, m: Module, write: WritePort, state: Signal, last: Signal, passes: Signal
    ) -> None:
        """A zero to each place, in order: OUTPUT, once its number is taken, FORGET and CLEAR."""
        samples = self.samples
        m.d.comb += [
            samples.valid.eq(state == BallState.OUTPUT),
            passes.eq(~samples.valid | samples.ready),
            write.en.eq(passes),
        ]
        with m.If(passes):
            m.d.sync += last.eq(last + 1)
        with m.If(passes & last.all()):
            m.d.sync += state.eq(Mux(self.wiping, BallState.SIGNS, BallState.DONE))
