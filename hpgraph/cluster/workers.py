"""The workers of a Dask cluster as seen by a client: presence, heartbeats, and short calls to all."""

import asyncio
import functools
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from distributed import Client

from hpgraph.cluster.errors import ClusterError, Limits

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
        """Call a short function in some workers' event loops; one that does not answer within the limit is left out."""
        asked, seconds = list(workers), self._limits.silence

        async def ask_each() -> list[Any]:
            # One call for each: some may be silent or lost, which Dask notices late.
            calls = (self._client.run(function, *arguments, workers=[one], on_error="return") for one in asked)
            return await asyncio.gather(*(asyncio.wait_for(call, seconds) for call in calls), return_exceptions=True)

        found: dict[str, Any] = {}
        for one, answer in zip(asked, self._client.sync(ask_each) if asked else (), strict=True):
            if isinstance(answer, dict):
                found |= answer
            elif isinstance(answer, TimeoutError):
                self._silent.add(one)
        return {one: answer for one, answer in found.items() if not isinstance(answer, OSError)}


@functools.lru_cache(maxsize=4096)
def reachable(address: str) -> bool:
    """Whether this process can connect to a worker; cached."""
    host, _, port = address.partition("://")[2].rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH):
            return True
    except (OSError, ValueError):
        return False


def within(seconds: float, function: Callable[[], Any]) -> Any:
    """A function's result or exception; None after a timeout, after which it continues in a daemon thread."""
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
