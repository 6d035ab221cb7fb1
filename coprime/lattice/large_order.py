"""Which routines an engine of ML-DSA executes in a call, one after the other."""

from collections.abc import Iterable

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.calls.interface import EngineInterface
from coprime.engine.capabilities import COMMAND_BITS, Error

from .ml_dsa_interface import CHECK_KEY_CODE, KEY_PAIR_CODE, SIGN_CODE, VERIFY_CODE
from .programs.ml_dsa_entries import MlDsaRoutine


class RoutineOrder(wiring.Component):
    """The routine that follows, and what a call gives.

    | call | routines |
    |---|---|
    | ML_DSA_KEY_PAIR | KEY_PAIR |
    | ML_DSA_SIGN | MATCH, if pk is complete; CHECK_SK, if it is not, or not that of sk; MU_OF_SK, \
if mu is not complete; SIGN; VERIFY |
    | ML_DSA_VERIFY | MU_OF_PK, if mu is not complete; VERIFY |
    | ML_DSA_CHECK_KEY | MATCH, if pk is complete; CHECK_SK |

    Parameters
    ----------
    interface (EngineInterface)
    check_signatures (bool): a signature is verified; else ML_DSA_SIGN needs no pk

    Members
    -------
    call (in), complete (in): of CallSignature
    start (1 bit, in): `next` is the call's first routine
    begins (1 bit, in): `next` begins, and is `routine` from the next cycle on
    invalid (1 bit, in): what the routine compares is wrong
    routine, next (out): of MlDsaRoutine
    follows (1 bit, out): another routine follows
    fails (1 bit, out): the routine has found that a signature of the engine is wrong
    error (out): of Error, of the call that ends with this routine
    given (out): of CallSignature, with `error`
    """

    def __init__(self, interface: EngineInterface, *, check_signatures: bool):
        self.interface, self.check_signatures = interface, check_signatures
        numbers = max(one.number for one in interface.slots) + 1
        super().__init__(
            {
                "call": In(COMMAND_BITS),
                "complete": In(numbers),
                **dict.fromkeys(("start", "begins", "invalid"), In(1)),
                **dict.fromkeys(("routine", "next"), Out(MlDsaRoutine)),
                **dict.fromkeys(("follows", "fails"), Out(1)),
                "error": Out(Error),
                "given": Out(numbers),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """After a call's keys its message, then what it is about."""
        m = Module()
        signs = Signal()
        pk, mu = (self.complete & self._bits([name]) for name in ("pk", "mu"))
        main = Mux(signs, MlDsaRoutine.SIGN, MlDsaRoutine.VERIFY)
        message = Mux(mu.any(), main, Mux(signs, MlDsaRoutine.MU_OF_SK, MlDsaRoutine.MU_OF_PK))
        keys = Mux(pk.any(), MlDsaRoutine.MATCH, MlDsaRoutine.CHECK_SK)
        m.d.comb += signs.eq(self.call == SIGN_CODE)
        with m.If(self.start), m.Switch(self.call):
            with m.Case(KEY_PAIR_CODE):
                m.d.comb += self.next.eq(MlDsaRoutine.KEY_PAIR)
            with m.Case(VERIFY_CODE):
                m.d.comb += self.next.eq(message)
            with m.Case(SIGN_CODE):
                m.d.comb += self.next.eq(keys if self.check_signatures else message)
            with m.Case(CHECK_KEY_CODE):
                m.d.comb += self.next.eq(keys)
        with m.Else(), m.Switch(self.routine):
            with m.Case(MlDsaRoutine.MATCH):
                m.d.comb += [
                    self.next.eq(Mux(signs & ~self.invalid, message, MlDsaRoutine.CHECK_SK)),
                    self.follows.eq(signs | ~self.invalid),
                    self.error.eq(Mux(self.invalid, Error.INVALID_KEY, Error.NONE)),
                ]
            with m.Case(MlDsaRoutine.CHECK_SK):
                m.d.comb += [
                    self.next.eq(message),
                    self.follows.eq(signs & ~self.invalid),
                    self.error.eq(Mux(self.invalid, Error.INVALID_KEY, Error.NONE)),
                ]
            with m.Case(MlDsaRoutine.MU_OF_PK, MlDsaRoutine.MU_OF_SK):
                m.d.comb += [self.next.eq(main), self.follows.eq(1)]
            with m.Case(MlDsaRoutine.SIGN):
                m.d.comb += [
                    self.next.eq(MlDsaRoutine.VERIFY),
                    self.follows.eq(self.check_signatures),
                ]
            with m.Case(MlDsaRoutine.VERIFY):
                m.d.comb += [
                    self.fails.eq(signs & self.invalid),
                    self.error.eq(Mux(self.invalid, Error.SIGNATURE, Error.NONE)),
                ]
        checked = Signal()  # CHECK_SK has written pk, instead of a signature
        with m.If(self.begins):
            m.d.sync += [
                self.routine.eq(self.next),
                checked.eq((checked & ~self.start) | (self.next == MlDsaRoutine.CHECK_SK)),
            ]
        self._give(m, checked, signs)
        return m

    def _give(self, m: Module, checked: Signal, signs: Signal) -> None:
        """Slots that are complete afterwards."""
        used, outputs, spoilt = (Signal.like(self.given) for _ in range(3))
        with m.Switch(self.call):
            for call in self.interface.calls:
                with m.Case(call.code):
                    m.d.comb += [
                        used.eq(self._bits(call.uses_up)),
                        outputs.eq(self._bits(call.outputs)),
                    ]
        with m.If(checked):
            m.d.comb += spoilt.eq(self._bits(["pk", "signature"]))
        with m.Elif(signs):
            m.d.comb += spoilt.eq(self._bits(["signature"]))
        right = self.error == Error.NONE
        m.d.comb += self.given.eq((self.complete & ~used & ~spoilt) | Mux(right, outputs, 0))

    def _bits(self, names: Iterable[str]) -> int:
        """A bit for each slot's number."""
        return sum(1 << self.interface.slot[name].number for name in names)
