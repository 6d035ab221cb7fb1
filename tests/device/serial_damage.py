"""Damage on a serial wire: a port that changes what goes to a simulated board, or comes from it."""

import enum

from coprime.soc.simulated_board import SimulatedPort, frame_of

TEXT = b"\x1b[0m[    1.2345] usb 1-1: new high-speed USB device\r\nlogin: ~~}~\x00\xff"
BREAK = [0, 0, 0, 0x3FF]
KINDS = (
    *("flip a bit", "flip bits", "lose", "double", "insert", "cut", "burst", "noise before"),
    *("noise after", "twice", "half of it before", "break", "reset"),
)


BREAK_BITS = 17
"""A stop bit of 0, and 16 bits of 0 after it: a break to the bridge's receiver."""


class Direction(enum.Enum):
    REQUEST = 0
    ANSWER = 1


def damage(rng, kind, place, frames):
    """Frames of ten levels, one of them changed: that at `place`, or around there."""
    before, here, after = frames[:place], frames[place], frames[place + 1 :]
    text = [frame_of(byte) for byte in rng.sample(TEXT, rng.randrange(1, len(TEXT)))]
    if kind == "flip a bit":
        return [*before, here ^ 1 << rng.randrange(10), *after]
    if kind == "flip bits":
        return [frame ^ (1 << rng.randrange(10) if rng.random() < 0.2 else 0) for frame in frames]
    if kind == "lose":
        return before + after[rng.choice([0, 0, 1, 2]) :]
    if kind == "double":
        return [*before, here, here, *after]
    if kind == "insert":
        return [*before, *(rng.getrandbits(10) for _ in range(rng.randrange(1, 4))), here, *after]
    if kind == "cut":
        return before
    if kind == "burst":
        hit = [frame ^ rng.getrandbits(10) for frame in frames[place : place + 4]]
        return before + hit + frames[place + 4 :]
    if kind == "noise before":
        return text + frames
    if kind == "noise after":
        return frames + text
    if kind == "twice":
        return frames + frames
    if kind == "half of it before":
        return before + frames
    assert kind == "break"
    return [*before, *BREAK, here, *after]


def holds_break(frames):
    """Whether the wire is 0 for so long that it may be a break: two disturbed stop bits suffice,
    before and after a byte of zeros."""
    levels = "".join(f"{frame:010b}"[::-1] for frame in frames)
    return "0" * BREAK_BITS in levels


class DamagedPort(SimulatedPort):
    """A simulated board's port that damages one request, or its answer, when it is told to.

    `arm` sets what happens to the request with number `after` from then on, counted from 0, at the
    byte `place` of it or of its answer (modulo its length).
    """

    def __init__(self, board, rng):
        super().__init__(board)
        self.rng = rng
        self.left = None
        self.damaged = 0  # frames
        self.broke = False  # the last one has become a break

    def arm(self, after, direction, kind, place):
        self.left, self.direction, self.kind, self.place = after, direction, kind, place
        self.broke = False

    def disarm(self):
        self.left = None

    def write(self, data):
        frames = [frame_of(byte) for byte in data]
        if self.left == 0 and self.direction is Direction.REQUEST:
            frames = self._damage(frames)
        self.board.send_frames(frames)
        if self.left:
            self.left -= 1
        elif self.left == 0 and self.direction is Direction.REQUEST:
            self.disarm()

    def read(self, seconds):
        if self.left == 0 and self.direction is Direction.ANSWER and self.kind == "reset":
            # In the middle of the request, of its execution or of the answer.
            data = self.board.run(self._cycles(self.place))
            self.board.power_up()
            self.damaged += 1
            self.disarm()
            return data
        data = super().read(seconds)
        if data and self.left == 0 and self.direction is Direction.ANSWER:
            frames = self._damage([frame_of(byte) for byte in data])
            self.disarm()
            # As a receiver does: without start and stop bits there is no byte.
            data = bytes(frame >> 1 & 0xFF for frame in frames if frame & 0x201 == 0x200)
        return data

    def _damage(self, frames):
        place = self.place % len(frames)
        self.damaged += 1
        if self.kind == "reset":
            self.board.send_frames(frames[:place])
            self.board.run(self._cycles(place))
            self.board.power_up()
            return frames[place:]
        damaged = damage(self.rng, self.kind, place, frames)
        self.broke = self.direction is Direction.REQUEST and holds_break(damaged)
        return damaged

    def _cycles(self, count):
        return max(1, 10 * count * self.board.clock // self.board.baud)
