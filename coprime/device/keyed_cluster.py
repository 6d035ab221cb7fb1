"""A cluster used like an accelerator, for one operation after the other."""

from collections.abc import Mapping

from coprime.device.cluster import Cluster
from coprime.device.jobs import PrivateNumbers
from coprime.device.scheduler import Request, RequestResult, Scheduler
from coprime.engine.contract import Command


class KeyedCluster:
    """Keeps the keys and runs each operation on one core; the others are idle meanwhile.

    A core that fails is taken out of service, and another repeats its operation. Attributes
    `commands`, `max_length`, `max_prime_length` and `checked` are those of the cores.

    Parameters
    ----------
    cluster : none of its cores is occupied
    """

    def __init__(self, cluster: Cluster):
        self._scheduler = Scheduler(cluster)
        self._public: tuple[int, int] | None = None
        self._private: PrivateNumbers | None = None
        self.commands = cluster.commands
        self.max_length = cluster.max_length
        self.max_prime_length = cluster.max_prime_length
        self.checked = cluster.checked

    def load_public(self, n: int, e: int) -> None:
        """Remember a public key."""
        self._public = n, e

    def public(self, x: int) -> RequestResult:
        """x^e mod n with the last public key. Raises ValueError if there is none.

        Raises as `Request.result`.
        """
        if self._public is None:
            raise ValueError("no public key is loaded")
        return self._finished(self._scheduler.public(*self._public, x))

    def load_private(self, key: PrivateNumbers) -> None:
        """Remember a private key."""
        self._private = key

    def private(self, x: int) -> RequestResult:
        """x^d mod n with the last private key. Raises ValueError if there is none.

        Raises as `Scheduler.private` and `Request.result`.
        """
        if self._private is None:
            raise ValueError("no private key is loaded")
        return self._finished(self._scheduler.private(self._private, x))

    def modexp(
        self, x: int, e: int, m: int, *, exponent_length: int | None = None
    ) -> RequestResult:
        """x ** e mod m, as `Scheduler.modexp`. Raises as that, and as `Request.result`."""
        return self._finished(self._scheduler.modexp(x, e, m, exponent_length=exponent_length))

    def operate(
        self, command: Command, numbers: Mapping[str, int], *, exponent_length: int | None = None
    ) -> RequestResult:
        """An operation, as `Scheduler.operate`. Raises as that, and as `Request.result`."""
        request = self._scheduler.operate(command, numbers, exponent_length=exponent_length)
        return self._finished(request)

    def _finished(self, request: Request) -> RequestResult:
        for _ in self._scheduler.completed():
            pass
        return request.result
