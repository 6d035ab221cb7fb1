"""A cluster at its registers: every rule of the map, and results by Python's integers.

Time passes with accesses and while waiting. The constants that belong to a modulus are checked
against what they must be, so that a wrong one, or one of another length, is found.
"""

import enum
import heapq
import random
from collections import deque
from dataclasses import dataclass, field

from coprime.bus import cluster_registers as r
from coprime.device.base import BusError, Closing, InterruptTimeout
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.model.montgomery import digits

BY_ADDRESS = {register.address: register for register in r.REGISTERS}
LENGTHS = {
    r.MODULUS_LENGTH: Length.MODULUS,
    r.EXPONENT_LENGTH: Length.EXPONENT,
    r.P_LENGTH: Length.P,
    r.Q_LENGTH: Length.Q,
}
PUBLIC = {Operand.X, Operand.M, Operand.E, Operand.M_INVERSE, Operand.M_POWER}
REQUIRED = {
    Command.MODMUL: PUBLIC - {Operand.E} | {Operand.Y},
    Command.MODEXP: PUBLIC,
    Command.RSA_PUBLIC: PUBLIC,
    Command.RSA_PRIVATE: {one for one in Operand if one <= Operand.CRT_Q} - {Operand.Y, Operand.E},
}
NO_CORE = 0xFFFF


class Fault(enum.Enum):
    """What a core does wrong, from its k-th command on."""

    STUCK = "never ends, but answers CANCEL"
    DEAD = "never ends, and does not answer CANCEL"
    LATE = "takes `late` cycles, whatever CANCEL says"
    WRONG = "gives a wrong result of a private operation once"
    OVER = "gives a result that is not below the modulus, once"
    UNSUPPORTED = "knows no command"
    LOST = "has no operand when it starts, once"
    STRANGE = "ends with an error that does not exist"
    FLIPPED = "finds that a bit has changed, once, and wipes its memory"
    BROKEN = "finds that in every command"


@dataclass
class Core:
    """What one engine of the cluster holds and does."""

    lengths: dict[Length, int] = field(default_factory=lambda: dict.fromkeys(Length, 0))
    operands: dict[Operand, int] = field(default_factory=dict)
    occupied: bool = False
    command: Command | None = None
    running: int = 0
    """Serial number of the command that it works on; 0: none."""
    commands: int = 0


class ClusterModel(Closing):
    """A Device. `faults` maps a core to its fault and the number of its commands before it.

    A command takes a random number of cycles of `least_cycles` to `most_cycles`, an access 1 cycle.
    `time` is what TIME shows at first. A completion is seen only `gap` cycles after the one before
    it was removed.
    """

    def __init__(
        self,
        cores=4,
        *,
        width=17,
        headroom=2,
        radix=17,
        least=5,
        greatest=2176,
        greatest_prime=1088,
        commands=tuple(REQUIRED),
        held=frozenset(Operand),
        identification=r.IDENTIFICATION["ID"].reset,
        seed=1,
        least_cycles=50,
        most_cycles=2000,
        cycle_limit=10_000,
        late=100_000,
        gap=0,
        faults=None,
        time=0,
        verify=True,
    ):
        self.count = cores
        self.width, self.headroom, self.radix = width, headroom, radix
        self.least, self.greatest, self.greatest_prime = least, greatest, greatest_prime
        self.commands, self.held = set(commands), held
        self.identification = identification
        self.source = random.Random(seed)
        self.cycles = least_cycles, most_cycles
        self.cycle_limit, self.late, self.gap = cycle_limit, late, gap
        self.faults = dict(faults or {})
        self.time = time
        self.verify = verify
        self.writes: list[tuple[r.Register, int]] = []
        self.started: list[tuple[int, Command]] = []
        """Core and command of everything that was accepted."""
        self.served: list[int] = []
        """Core of each completion that was removed."""
        self.accesses = 0
        self.serial = 0
        self.waits = 0
        self.reset()
        self.time = time

    def reset(self):
        self.time = 0
        self.cores = [Core() for _ in range(self.count)]
        self.selected = 0
        self.refusal = Error.NONE
        self.enabled = 0
        self.chosen = None
        self.words: list[int] = []
        self.events: list[tuple[int, int, int]] = []  # time, serial number, core
        self.completions: deque[tuple[int, int, list[int], int]] = deque()
        self.seen = 0
        """When the oldest completion can be seen."""

    # Device

    def read32(self, address):
        register = BY_ADDRESS.get(address)
        if register is None or not register.readable:
            raise BusError(address, False)
        self.pass_cycles()
        if register is r.COMPLETION:
            if not self.completions or self.time < self.seen:
                return 0
            core, error, _, _ = self.completions[0]
            return core | error << 16 | 1 << 31
        if register is r.RESULT_LENGTH:
            return self.completions[0][3] if self.completions else 0
        if register is r.RESULT:
            words = self.completions[0][2] if self.completions else []
            return words.pop(0) if words else 0
        if register is r.INTERRUPT_ENABLE:
            return self.enabled
        if register is r.ERROR:
            return self.refusal << 8
        if register is r.TIME:
            return self.time & 0xFFFF_FFFF
        if register is r.CORE:
            return self.selected | (self.selected != NO_CORE and self.core.occupied) << 31
        if register in LENGTHS:
            return 0 if self.selected == NO_CORE else self.core.lengths[LENGTHS[register]]
        commands = sum(1 << command for command in {*self.commands, Command.WIPE})
        return {
            r.IDENTIFICATION: self.identification,
            r.VERSION: 0,
            r.FAMILY: 7,
            r.CAPABILITIES: commands | 1 << 8 | 1 << 10,
            r.DIGITS: self.width | self.headroom << 8 | self.radix << 16,
            r.MAX_LENGTH: self.greatest | self.greatest_prime << 16,
            r.MIN_LENGTH: self.least,
            r.CORES: self.count,
        }[register]

    def write32(self, address, value):
        register = BY_ADDRESS.get(address)
        if register is None or not register.writable:
            raise BusError(address, True)
        assert value in range(1 << 32)
        self.writes.append((register, value))
        self.pass_cycles()
        if register is r.ERROR:
            self.refusal = Error.NONE
        elif register is r.INTERRUPT_ENABLE:
            self.enabled = value & 1
        elif register is r.CORE:
            self.chosen = None
            self.selected = value if value < self.count else NO_CORE
            if self.selected == NO_CORE:
                self.refuse(Error.ADDRESS)
        elif register is r.NEXT:
            if self.completions:
                core = self.completions.popleft()[0]
                self.seen = self.time + self.gap
                self.cores[core].occupied = False
                self.served.append(core)
        elif self.selected == NO_CORE:
            self.refuse(Error.ADDRESS)
        elif register is r.CANCEL:
            self.cancel()
        elif self.core.occupied:
            self.refuse(Error.BUSY)
        elif register is r.KEY_DATA:
            self.take(value)
        elif register is r.KEY_OPERAND:
            self.choose(value)
        elif register is r.COMMAND:
            self.start(value)
        else:
            kind = LENGTHS[register]
            self.chosen = None
            own = self.core
            own.lengths[kind] = value if value <= self.limit(kind) else 0xFFFF
            own.operands = {k: v for k, v in own.operands.items() if k.length is not kind}

    def wait_interrupt(self, timeout=None):
        self.waits += 1
        end = self.time + self.cycle_limit
        if self.completions:
            self.pass_cycles(max(0, self.seen - self.time))
        while not (self.enabled and self.completions):
            if not self.events or self.events[0][0] > end:
                self.time = end
                raise InterruptTimeout(f"no interrupt came in {self.cycle_limit} cycles")
            self.time = max(self.time, self.events[0][0])
            self.pass_cycles(0)

    def close(self):
        pass

    # What the registers do

    @property
    def core(self):
        return self.cores[self.selected]

    def written(self, register):
        return [value for written, value in self.writes if written is register]

    def refuse(self, error):
        self.refusal = self.refusal or error

    def limit(self, kind):
        return self.greatest_prime if kind in (Length.P, Length.Q) else self.greatest

    def length_of(self, operand):
        return self.width if operand.length is Length.DIGIT else self.core.lengths[operand.length]

    def choose(self, number):
        self.chosen = None
        if number not in self.held:
            self.refuse(Error.ADDRESS)
            return
        operand = Operand(number)
        length = self.length_of(operand)
        if length == 0 or length == 0xFFFF:
            self.refuse(Error.LENGTH_OVER if length else Error.LENGTH_ZERO)
            return
        self.chosen = operand
        self.core.operands.pop(operand, None)
        self.words = []

    def take(self, word):
        if self.chosen is None:
            self.refuse(Error.KEY_OVERRUN)
            return
        self.words.append(word)
        length = self.length_of(self.chosen)
        if len(self.words) == -(-length // 32):
            value = sum(word << 32 * i for i, word in enumerate(self.words))
            if value >> length:
                self.refuse(Error.KEY_EXCESS)
            else:
                self.core.operands[self.chosen] = value
            self.chosen = None

    def start(self, code):
        self.chosen = None
        core = self.core
        self.serial += 1
        core.occupied, core.running = True, self.serial
        core.command = code
        core.commands += 1
        self.started.append((self.selected, code))
        fault = self.fault_of(self.selected)
        if fault in (Fault.STUCK, Fault.DEAD):
            return
        cycles = self.late if fault is Fault.LATE else self.source.randint(*self.cycles)
        heapq.heappush(self.events, (self.time + cycles, self.serial, self.selected))

    def cancel(self):
        core = self.core
        if core.running and self.fault_of(self.selected) not in (Fault.DEAD, Fault.LATE):
            core.running = 0
            core.operands.pop(Operand.X, None)
            self.completions.append((self.selected, Error.CANCELLED, [], 0))

    def fault_of(self, number):
        fault, since = self.faults.get(number, (None, 0))
        return fault if self.cores[number].commands > since else None

    def pass_cycles(self, cycles=1):
        self.accesses += cycles
        self.time += cycles
        while self.events and self.events[0][0] <= self.time:
            _, serial, number = heapq.heappop(self.events)
            if self.cores[number].running == serial:  # not cancelled
                self.end(number)

    def end(self, number):
        own = self.cores[number]
        own.running = 0
        fault = self.fault_of(number)
        if fault is Fault.UNSUPPORTED:
            error, value = Error.UNSUPPORTED, 0
        elif fault is Fault.STRANGE:
            error, value = 31, 0
        elif fault in (Fault.FLIPPED, Fault.BROKEN):
            if fault is Fault.FLIPPED:
                del self.faults[number]
            own.operands.clear()
            error, value = Error.FAULT, 0
        else:
            if fault is Fault.LOST:
                del self.faults[number]
                own.operands.clear()
            error, value = self.execute(own)
        size = 0 if error or own.command == Command.WIPE else -(-own.lengths[Length.MODULUS] // 8)
        if not error and fault is Fault.WRONG and own.command == Command.RSA_PRIVATE:
            del self.faults[number]
            value = (value + 1) % own.operands[Operand.M]
        elif not error and fault is Fault.OVER and size:
            del self.faults[number]
            value = (1 << 8 * size) - 1
        own.operands.pop(Operand.X, None)
        words = [value >> 8 * place & 0xFFFF_FFFF for place in range(0, size, 4)]
        self.completions.append((number, error, words, size))

    def execute(self, own):
        """Error and value of a core's command, in the order in which engines look."""
        if own.command == Command.WIPE:
            own.operands.clear()
            return Error.NONE, 0
        if own.command not in self.commands:
            return Error.UNSUPPORTED, 0
        required = REQUIRED[own.command] & self.held
        for kind in sorted({operand.length for operand in required} - {Length.DIGIT}):
            length = own.lengths[kind]
            if kind is Length.EXPONENT and length == 0:
                return Error.EXPONENT_LENGTH, 0
            if length < (1 if kind is Length.EXPONENT else self.least):
                return Error.LENGTH_ZERO, 0
            if length == 0xFFFF:
                return Error.LENGTH_OVER, 0
        if not required <= set(own.operands):
            return Error.OPERAND_MISSING, 0
        get = own.operands.get
        x, y, m = get(Operand.X), get(Operand.Y), get(Operand.M)
        moduli = {Operand.M, Operand.P, Operand.Q} & required
        if any(own.operands[modulus] == 0 for modulus in moduli):
            return Error.MODULUS_ZERO, 0
        if self.radix and any(own.operands[modulus] % 2 == 0 for modulus in moduli):
            return Error.MODULUS_EVEN, 0
        if x >= m or (own.command == Command.MODMUL and y >= m):
            return Error.OPERAND_RANGE, 0
        if own.command == Command.RSA_PRIVATE:
            return Error.NONE, self.private(own, x, m)
        self.check_constants(own, Operand.M, Operand.M_INVERSE, Operand.M_POWER)
        if own.command == Command.MODMUL:
            return Error.NONE, x * y % m
        return Error.NONE, pow(x, get(Operand.E), m)

    def private(self, own, x, m):
        get = own.operands.get
        self.check_constants(own, Operand.M, Operand.M_INVERSE, Operand.M_POWER)
        total = 0
        for prime, exponent, inverse, power, factor in (
            (Operand.P, Operand.DP, Operand.P_INVERSE, Operand.P_POWER, Operand.CRT_P),
            (Operand.Q, Operand.DQ, Operand.Q_INVERSE, Operand.Q_POWER, Operand.CRT_Q),
        ):
            self.check_constants(own, prime, inverse, power)
            part = pow(x, get(exponent), get(prime))
            total += part * get(factor) * pow(self.r(own, prime), -1, m)
        return total % m

    def r(self, own, modulus):
        """R of a modulus."""
        length = own.lengths[modulus.length]
        return 1 << self.radix * digits(length, self.radix, self.headroom) if self.radix else 1

    def check_constants(self, own, modulus, inverse, power):
        if not self.verify:
            return
        value = own.operands[modulus]
        if inverse in self.held and self.radix:
            assert (value * own.operands[inverse] + 1) % (1 << self.width) == 0
        if power in self.held:
            product = self.r(own, Operand.M) * self.r(own, modulus)
            assert own.operands[power] == product % value
