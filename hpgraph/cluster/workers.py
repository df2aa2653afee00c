"""The workers of a Dask cluster as a client sees them: who is there, who is silent, and short questions to all."""

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

# Seconds for all to answer together, and how often it looks who of them is still there.
TOGETHER = 3.0
GLANCE = 0.2
# Seconds to try whether a worker can be reached.
_REACH = 1.0


class Workers:
    """Who works for a client."""

    def __init__(self, client: Client, limits: Limits) -> None:
        self._client, self._limits = client, limits
        # Whoever did not answer stays out until it gives a sign of life again.
        self._silent: set[str] = set()
        # The last sign of life of each, and since when it is the last.
        self._seen: dict[str, tuple[Any, float]] = {}

    def there(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of the workers that are there and give signs of life, by address."""
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
            # By this clock: the scheduler's may be another machine's.
            seen, since = self._seen.get(address, (None, now))
            if worker["last_seen"] != seen:
                self._seen[address] = worker["last_seen"], now
                if seen is not None:
                    self._silent.discard(address)
            elif now - since > self._limits.silence:
                self._silent.add(address)
        return {address: worker for address, worker in found.items() if address not in self._silent}

    def wait_for_any(self) -> dict[str, dict[str, Any]]:
        """`there`, once there is one at least."""
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
        """Call a function that does not take long in some workers' event loops, whatever they compute.

        Who does not answer within the limit `silence` counts as silent, and is not in what is returned.
        """
        asked = list(workers)
        if not asked:
            return {}

        def call(some: list[str]) -> Any:
            return self._client.run(function, *arguments, workers=some, on_error="return")

        answers = within(min(TOGETHER, self._limits.silence), lambda: call(asked))
        if not isinstance(answers, dict):
            # Each by itself: some are silent, or went away, and Dask takes its time to find out.
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
    except Exception:  # who cannot be asked has not answered; that is what the caller looks at
        return


def within(seconds: float, function: Callable[[], Any]) -> Any:
    """What a function returns, or the exception that it raises; None when it takes longer.

    It then goes on in a thread of its own, which nobody waits for.
    """
    answer: list[Any] = []

    def call() -> None:
        try:
            answer.append(function())
        except Exception as error:  # handed on to the caller
            answer.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else None
