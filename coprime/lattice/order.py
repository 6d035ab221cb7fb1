"""Which routines an engine executes in a call, one after the other."""

from collections.abc import Callable, Iterable

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.calls.interface import Call, EngineInterface
from coprime.cells.tables import look_up
from coprime.engine.capabilities import COMMAND_BITS, Error

from . import interface as ml_kem
from . import ml_dsa_interface as ml_dsa
from .programs.entries import LatticeRoutine


class RoutineOrder(wiring.Component):
    """The routine that follows, and what a call gives.

    | call | routines |
    |---|---|
    | ML_KEM_KEY_PAIR, _ENCAPSULATE, _DECAPSULATE | one each |
    | ML_KEM_CHECK_KEY | CHECK_EK, CHECK_DK or CHECK_BOTH, of the keys that are complete |
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
    routine, next (out): of LatticeRoutine
    lacks (1 bit, out): the call is a check of keys without any
    follows (1 bit, out): another routine follows
    fails (1 bit, out): the routine has found that a signature of the engine is wrong
    error (out): of Error, of the call that ends with this routine; stays until `start`
    given (out): of CallSignature, with `error`
    """

    def __init__(self, interface: EngineInterface, *, check_signatures: bool):
        self.interface, self.check_signatures = interface, check_signatures
        numbers = max(slot.number for slot in interface.slots) + 1
        codes = [call.code for call in interface.calls]
        self.has_ml_kem = ml_kem.KEY_PAIR_CODE in codes
        self.has_ml_dsa = ml_dsa.VERIFY_CODE in codes
        first = LatticeRoutine.KEY_PAIR if self.has_ml_dsa else LatticeRoutine.KEM_KEY_PAIR
        self.call_bits = next(
            bits
            for bits in range(1, COMMAND_BITS + 1)
            if len({code % (1 << bits) for code in codes}) == len(codes)
        )
        """The lowest bits of a call, which differ from those of all others."""
        super().__init__(
            {
                "call": In(COMMAND_BITS),
                "complete": In(numbers),
                **dict.fromkeys(("start", "begins", "invalid"), In(1)),
                **dict.fromkeys(("routine", "next"), Out(LatticeRoutine, init=first)),
                **dict.fromkeys(("lacks", "follows", "fails"), Out(1)),
                "error": Out(Error),
                "given": Out(numbers),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The first routine by the call, the next one by the one before."""
        m = Module()
        if self.has_ml_kem:
            self._start_ml_kem(m)
        if self.has_ml_dsa:
            self._start_ml_dsa(m)
        with m.If(self.invalid):
            m.d.comb += self.error.eq(Error.INVALID_KEY)
        used, outputs = Signal.like(self.given), Signal.like(self.given)
        m.d.comb += [
            used.eq(self._by_call(lambda call: call.uses_up)),
            outputs.eq(self._by_call(lambda call: call.outputs)),
        ]
        spoilt: Value = Const(0, len(self.given))
        if self.has_ml_dsa:
            with m.If(~self.start), m.Switch(self.routine):
                self._follow(m)
            spoilt = self._spoil(m)
            with m.If(self.error != Error.NONE):
                m.d.comb += outputs.eq(0)
        m.d.comb += self.given.eq((self.complete & ~used & ~spoilt) | outputs)
        with m.If(self.begins):
            m.d.sync += self.routine.eq(self.next)
        return m

    def _is_complete(self, name: str) -> Value:
        return self.complete[self.interface.slot[name].number]

    def _by_call(self, names: Callable[[Call], Iterable[str]]) -> Value:
        """A bit for each slot that a call names."""
        calls = {call.code % (1 << self.call_bits): call for call in self.interface.calls}
        rows = [
            self._bits(names(calls[number])) if number in calls else 0
            for number in range(1 << self.call_bits)
        ]
        return look_up(rows, self.call[: self.call_bits], len(self.given))

    def _start_ml_kem(self, m: Module) -> None:
        """A routine for each call, and for each choice of keys that are complete."""
        keys = Cat(self._is_complete(name) for name in ("ek", "dk"))
        makes = (
            LatticeRoutine.KEM_KEY_PAIR,
            LatticeRoutine.ENCAPSULATE,
            LatticeRoutine.DECAPSULATE,
        )
        checks = [LatticeRoutine[f"CHECK_{name}"] for name in ("EK", "EK", "DK", "BOTH")]
        numbers = [routine.value for check in checks for routine in (*makes, check)]
        call = self.call[:2]  # of one of the four, as their codes are 40 to 43
        following = Value.cast(self.next)
        m.d.comb += [
            following.eq(look_up(numbers, Cat(call, keys), len(following))),
            self.lacks.eq((call == ml_kem.CHECK_KEY_CODE % 4) & ~keys.any()),
        ]

    @property
    def _signs(self) -> Value:
        """The call is ML_DSA_SIGN."""
        return self.call[: self.call_bits] == ml_dsa.SIGN_CODE % (1 << self.call_bits)

    def _main(self) -> Value:
        """After the message's representative what the call is about."""
        return Mux(self._signs, LatticeRoutine.SIGN, LatticeRoutine.VERIFY)

    def _message(self) -> Value:
        """After the keys the message."""
        hashes = Mux(self._signs, LatticeRoutine.MU_OF_SK, LatticeRoutine.MU_OF_PK)
        return Mux(self._is_complete("mu"), self._main(), hashes)

    def _start_ml_dsa(self, m: Module) -> None:
        """Keys, if there are any to check."""
        keys = Mux(self._is_complete("pk"), LatticeRoutine.MATCH, LatticeRoutine.CHECK_SK)
        for code, routine in (
            (ml_dsa.KEY_PAIR_CODE, LatticeRoutine.KEY_PAIR),
            (ml_dsa.VERIFY_CODE, self._message()),
            (ml_dsa.SIGN_CODE, keys if self.check_signatures else self._message()),
            (ml_dsa.CHECK_KEY_CODE, keys),
        ):
            if code in [call.code for call in self.interface.calls]:
                with m.If(self.call[: self.call_bits] == code % (1 << self.call_bits)):
                    m.d.comb += [self.next.eq(routine), self.lacks.eq(0)]

    def _follow(self, m: Module) -> None:
        """After a call's keys its message, then what it is about."""
        signs, message = self._signs, self._message()
        with m.Case(LatticeRoutine.MATCH):
            m.d.comb += [
                self.next.eq(Mux(signs & ~self.invalid, message, LatticeRoutine.CHECK_SK)),
                self.follows.eq(signs | ~self.invalid),
            ]
        with m.Case(LatticeRoutine.CHECK_SK):
            m.d.comb += [self.next.eq(message), self.follows.eq(signs & ~self.invalid)]
        with m.Case(LatticeRoutine.MU_OF_PK, LatticeRoutine.MU_OF_SK):
            m.d.comb += [self.next.eq(self._main()), self.follows.eq(1)]
        with m.Case(LatticeRoutine.SIGN):
            m.d.comb += [
                self.next.eq(LatticeRoutine.VERIFY),
                self.follows.eq(self.check_signatures),
                self.error.eq(Error.NONE),
            ]
        with m.Case(LatticeRoutine.KEY_PAIR):
            m.d.comb += self.error.eq(Error.NONE)
        with m.Case(LatticeRoutine.VERIFY):
            m.d.comb += self.fails.eq(signs & self.invalid)
            with m.If(self.invalid):
                m.d.comb += self.error.eq(Error.SIGNATURE)

    def _spoil(self, m: Module) -> Value:
        """Slots that are not complete any more: CHECK_SK has written pk, instead of a signature."""
        spoilt, checked = Signal.like(self.given), Signal()
        with m.If(self.begins):
            m.d.sync += checked.eq((checked & ~self.start) | (self.next == LatticeRoutine.CHECK_SK))
        with m.If(checked):
            m.d.comb += spoilt.eq(self._bits(["pk", "signature"]))
        with m.Elif(self._signs):
            m.d.comb += spoilt.eq(self._bits(["signature"]))
        return spoilt

    def _bits(self, names: Iterable[str]) -> int:
        """A bit for each slot's number."""
        return sum(1 << self.interface.slot[name].number for name in names)
