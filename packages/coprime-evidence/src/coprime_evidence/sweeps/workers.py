"""Dask workers: processes on this machine, or an existing cluster."""

import logging
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import dask
from distributed import Client, Future, LocalCluster, Worker, WorkerPlugin, as_completed

Task = TypeVar("Task")


@contextmanager
def open_client(workers: int | None = None, scheduler: str | None = None) -> Iterator[Client]:
    """Give a client of so many processes (one for each core), or of the scheduler at an address.

    Raises OSError if there is no scheduler.
    """
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="5s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise OSError(f"there is no Dask scheduler at {scheduler}") from error
        with client:
            yield client
        return
    with (
        # The memory is mostly in the tools that workers start, which Dask does not see.
        LocalCluster(
            n_workers=workers or dask.system.CPU_COUNT,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.register_plugin(_Patience())
        yield client


def ended(client: Client, futures: Mapping[Future, Task]) -> Iterator[tuple[Task, Future]]:
    """Each task when it has ended, with its future, which has a result or an exception.

    Raises ConnectionError if the workers are gone.
    """
    for future in as_completed(futures, loop=client.loop):
        if future.status not in ("finished", "error"):
            raise ConnectionError("the workers are gone; what was done is kept: start it again")
        yield futures[future], future
        future.release()


class _Patience(WorkerPlugin):
    """Leaves Ctrl-C, which a terminal sends to workers too, to the client: that ends them."""

    def setup(self, worker: Worker) -> None:
        # A function, since tools would inherit that a signal is ignored.
        signal.signal(signal.SIGINT, lambda number, frame: None)
