"""The workers of a Dask cluster as seen by a client: presence, heartbeats, and short calls to all."""

from __future__ import annotations

import functools
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from distributed import Client

from hpgraph.cluster.errors import ClusterError
from hpgraph.cluster.limits import Limits

# Seconds for all answers together, and between checks of the workers.
TOGETHER = 3.0
GLANCE = 0.2
# Timeout in seconds of a test connection to a worker.
_REACH = 1.0


class Workers:
    """The workers of a client."""

    def __init__(self, client: Client, limits: Limits) -> None:
        self._client, self._limits = client, limits
        # A worker that did not answer is excluded until its next heartbeat.
        self._silent: set[str] = set()
        # The last heartbeat of each, and when it was first seen.
        self._seen: dict[str, tuple[Any, float]] = {}

    def there(self) -> dict[str, dict[str, Any]]:
        """The scheduler's data of workers with recent heartbeats, by address."""
        answer = within(self._limits.silence, lambda: self._client.scheduler_info(n_workers=-1))
        if isinstance(answer, Exception) or not answer:
            why = "" if answer is None else f" ({answer})"
            raise ClusterError(
                f"the scheduler does not answer{why}: connect a new client; a run with a checkpoint goes on by "
                "hpgraph.cluster.resume(client, path)"
            )
        found: dict[str, dict[str, Any]] = dict(answer["workers"])
        now = time.monotonic()
        for address, worker in found.items():
            # By this process's clock: the scheduler may be on another machine.
            seen, since = self._seen.get(address, (None, now))
            if worker["last_seen"] != seen:
                self._seen[address] = worker["last_seen"], now
                if seen is not None:
                    self._silent.discard(address)
            elif now - since > self._limits.silence:
                self._silent.add(address)
        return {address: worker for address, worker in found.items() if address not in self._silent}

    def wait_for_any(self) -> dict[str, dict[str, Any]]:
        """`there`, once it has at least one worker."""
        deadline = time.monotonic() + self._limits.workers
        while True:
            found = self.there()
            if found:
                return found
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"no worker within {self._limits.workers:g} s (Limits.workers): start some, as by "
                    "hpgraph.cluster.local(n_workers=2)"
                )
            time.sleep(0.1)

    def ask(self, function: Callable[..., Any], *arguments: Any, workers: Iterable[str]) -> dict[str, Any]:
        """Call a short function in some workers' event loops, even while they compute.

        A worker that does not answer within the limit `silence` counts as silent, and is left out of the result.
        """
        asked = list(workers)
        if not asked:
            return {}

        def call(some: list[str]) -> Any:
            return self._client.run(function, *arguments, workers=some, on_error="return")

        answers = within(min(TOGETHER, self._limits.silence), lambda: call(asked))
        if not isinstance(answers, dict):
            # One call for each: some may be silent or lost, which Dask notices late.
            answers, waiting = {}, {}

            def ask_one(one: str) -> None:
                answers.update(call([one]))

            for one in asked:
                waiting[one] = threading.Thread(target=_quietly, args=(ask_one, one), daemon=True)
                waiting[one].start()
            deadline = time.monotonic() + self._limits.silence
            while waiting and time.monotonic() < deadline:
                time.sleep(GLANCE)
                there = self.there()
                waiting = {one: thread for one, thread in waiting.items() if thread.is_alive() and one in there}
            self._silent.update(waiting)
        return {one: answer for one, answer in answers.items() if not isinstance(answer, OSError)}


@functools.lru_cache(maxsize=4096)
def reachable(address: str) -> bool:
    """Whether this process can connect to a worker; asked once."""
    host, _, port = address.partition("://")[2].rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH):
            return True
    except (OSError, ValueError):
        return False


def _quietly(function: Callable[..., Any], *arguments: Any) -> None:
    try:
        function(*arguments)
    except Exception:  # an unreachable worker has not answered, which the caller checks
        return


def within(seconds: float, function: Callable[[], Any]) -> Any:
    """The result of a function, or the exception that it raises; None after a timeout.

    It then continues in a daemon thread.
    """
    answer: list[Any] = []

    def call() -> None:
        try:
            answer.append(function())
        except Exception as error:  # returned to the caller
            answer.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else None
