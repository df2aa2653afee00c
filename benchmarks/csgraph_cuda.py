"""csgraph on the GPU: its functions given CuPy's matrices, beside SciPy's on the CPU of the same machine."""

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import connection, get_context
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse.csgraph

import hpgraph as hpg
from hpgraph import csgraph
from hpgraph.core.device import require_cupy

from .timing import timed

# Processor seconds after which a call of SciPy's is ended.
LIMIT = 5
# Seconds of a first call after which only one more is made.
LONG = 1.0
# Calls of SciPy's that run at once, each a process on a core of its own.
TOGETHER = 6
FORK = get_context("fork")

Work = tuple[str, Any, Callable[[Any], Any]]


def to_cuda(given: Any) -> Any:
    """An argument on the GPU: matrices as CuPy's, of float64; arrays too, and numbers as they are."""
    if hasattr(given, "tocsr"):
        return hpg.Matrix(given.astype(np.float64)).to("cuda").tocsr()
    return require_cupy().asarray(given) if isinstance(given, np.ndarray) else given


def to_host(answer: Any) -> Any:
    """An answer for a digest that reads SciPy's and NumPy's."""
    if type(answer) is tuple:
        return tuple(map(to_host, answer))
    return answer.get() if hasattr(answer, "get") else answer


def times_of_hpgraph(name: str, call: Any, digest: Callable[[Any], Any], repeats: int) -> dict[str, Any]:
    """Median seconds of a function with its arguments on the GPU; once where it takes long."""
    arguments, options = call
    moved = [to_cuda(argument) for argument in arguments]
    ours = partial(getattr(csgraph, name), *moved, **options)
    # The first call may compile.
    first, answer = timed(ours, "cuda")
    seconds = [timed(ours, "cuda")[0] for _ in range(1 if first > LONG else repeats)]
    return {"hpgraph_s": median(seconds), "hpgraph_answer": float(digest(to_host(answer)))}


def times_of_scipy(works: dict[str, Work]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Processor seconds of one call of each of SciPy's functions, several at once, or the limit that it reached."""
    waiting, running = list(works.items()), {}
    while waiting or running:
        while waiting and len(running) < TOGETHER:
            work, (name, call, digest) = waiting.pop(0)
            receiver, sender = FORK.Pipe(False)
            process = FORK.Process(target=_call_scipy, args=(sender, name, call, digest), daemon=True)
            process.start()
            sender.close()
            running[receiver] = work, process
        for receiver in connection.wait(list(running)):
            work, process = running.pop(receiver)
            try:
                yield work, receiver.recv()
            except EOFError:
                process.join()
                # Ended by a signal, not by an exception.
                if process.exitcode < 0:
                    yield work, {"scipy_exceeds_s": LIMIT}


def _call_scipy(sender: Any, name: str, call: Any, digest: Callable[[Any], Any]) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, most))
    arguments, options = call
    begin = time.process_time()
    answer = getattr(scipy.sparse.csgraph, name)(*arguments, **options)
    seconds = time.process_time() - begin
    # Digests may take longer.
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    sender.send({"scipy_s": seconds, "scipy_answer": float(digest(answer))})
