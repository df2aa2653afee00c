"""What each technique brings: the time without it, beside the time with all of them (as Figure 6 of the HPGraph paper).

Every variant is measured on a new graph, so that nothing is left of what another prepared, and its answers are compared
with those that all techniques give.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.engine.direction import Direction

from . import graphs
from .graphs import Case
from .library import HPGraph
from .record import Record, command_parser
from .report import aligned
from .timing import References, measure
from .works import WORKS

ALL_ON = "all techniques"


@dataclass(frozen=True)
class Variant:
    """A way to run some works: under a context, and with options of the public functions."""

    name: str
    works: tuple[str, ...]
    devices: tuple[str, ...] = ("cpu", "cuda")
    context: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
    options: Mapping[str, Any] = field(default_factory=dict)


def _without(technique: str, works: tuple[str, ...]) -> Variant:
    def context() -> AbstractContextManager[Any]:
        return hpg.techniques(**{technique: False})

    return Variant(f"without {technique}", works, ("cuda",), context)


# What each of `hpgraph.techniques` concerns.
CONCERNS = {
    "local_block": ("bfs", "sssp"),
    "short_queues": ("bfs", "sssp"),
    "heavy_pieces": ("bfs", "sssp"),
    "arc_batches": ("bfs", "sssp"),
    "adaptive_buckets": ("sssp",),
    "host_takeover": ("bfs", "sssp"),
    "early_exit": ("bfs",),
    "lane_refill": ("bfs",),
    "hyb": ("bfs", "pagerank", "spmv"),
    "row_stretches": ("pagerank", "spmv"),
    "column_blocks": ("pagerank", "spmv"),
    "fused_supersteps": ("pagerank",),
    "captured_graph": ("pagerank",),
    "degree_order": ("triangles",),
    "triangle_filters": ("triangles",),
}
VARIANTS = (
    Variant(ALL_ON, ("bfs", "sssp", "pagerank", "spmv", "triangles")),
    Variant("push only", ("bfs",), options={"direction": "push"}),
    Variant("pull only", ("bfs",), options={"direction": "pull"}),
    Variant("alpha 0.02", ("bfs",), options={"direction": Direction(alpha=0.02)}),
    Variant("alpha 0.3", ("bfs",), options={"direction": Direction(alpha=0.3)}),
    Variant("beta 1/50", ("bfs",), options={"direction": Direction(beta=1 / 50)}),
    Variant("without buckets", ("sssp",), options={"delta": np.inf}),
    Variant("delta 2", ("sssp",), options={"delta": 2.0}),
    Variant("delta 32", ("sssp",), options={"delta": 32.0}),
    Variant("delta 512", ("sssp",), options={"delta": 512.0}),
    Variant("delta 8192", ("sssp",), options={"delta": 8192.0}),
    *(_without(technique, works) for technique, works in CONCERNS.items()),
)


class _Variation(HPGraph):
    """hpgraph, run in one of these ways."""

    def __init__(self, case: Case, variant: Variant) -> None:
        super().__init__(case)
        self._variant = variant

    def call(self, work: str) -> Callable[..., Any] | None:
        whole = super().call(work)
        if whole is None or work not in self._variant.works:
            return None

        def varied(*arguments: Any) -> Any:
            with self._variant.context():
                return whole(*arguments)

        return varied

    def bfs(self, source: int) -> Any:
        return hpg.bfs(self._graph, source, **self._variant.options)

    def sssp(self, source: int) -> Any:
        return hpg.sssp(self._graph, source, **self._variant.options)


def main(words: Sequence[str]) -> int:
    """Measure the variants, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when a variant gave another answer, else 0.
    """
    parser = command_parser("ablation", __doc__, "graphs")
    parser.add_argument("device", nargs="?", default="cpu", choices=["cpu", "gpu"], help="where to measure (cpu)")
    parser.add_argument("--graphs", help="names separated by commas")
    parser.add_argument("--works", help="of bfs, sssp, pagerank, spmv, triangles")
    parser.add_argument("--sources", type=int, default=8, help="how many vertices to search from (8)")
    parser.add_argument("--budget", type=float, default=2, help="seconds for one variant, work and graph (2)")
    chosen = parser.parse_args(words)
    device = "cuda" if chosen.device == "gpu" else "cpu"
    record = Record.of(chosen, words, device)
    wrong = False
    for name in chosen.graphs.split(",") if chosen.graphs else graphs.default(device):
        case = graphs.make(name, device, chosen.sources)
        rows = _measure(case, chosen.works.split(",") if chosen.works else list(WORKS), chosen.budget)
        record.save(ablation={**record.content.get("ablation", {}), name: rows})
        print(table(name, rows), end="\n\n", flush=True)
        wrong = wrong or any("wrong" in row for row in rows)
        del case
    print(f"saved in {record.path}")
    return int(wrong)


def _measure(case: Case, works: Sequence[str], budget: float) -> list[dict[str, Any]]:
    references = References(case)
    rows = []
    for work in works:
        # What is measured first pays for clocks and caches that settle: once for nothing.
        measure(_Variation(case, VARIANTS[0]), work, references, budget)
        for variant in VARIANTS:
            if case.device not in variant.devices or work not in variant.works:
                continue
            measured = measure(_Variation(case, variant), work, references, budget)
            if measured is None:
                continue
            row: dict[str, Any] = {"work": work, "technique": variant.name}
            if measured.wrong:
                row["wrong"] = measured.wrong
            else:
                row |= {"median_s": measured.median, "new_graph_s": measured.new_graph}
            rows.append(row)
    return rows


def table(graph: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The variants of one graph.

    Parameters
    ----------
    graph : str
        Its name.
    rows : sequence of mappings
        With ``work``, ``technique``, ``median_s`` and ``new_graph_s``, or ``wrong``; a work's first row has all
        techniques.

    Returns
    -------
    str
        A line for each; "factor" is the time over that with all techniques.
    """
    cells = [[graph, "", "ms", "factor", "new graph, ms"]]
    for row in rows:
        if row["technique"] == ALL_ON:
            whole = row
        title = WORKS[row["work"]].title if row["technique"] == ALL_ON else ""
        if "wrong" in row:
            cells.append([title, row["technique"], "WRONG", row["wrong"], ""])
            continue
        factor = f"{row['median_s'] / whole['median_s']:.2f}" if "median_s" in whole else ""
        cells.append(
            [title, row["technique"], f"{row['median_s'] * 1e3:.3g}", factor, f"{row['new_graph_s'] * 1e3:.3g}"]
        )
    return "\n".join(aligned(cells))
