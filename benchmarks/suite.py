"""A suite: works beside other libraries on several graphs, with a table for each; answers are checked first."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import hpgraph as hpg

from . import graphs, report
from .graphs import Case
from .library import Library
from .record import Record, command_parser
from .timing import timed

ROUNDS = 7
# Those that aims are for.
GRAPHS = ("kron21", "social22", "urand23", "road2048")


@dataclass(frozen=True)
class Work:
    """One row of a table; ``aims`` are milliseconds on the GPU by graph."""

    title: str
    ours: Callable[[Case], Any]
    wrong: Callable[[Case, Any], str | None] = lambda case, found: None
    peer: str = ""
    aims: dict[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ("cpu", "cuda")


def aims(*milliseconds: float) -> dict[str, float]:
    """Milliseconds for each of `GRAPHS`."""
    return dict(zip(GRAPHS, milliseconds, strict=True))


@dataclass(frozen=True)
class Suite:
    """Works that one command measures; `iterated` where a table says after how many iterations."""

    name: str
    about: str
    works: dict[str, Work]
    peers: dict[str, type[Library]]
    iterated: bool = False

    def main(self, words: Sequence[str]) -> int:
        """Measure, print a table a graph, and save the results.

        Returns
        -------
        int
            1 when an answer was wrong, else 0.
        """
        parser = command_parser(self.name, self.about)
        parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where to measure (cpu)")
        parser.add_argument("--graphs", help="names separated by commas")
        parser.add_argument("--works", help="of " + ", ".join(self.works))
        parser.add_argument("--libraries", help="beside hpgraph; by default all that are installed")
        parser.add_argument("--budget", type=float, default=10, help="seconds for one work, library and graph (10)")
        parser.add_argument("--threads", type=int, help="CPU threads")
        chosen = parser.parse_args(words)
        hpg.config.threads = chosen.threads or hpg.config.threads
        named = chosen.works.split(",") if chosen.works else self.works
        works = [name for name in named if chosen.device in self.works[name].devices]
        record = Record.of(chosen, words, chosen.device)
        wrong = False
        for name in chosen.graphs.split(",") if chosen.graphs else graphs.default(chosen.device):
            case = graphs.make(name, chosen.device, 1)
            there = [one for one, kind in self.peers.items() if chosen.device == "cpu" and kind.is_installed()]
            libraries = there if chosen.libraries is None else [one for one in chosen.libraries.split(",") if one]
            rows = self._measured(case, works, libraries, chosen.budget)
            record.save(**{self.name: {**record.content.get(self.name, {}), name: rows}})
            print(self.table(name, rows), end="\n\n", flush=True)
            wrong = wrong or any("wrong" in row for row in rows)
            del case
        return int(wrong)

    def _measured(
        self, case: Case, works: Sequence[str], libraries: Sequence[str], budget: float
    ) -> list[dict[str, Any]]:
        others = {name: self.peers[name](case) for name in libraries}
        rows = []
        for name in works:
            work = self.works[name]
            answer = work.ours(case)
            complaint = work.wrong(case, answer)
            row: dict[str, Any] = {"work": name}
            if self.iterated and hasattr(answer, "iterations"):
                row["iterations"] = answer.iterations
            del answer
            rows.append(row)
            if complaint:
                row["wrong"] = complaint
                continue
            calls: dict[str, Callable[[], Any]] = {"hpgraph": lambda work=work: work.ours(case)}  # type: ignore[misc]
            calls |= {one: method for one in libraries if (method := getattr(others[one], work.peer or "-", None))}
            row["seconds"] = in_turn(calls, case.device, budget)
        return rows

    def table(self, graph: str, rows: Sequence[dict[str, Any]]) -> str:
        """One graph's results: milliseconds of the whole call, and our share of the best of the others."""
        libraries = list(dict.fromkeys(library for row in rows for library in row.get("seconds", {})))
        cells = [[graph, *(["iterations"] if self.iterated else []), *libraries, "ours/best", "aim"]]
        for row in rows:
            work, times = self.works[row["work"]], row.get("seconds", {})
            best = min((value for library, value in times.items() if library != "hpgraph"), default=None)
            iterations = [str(row.get("iterations", ""))] if self.iterated else []
            shown = [f"{times[library] * 1e3:.4g}" if library in times else "" for library in libraries]
            ratio = f"{times['hpgraph'] / best:.2f}" if best else row.get("wrong", "")
            cells.append([work.title, *iterations, *shown, ratio, str(work.aims.get(graph, ""))])
        return "\n".join(report.aligned(cells))


def in_turn(calls: dict[str, Callable[[], Any]], device: str, budget: float) -> dict[str, float]:
    """Median seconds of each call, taken in turn; a call that takes longer than its budget is made once."""
    seconds: dict[str, list[float]] = {library: [] for library in calls}
    for _ in range(ROUNDS):
        for library, call in calls.items():
            if not seconds[library] or sum(seconds[library]) < budget:
                seconds[library].append(timed(call, device)[0])
    return {library: statistics.median(times) for library, times in seconds.items()}
