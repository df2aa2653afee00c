"""Many searches at once beside as many single ones, and beside other libraries; with an ablation.

Calls in lanes and single calls are timed in turn, in one process. Every answer in lanes is compared with what single
calls give for the same sources, of which the first are proven from the graph itself.
"""

import contextlib
import os
import statistics
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph import ConvergenceWarning
from hpgraph.core.device import to_device

from . import graphs, report
from .answers import prove
from .graphs import Case
from .lanes_peers import PEERS
from .lanes_works import PROVEN, WORKS, Work
from .record import Record, command_parser
from .timing import timed

ROUNDS = 5
"""How often calls in lanes and single ones take turns; fewer where that takes longer than the budget."""
LANES = (1, 32, 64, 128, 256, 512)
SOURCES = 512
# What concerns lanes among `hpgraph.techniques`: switched off, one at a time.
TECHNIQUES = ("early_termination", "group_by", "joint_frontier")


def main(words: Sequence[str]) -> int:
    """Measure, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when an answer was wrong, else 0.
    """
    parser = command_parser("lanes", __doc__, "graphs and works")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where to measure (cpu)")
    parser.add_argument("--graphs", help="names separated by commas")
    parser.add_argument("--works", help="of " + ", ".join(WORKS))
    parser.add_argument("--libraries", help="beside hpgraph; by default all that are installed")
    parser.add_argument("--budget", type=float, default=20, help="seconds for one work, library and graph (20)")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--ablation", action="store_true", help="numbers of lanes, and techniques switched off")
    chosen = parser.parse_args(words)
    if chosen.threads:
        hpg.config.threads = chosen.threads
    # Read by OpenMP libraries when they are loaded, which is later.
    os.environ["OMP_NUM_THREADS"] = str(hpg.config.threads)
    usual = [name for name in graphs.default(chosen.device) if name != "cnr-2000"]
    works = [w for w in (chosen.works.split(",") if chosen.works else WORKS) if WORKS[w].counts.get(chosen.device)]
    record = Record.of(chosen, words, chosen.device)
    wrong = False
    for name in chosen.graphs.split(",") if chosen.graphs else usual:
        case = graphs.make(name, chosen.device, 1)
        if chosen.ablation:
            rows = list(_ablation(case, chosen.budget))
        else:
            there = [library for library, kind in PEERS.items() if case.device == "cpu" and kind.is_installed()]
            libraries = there if chosen.libraries is None else [one for one in chosen.libraries.split(",") if one]
            rows = list(_works(case, works, libraries, chosen.budget))
        part = "ablation" if chosen.ablation else "lanes"
        before = record.content.get(part, {})
        done = {(row["work"], row["library"]) for row in rows}
        kept = [row for row in before.get(name, []) if (row["work"], row["library"]) not in done]
        record.save(**{part: {**before, name: [*kept, *rows]}})
        print(table(name, rows), end="\n\n", flush=True)
        wrong = wrong or any("wrong" in row for row in rows)
        del case
    print(f"saved in {record.path}")
    return int(wrong)


def sources(case: Case, count: int) -> np.ndarray:
    """Vertices with neighbours, the same in every run; a shorter list begins like a longer one."""
    candidates = np.flatnonzero(to_device(case.degree, "cpu") > 0)
    return np.random.default_rng(7).permutation(candidates)[:count]


def _works(case: Case, works: Sequence[str], libraries: Sequence[str], budget: float) -> Iterator[dict[str, Any]]:
    others = {library: PEERS[library](case) for library in libraries}
    for name in works:
        work = WORKS[name]
        chosen = sources(case, work.counts[case.device])
        try:
            ours = _beside_single_ones(case, work, chosen, budget)
        except (TypeError, ValueError, MemoryError) as error:
            ours = {"wrong": f"{type(error).__name__}: {error}"}
        yield {"work": name, "library": "hpgraph", "count": len(chosen), **ours}
        for library in libraries:
            method = getattr(others[library], name, None)
            if method is None:
                continue
            seconds = _median(lambda method=method, chosen=chosen: method(chosen), case, budget)  # type: ignore[misc]
            yield {"work": name, "library": library, "count": len(chosen), "lanes_s": seconds}
        elsewhere = report.published(f"lanes_{name}", case.name) if case.device == "cuda" else {}
        for library, milliseconds in elsewhere.items():
            yield {"work": name, "library": f"{library}*", "count": len(chosen), "lanes_s": milliseconds / 1e3}


def _beside_single_ones(case: Case, work: Work, chosen: np.ndarray, budget: float) -> dict[str, Any]:
    """Times of one call in lanes and of as many single ones, in turn, and what is wrong with the answers."""
    some = chosen if work.every_single else chosen[: work.singles]
    with warnings.catch_warnings():
        # So many iterations were asked for, not a tolerance.
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = work.lanes(case, chosen)
        complaint = _wrong(case, work, chosen, answer)
        del answer
        if complaint:
            return {"wrong": complaint}
        joint: list[float] = []
        single: list[float] = []
        while len(joint) < ROUNDS and (not joint or sum(joint) + sum(single) < budget):
            joint.append(timed(lambda: work.lanes(case, chosen), case.device)[0])
            if work.single is not None:
                seconds, _ = timed(lambda: [work.single(case, source) for source in some.tolist()][-1], case.device)
                single.append(seconds * len(chosen) / len(some))
    result: dict[str, Any] = {"lanes_s": statistics.median(joint), "min_s": min(joint), "rounds": len(joint)}
    if single:
        result |= {"single_s": statistics.median(single), "ratio": statistics.median(joint) / statistics.median(single)}
    return result


def _wrong(case: Case, work: Work, chosen: np.ndarray, answer: Any) -> str | None:
    """What is wrong with an answer in lanes, or None."""
    if work.total is not None:
        return work.total(case, chosen, answer)
    assert work.single is not None
    for lane, source in enumerate(chosen[: work.compared].tolist()):
        alone = work.single(case, source)
        complaint = work.differ(work.lane(answer, lane), alone)
        if complaint is None and lane < PROVEN and work.proof is not None:
            complaint = prove(work.proof, case, source, work.lane(answer, lane), 1e-6)
        if complaint:
            return f"lane {lane}: {complaint}"
    return None


def _median(call: Callable[[], Any], case: Case, budget: float) -> float:
    seconds: list[float] = []
    call()
    while len(seconds) < ROUNDS and (not seconds or sum(seconds) < budget):
        seconds.append(timed(call, case.device)[0])
    return statistics.median(seconds)


def _ablation(case: Case, budget: float) -> Iterator[dict[str, Any]]:
    """Times of many searches by the number of lanes, and with techniques switched off; answers are compared."""
    for name, call in (("bfs", _levels), ("closeness", _closeness)):
        chosen = sources(case, SOURCES)
        expected = call(case, chosen[:64], "auto")
        variants: list[tuple[str, dict[str, bool], int | str]] = [("all techniques", {}, "auto")]
        variants += [(f"{lanes} lanes", {}, lanes) for lanes in LANES]
        variants += [(f"without {one}", {one: False}, "auto") for one in TECHNIQUES]
        for title, switches, lanes in variants:
            listed = chosen[: 16 if lanes == 1 else SOURCES]
            with hpg.techniques(**switches) if switches else contextlib.nullcontext():
                found = call(case, listed, lanes)
                shared = min(len(found), len(expected))
                if not bool((found[:shared] == expected[:shared]).all()):
                    yield {"work": name, "library": title, "count": len(listed), "wrong": "other answers"}
                    continue
                del found
                seconds = _median(lambda call=call, listed=listed, lanes=lanes: call(case, listed, lanes), case, budget)  # type: ignore[misc]
            yield {"work": name, "library": title, "count": len(listed), "lanes_s": seconds}


def _levels(case: Case, chosen: np.ndarray, lanes: int | str) -> Any:
    if lanes == "auto":
        return hpg.bfs(case.graph, sources=chosen, parents=False).level
    parts = [chosen[begin : begin + lanes] for begin in range(0, len(chosen), lanes)]  # type: ignore[arg-type]
    found = [hpg.bfs(case.graph, sources=part, parents=False).level for part in parts]
    # Kept as they are: putting blocks together is no part of searching.
    return found[0] if len(chosen) > 64 else case.xp.concatenate(found)


def _closeness(case: Case, chosen: np.ndarray, lanes: int | str) -> Any:
    from hpgraph.engine.multi_source_totals import survey

    return survey(case.graph, chosen, group_size=lanes).total


def table(graph: str, rows: Sequence[dict[str, Any]]) -> str:
    """One graph's results: a row a work and library, or variant.

    Parameters
    ----------
    graph : str
        Its name.
    rows : sequence of dict
        With ``work``, ``library``, ``count`` and ``lanes_s``, or ``wrong``; ``single_s`` and ``ratio`` where single
        calls were timed too.

    Returns
    -------
    str
        Several lines: milliseconds of the whole call, and a source's share.
    """
    cells = [[graph, "", "ms", "a source", "single ones", "ratio", "aim"]]
    last = None
    for row in rows:
        work = WORKS.get(row["work"])
        title = (work.title.format(row["count"]) if work else row["work"]) if row["work"] != last else ""
        last = row["work"]
        if "wrong" in row:
            cells.append([title, row["library"], "WRONG", row["wrong"], "", "", ""])
            continue
        milliseconds = row["lanes_s"] * 1e3
        single = f"{row['single_s'] * 1e3:.4g}" if "single_s" in row else ""
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
        aim = work.aims.get(graph, "") if work and row["library"] == "hpgraph" else ""
        cells.append([
            title, row["library"], f"{milliseconds:.4g}", f"{milliseconds / row['count']:.3g}", single, ratio, aim
        ])  # fmt: skip
    return "\n".join(report.aligned(cells))
