"""The clock: one call at a time, the device idle before and after, its answer checked before its time counts."""

import gc
import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hpgraph import ConvergenceWarning
from hpgraph.core.device import require_cupy

from .answers import prove
from .graphs import Case
from .library import Library, OwnClock
from .works import WORKS

# How often a new graph is tried.
RENEWALS = 3
# How often a search is made from each source on the CPU, the first not counted, as GAPBS does it by itself; one that
# takes so many seconds is made once.
TRIALS, LONG = 4, 0.2


@dataclass
class Measurement:
    """Times of one work by one library on one graph, in seconds."""

    graph: str
    work: str
    library: str
    seconds: list[float] = field(default_factory=list)
    first: float | None = None
    """The first call, which may compile; not among ``seconds``."""
    renewed: list[float] = field(default_factory=list)
    """First calls on new graphs, code compiled already: with all that is prepared once and kept."""
    wrong: str | None = None
    note: str | None = None

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds and self.wrong is None else None

    @property
    def new_graph(self) -> float | None:
        """Median of the first calls on a new graph."""
        return statistics.median(self.renewed) if self.renewed and self.wrong is None else None


class References:
    """Answers that hold, by work and source, that later libraries' are compared with."""

    def __init__(self, case: Case, triangles: int | None = None) -> None:
        self._case = case
        self._answers: dict[tuple[str, int | None], Any] = {}
        if triangles is not None:
            self._answers["triangles", None] = triangles
        self._answers["build", None] = case.n_arcs

    @property
    def supersteps(self) -> float | None:
        """Median number of levels of the searches so far, the source's among them."""
        levels = [int(answer.max()) + 1 for (work, _), answer in self._answers.items() if work == "bfs"]
        return statistics.median(levels) if levels else None

    def wrong(self, library: Library, work: str, source: int | None, answer: Any) -> str | None:
        """What is wrong with a library's answer, or None; the first right one becomes the reference."""
        if (work, source) in self._answers:
            return library.compare(work, answer, self._answers[work, source])
        if not library.whole_answers:
            return None
        complaint = prove(work, self._case, source, answer, library.rank_tolerance)
        if complaint is None:
            self._answers[work, source] = answer
        return complaint


def medians(call: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Medians of the seconds and of the processor time, of all threads, that a call takes on the CPU."""
    seconds = []
    for _ in range(repeats):
        begin, spent = time.perf_counter(), time.process_time()
        call()
        seconds.append((time.perf_counter() - begin, time.process_time() - spent))
    wall, processor = (statistics.median(column) for column in zip(*seconds, strict=True))
    return {"median_s": wall, "processor_s": processor}


def timed(call: Callable[..., Any], device: str, *arguments: Any) -> tuple[float, Any]:
    """Seconds that one call took, with all it started on the device, and what it returned."""
    synchronize = require_cupy().cuda.Device().synchronize if device == "cuda" else lambda: None
    # A collection in the middle would be charged to the work that is measured.
    gc.disable()
    try:
        synchronize()
        start = time.perf_counter()
        answer = call(*arguments)
        synchronize()
        if isinstance(answer, OwnClock):
            return answer.seconds, answer.answer
        return time.perf_counter() - start, answer
    finally:
        gc.enable()


def searched(library: Library, call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """`timed`; short searches on the CPU several times in a row, caches warm, as a program with its own clock does."""
    device = library.case.device
    seconds, answer = timed(call, device, *arguments)
    if device == "cuda" or library.own_clock or seconds > LONG:
        return seconds, answer
    again = []
    for _ in range(TRIALS - 1):
        del answer
        seconds, answer = timed(call, device, *arguments)
        again.append(seconds)
    return statistics.median(again), answer


def measure(library: Library, work: str, references: References, budget: float) -> Measurement | None:
    """Time a library's call once per source, or so many times, and check every answer.

    Parameters
    ----------
    library : Library
        With the graph loaded.
    work : str
        One of the works.
    references : References
        Of the same graph.
    budget : float
        Seconds after which no further call is started, the first not counted; one is always timed after it.

    Returns
    -------
    Measurement or None
        None when the library does not do this work.
    """
    call = library.call(work)
    if call is None:
        return None
    case, calls = library.case, WORKS[work].calls
    result = Measurement(case.name, work, library.name)
    inputs: list[tuple[int, ...]] = [(s,) for s in case.sources] if calls is None else [()] * calls
    kept: list[list[float]] = [[], *[result.renewed] * RENEWALS, *[result.seconds] * len(inputs)]
    spent = 0.0
    gc.collect()
    with warnings.catch_warnings():
        # So many iterations were asked for, not a tolerance.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for times, arguments in zip(kept, [inputs[0]] * (1 + RENEWALS) + inputs, strict=True):
            if times is result.renewed and (spent > budget or not library.renew()):
                continue
            if arguments and times is result.seconds:
                seconds, raw = searched(library, call, *arguments)
                spent += (TRIALS - 1) * seconds
            else:
                seconds, raw = timed(call, case.device, *arguments)
            times.append(seconds)
            if result.first is None:
                result.first = seconds
            else:
                spent += seconds
            source = arguments[0] if arguments else None
            result.wrong = references.wrong(library, work, source, library.read(work, raw))
            del raw
            if result.wrong or (result.seconds and spent > budget):
                break
    result.note = library.note(work)
    return result


class Neighbours:
    """How much of the processors other processes took since it was made: on Linux; elsewhere 0."""

    def __init__(self) -> None:
        self._start = self._now()

    def _now(self) -> tuple[float, float]:
        """Processor seconds of all processes, and those of this one and its children that have ended."""
        try:
            ticks = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        except OSError:
            return time.monotonic(), time.monotonic()
        user, nice, system, _, _, interrupts, soft = (int(word) for word in ticks[:7])
        whole = (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
        return whole, sum(os.times()[:4])

    def seconds(self) -> float:
        """Processor seconds that other processes took since."""
        (whole, own), (whole_then, own_then) = self._now(), self._start
        return max(0.0, (whole - whole_then) - (own - own_then))
