"""A simulated cluster at its registers; results by Python's integers."""

import random
from contextlib import contextmanager
from dataclasses import dataclass

from coprime.bus import cluster_registers as r
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.device.simulated import SimulatedDevice, open_cluster
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.flow.parts import cluster_verilog
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.rsa import keys

LENGTHS = {
    Length.MODULUS: r.MODULUS_LENGTH,
    Length.EXPONENT: r.EXPONENT_LENGTH,
    Length.P: r.P_LENGTH,
    Length.Q: r.Q_LENGTH,
}
NO_CORE = 0xFFFF
TOO_LONG = 0xFFFF


def cluster_choice(family, cores, **settings):
    texts = {name: str(value) for name, value in settings.items()}
    return choose("cluster", {"engine": family, "cores": str(cores), **texts})


@dataclass(frozen=True)
class Work:
    """A command with all of its operands, X included, their lengths in bits, and its result."""

    command: Command
    operands: dict[Operand, int]
    lengths: dict[Length, int]
    result: int

    @property
    def ended(self):
        """What `Bench.take` gives for it, but for the core."""
        return Error.NONE, self.result, -(-self.lengths[Length.MODULUS] // 8)


class Bench:
    """Accesses by register; `take` gives completions."""

    def __init__(self, choice, device):
        self.choice = choice
        self.device = device
        self.own = choice.core.design.capabilities
        self.cores = choice.cores
        self.radix = Radix.of(self.own)

    # Accesses

    def read(self, register):
        return self.device.read32(register.address)

    def write(self, register, value=0):
        self.device.write32(register.address, value)

    def refusal(self):
        """The refusal since this was asked last."""
        value = self.read(r.ERROR)
        self.write(r.ERROR, 0xFFFF_FFFF)
        assert value & ~0xFF00 == 0
        return Error(value >> 8)

    def select(self, core):
        self.write(r.CORE, core)

    def occupied(self, core):
        self.select(core)
        value = self.read(r.CORE)
        assert value & 0x7FFF_FFFF == core
        return bool(value >> 31)

    def length_of(self, operand, lengths):
        return self.own.digit_width if operand.length is Length.DIGIT else lengths[operand.length]

    def load(self, operand, value, length):
        self.write(r.KEY_OPERAND, operand)
        for place in range(0, length, 32):
            self.write(r.KEY_DATA, value >> place & 0xFFFF_FFFF)

    def load_all(self, work, *, without=()):
        """Lengths and operands of the selected core."""
        for kind, length in work.lengths.items():
            self.write(LENGTHS[kind], length)
        for operand, value in work.operands.items():
            if operand not in without:
                self.load(operand, value, self.length_of(operand, work.lengths))

    def start(self, core, work, *, without=()):
        self.select(core)
        self.load_all(work, without=without)
        self.write(r.COMMAND, work.command)

    # Completions

    def wait(self):
        """Until there is one, by the interrupt."""
        self.write(r.INTERRUPT_ENABLE, 1)
        self.device.wait_interrupt()
        self.write(r.INTERRUPT_ENABLE, 0)

    def shown(self):
        """Core and error of the oldest completion; None if there is none."""
        value = self.read(r.COMPLETION)
        if not value >> 31:
            assert value == 0
            return None
        assert value & 0x7F00_0000 == 0
        return value & 0xFFFF, Error(value >> 16 & 0xFF)

    def result(self):
        """The result's value and bytes."""
        size = self.read(r.RESULT_LENGTH)
        words = [self.read(r.RESULT) for _ in range(0, size, 4)]
        return sum(word << 32 * place for place, word in enumerate(words)), size

    def take(self):
        """Core, error, result and bytes of the next completion, which is removed."""
        self.wait()
        core, error = self.shown()
        result = self.result()
        self.write(r.NEXT)
        return core, error, *result

    def idle(self):
        """No completion, no core occupied, and none comes."""
        self.device.run(4000)
        assert self.shown() is None
        assert self.read(r.RESULT_LENGTH) == 0
        assert self.read(r.RESULT) == 0
        return not any(self.occupied(core) for core in range(self.cores))

    def run(self, core, work, *, without=()):
        """Run it on a core, nothing else being under way."""
        self.start(core, work, without=without)
        ended = self.take()
        assert ended[0] == core
        return ended[1:]

    # Work

    def modulus(self, generator, length):
        return generator.getrandbits(length) | 1 << (length - 1) | 1

    def constants(self, operands, command):
        return {one: value for one, value in operands.items() if one in self.own.required[command]}

    def modmul(self, seed, length=None, *, m=None, x=None, y=None):
        generator = random.Random(seed)
        length = length or self.own.max_length
        m = self.modulus(generator, length) if m is None else m
        x = generator.randrange(m) if x is None else x
        y = generator.randrange(m) if y is None else y
        operands = {**self.radix.modulus_operands(m, length), Operand.X: x, Operand.Y: y}
        return Work(
            Command.MODMUL,
            self.constants(operands, Command.MODMUL),
            {Length.MODULUS: length},
            x * y % m,
        )

    def modexp(self, seed, length=None, *, exponent_length=None, command=Command.MODEXP):
        generator = random.Random(seed)
        length = length or self.own.max_length
        exponent_length = exponent_length or length
        m = self.modulus(generator, length)
        x, e = generator.randrange(m), generator.getrandbits(exponent_length)
        operands = {**self.radix.modulus_operands(m, length), Operand.X: x, Operand.E: e}
        return Work(
            command,
            self.constants(operands, command),
            {Length.MODULUS: length, Length.EXPONENT: exponent_length},
            pow(x, e, m),
        )

    def private(self, seed, length=None):
        length = length or self.own.max_length
        key = keys.generate(length, 17, seed=seed)
        x = random.Random(seed).randrange(key.n)
        encoded = Command.RSA_PRIVATE.operation.encoding.encode(
            {"x": x, **key_numbers(key)}, self.own
        )
        operands = encoded.among(self.own.required[Command.RSA_PRIVATE])
        return Work(Command.RSA_PRIVATE, operands, encoded.lengths, pow(x, key.d, key.n))

    def any_work(self, seed):
        length = random.Random(seed).randint(self.own.min_length + 8, self.own.max_length)
        kinds = (self.modmul, self.modexp, self.private)
        kind = kinds[seed % 3]
        return kind(seed, max(length, 64) if kind == self.private else length)


@contextmanager
def open_bench(family, cores, *, whole=False, cycle_limit=2_000_000, bus=Bus.AXI4_LITE, **settings):
    """A cluster with this many cores; as one module if `whole`, else as a chain of them."""
    choice = cluster_choice(family, cores, **settings)
    if whole:
        device = SimulatedDevice(
            cluster_verilog(choice, bus=bus), choice.module_name, cycle_limit=cycle_limit
        )
    else:
        device = open_cluster(choice, bus=bus, cycle_limit=cycle_limit)
    with device:
        yield Bench(choice, device)
