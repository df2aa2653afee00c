"""Families of algorithms beside the best CPU library that has each, or on the GPU beside the CPU.

hpgraph and each other library are called in turn, so that what else the machine does weighs on both; the ratio is the
median of those of single pairs. Peers that are not installed are passed over, and so are calls that fail.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import require_cupy

from . import families_communities, families_generators, families_layouts, families_paths, families_patterns
from .families_peers import LIBRARIES, Row
from .record import Record, command_parser

FAMILIES: dict[str, Callable[..., Any]] = {
    call.__name__: call for call in (
        families_paths.paths, families_paths.matchings, families_paths.trees, families_paths.flows, families_paths.cuts,
        families_communities.communities, families_communities.points,
        families_patterns.patterns, families_patterns.measures, families_patterns.centralities,
        families_generators.random_graphs, families_layouts.layouts,
    )
}  # fmt: skip
# A call that takes so many seconds is made once.
LONG = 20.0


def clocked(call: Callable[[], Any], device: str = "cpu") -> tuple[Any, float, float]:
    """The answer of a call, its seconds, and those of the processors."""
    synchronize = require_cupy().cuda.Device().synchronize if device == "cuda" else lambda: None
    synchronize()
    begin, spent = time.perf_counter(), time.process_time()
    answer = call()
    synchronize()
    return answer, time.perf_counter() - begin, time.process_time() - spent


def in_turn(calls: Sequence[Callable[[], tuple[Any, float, float]]], repeats: int) -> list[list[tuple[float, float]]]:
    """Seconds by the clock and of the processors, of several calls made in turn."""
    taken: list[list[tuple[float, float]]] = [[] for _ in calls]
    for turn in range(repeats):
        for times, call in zip(taken, calls, strict=True):
            if turn == 0 or times[0][0] < LONG:
                times.append(call()[1:])
    return taken


def beside(ours: list[tuple[float, float]], theirs: list[tuple[float, float]]) -> dict[str, float]:
    """Medians of the seconds of one, of the other, and of the ratios of pairs."""
    pairs = list(zip(ours, theirs, strict=False))
    return {
        "peer_s": statistics.median(clock for clock, _ in theirs),
        "peer_processor_s": statistics.median(spent for _, spent in theirs),
        "ratio": statistics.median(one[0] / other[0] for one, other in pairs),
        "processor_ratio": statistics.median(one[1] / max(other[1], 1e-9) for one, other in pairs),
    }


def alike(one: Any, other: Any) -> bool:
    """Whether two answers are equal, up to what rounding makes of sums of floats."""
    if one is None or other is None:
        return True
    return bool(np.allclose(np.asarray(one, np.float64), np.asarray(other, np.float64), rtol=1e-6, equal_nan=True)) \
        if not isinstance(one, str) else one == other  # fmt: skip


def measured(row: Row, others: dict[str, Callable[[], Any]], device: str, repeats: int) -> dict[str, Any]:
    """The result of one row on a device, beside calls that do the same."""
    answer, first, _ = clocked(row.ours, device)
    found: dict[str, Any] = {"family": row.family, "work": row.work, "first_s": first}
    answers, others = {}, dict(others)
    for name, call in list(others.items()):
        try:
            answers[name] = clocked(call)[0]
        except Exception as error:
            print(f"  {name}: {type(error).__name__}: {str(error)[:100]}", flush=True)
            del others[name]
    calls = [lambda: clocked(row.ours, device), *(lambda call=call: clocked(call) for call in others.values())]
    ours, *theirs = in_turn(calls, repeats)
    found["median_s"], found["processor_s"] = (statistics.median(column) for column in zip(*ours, strict=True))
    for name, times in zip(others, theirs, strict=True):
        result = {**beside(ours, times), "alike": alike(answer, answers[name])}
        found.setdefault("peers", {})[name] = result
    return found


def table(results: Sequence[dict[str, Any]]) -> str:
    """What `docs/performance.md` shows: milliseconds of the processors, the fastest peer, its own, and the ratio."""
    lines, family = ["| | ms | peer | its ms | ratio |", "|---|---|---|---|---|"], None
    families = list(dict.fromkeys(found["family"] for found in results))
    for found in sorted(results, key=lambda found: families.index(found["family"])):
        if found["family"] != family:
            family = found["family"]
            lines.append(f"| **{family}** | | | | |")
        beside = f"| {found['work']} | {1e3 * found['processor_s']:.3g} |"
        if found.get("peers"):
            name, best = min(found["peers"].items(), key=lambda item: item[1]["peer_processor_s"])
            lines.append(f"{beside} {name} | {1e3 * best['peer_processor_s']:.3g} | {best['processor_ratio']:.2f} |")
        else:
            lines.append(f"{beside} | | |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0, or 1 where two libraries answer differently.
    """
    parser = command_parser("families", __doc__, "works")
    parser.add_argument(
        "--scale", type=int, default=16, help="the largest graphs have 2 to the power of SCALE vertices (16)"
    )
    parser.add_argument("--families", default=",".join(FAMILIES), help=f"some of {','.join(FAMILIES)}")
    parser.add_argument("--works", default="", help="parts of the works' names, separated by commas")
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cpu", help="cuda: beside the CPU, not beside peers"
    )
    parser.add_argument("--alone", action="store_true", help="beside neither")
    parser.add_argument("--repeats", type=int, default=5, help="calls of which the median is taken (5)")
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, chosen.device)
    if LIBRARIES["networkit"] is not None:
        LIBRARIES["networkit"].setNumberOfThreads(hpg.config.threads)
    unlike, before = 0, record.content.get("families", [])
    for family in chosen.families.split(","):
        rows = FAMILIES[family](chosen.scale, chosen.device)
        again = FAMILIES[family](chosen.scale, "cpu") if chosen.device == "cuda" and not chosen.alone else None
        for row in rows:
            others = {"CPU": next(again).ours} if again is not None else {} if chosen.alone else row.peers()
            if not any(part in row.work for part in chosen.works.split(",")):
                continue
            found = measured(row, others, chosen.device, chosen.repeats)
            before = [*(found if other["work"] == row.work else other for other in before)]
            before += [] if found in before else [found]
            record.save(families=before)
            print(f"{row.work:75}{found['median_s']:9.4f} s{found['processor_s']:9.4f} s of processors", flush=True)
            for name, result in found.get("peers", {}).items():
                print(
                    f"    {name:71}{result['peer_s']:9.4f} s{result['peer_processor_s']:9.4f} s   ratio "
                    f"{result['ratio']:.3f}, of processors {result['processor_ratio']:.3f}"
                    + ("" if result["alike"] else "   ANOTHER ANSWER"), flush=True,
                )  # fmt: skip
                unlike += not result["alike"]
    print(table(before))
    print(f"saved in {record.path}")
    return int(unlike > 0)
