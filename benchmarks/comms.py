"""What two workers pay for an exchange of arrays: hpgraph's sockets, and distributed's own comms, side by side.

Two processes of one machine, over its loopback: each sends the other an array, and waits for the other's. Distributed's
comms run in an event loop of a thread of its own, as a worker's do: what is written is sent while the loop runs. They
take no message that is pickled. Rounds of both alternate.
"""

import asyncio
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from distributed.comm import connect, listen
from distributed.protocol import to_serialize

from hpgraph.cluster.errors import Limits
from hpgraph.cluster.listener import Listener
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.messages import ALL, FOLD, packed

from .record import Record, command_parser
from .report import aligned

SIZES = {"64 B": 64, "64 KiB": 64 << 10, "1 MiB": 1 << 20, "16 MiB": 16 << 20, "64 MiB": 64 << 20}
# Exchanges of a round, by bytes, and rounds of each kind.
MAX_BYTES, MAX_EXCHANGES, ROUNDS = 32 << 20, 100, 7
TOKEN = bytes(16)
KINDS = "sockets", "comms"


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = command_parser("comms", __doc__)
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, "cpu")
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    other = processes.Process(target=_run, args=(1, there), daemon=True)
    other.start()
    found = _run(0, here)
    other.join()
    record.save(comms=found)
    print(table(found))
    return 0


def table(found: dict[str, dict[str, float]]) -> str:
    """Microseconds of an exchange by size, and how many times as long distributed's comms take.

    Parameters
    ----------
    found : dict
        By size, medians in seconds by kind.

    Returns
    -------
    str
        A row a size.
    """
    rows = [["µs of an exchange", *KINDS, "comms / sockets"]]
    for size, seconds in found.items():
        rows.append([size, *(f"{seconds[kind] * 1e6:.3g}" for kind in KINDS), f"{seconds['ratio']:.2f}"])
    return "\n".join(aligned(rows))


def _run(number: int, pipe: Any) -> dict[str, dict[str, float]]:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    exchanges: dict[str, Callable[[np.ndarray], Any]] = {
        "sockets": _by_sockets(number, pipe),
        "comms": asyncio.run_coroutine_threadsafe(_by_comms(number, pipe, loop), loop).result(),
    }
    found = {}
    for title, nbytes in SIZES.items():
        array = np.full(nbytes // 8, number, np.int64)
        repeats = max(1, min(MAX_EXCHANGES, MAX_BYTES // nbytes))
        seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind, exchange in exchanges.items():
                received = exchange(array)
                assert len(received) == len(array) and received[0] == 1 - number
                start = time.perf_counter()
                for _ in range(repeats):
                    exchange(array)
                seconds[kind].append((time.perf_counter() - start) / repeats)
        ratios = [theirs / ours for ours, theirs in zip(seconds["sockets"], seconds["comms"], strict=True)]
        found[title] = {kind: statistics.median(seconds[kind]) for kind in KINDS} | {"ratio": statistics.median(ratios)}
    # What the other has not read yet is sent by this process's loop.
    pipe.send(None)
    pipe.recv()
    return found


def _by_sockets(number: int, pipe: Any) -> Callable[[np.ndarray], np.ndarray]:
    listener = Listener("127.0.0.1")
    pipe.send(listener.address)
    mesh = Mesh(listener, TOKEN, number, {1 - number: pipe.recv()}, Limits())

    def exchange(array: np.ndarray) -> np.ndarray:
        received = np.empty_like(array)
        message = packed(FOLD, ALL, 1, len(array), [array])
        mesh.exchange({1 - number: message}, {1 - number: lambda header: [received]})
        return received

    return exchange


async def _by_comms(number: int, pipe: Any, loop: Any) -> Callable[[np.ndarray], np.ndarray]:
    if number == 0:
        arrived: asyncio.Future[Any] = loop.create_future()

        async def take(comm: Any) -> None:
            arrived.set_result(comm)

        server = await listen("tcp://127.0.0.1:0", take, deserialize=True)
        await asyncio.to_thread(pipe.send, server.contact_address)
        comm = await arrived
    else:
        comm = await connect(await asyncio.to_thread(pipe.recv), deserialize=True)
    plain = ["msgpack", "dask"]

    async def both(array: np.ndarray) -> Any:
        sent = comm.write({"step": 1, "array": to_serialize(array)}, serializers=["dask"])
        return (await asyncio.gather(sent, comm.read(deserializers=plain)))[1]["array"]

    return lambda array: asyncio.run_coroutine_threadsafe(both(array), loop).result()


if __name__ == "__main__":
    raise SystemExit(main(["comms"]))
