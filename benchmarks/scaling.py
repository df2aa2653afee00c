"""Times from one thread to many on the CPU, each number of threads on a new graph."""

from collections.abc import Mapping, Sequence

import hpgraph as hpg

from . import graphs
from .library import HPGraph
from .record import Record, command_parser
from .report import aligned
from .timing import References, measure
from .works import WORKS

SCALED = ("bfs", "sssp", "pagerank", "triangles", "spmv")


def main(words: Sequence[str]) -> int:
    """Measure each number of threads, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when an answer was wrong, else 0.
    """
    parser = command_parser("scaling", __doc__, "graphs")
    parser.add_argument("--threads", default="", help="numbers separated by commas (1, 2, 4 ... all cores)")
    parser.add_argument("--graphs", default=",".join(graphs.default("cpu")), help="names separated by commas")
    parser.add_argument("--works", default=",".join(SCALED), help="of " + ", ".join(SCALED))
    parser.add_argument("--sources", type=int, default=8, help="how many vertices to search from (8)")
    parser.add_argument("--budget", type=float, default=2, help="seconds for one work and graph (2)")
    chosen = parser.parse_args(words)
    cores = hpg.config.threads
    usual = sorted({*(1 << k for k in range(cores.bit_length())), cores})
    threads = [int(number) for number in chosen.threads.split(",")] if chosen.threads else usual
    record = Record.of(chosen, words, "cpu")
    wrong = False
    for name in chosen.graphs.split(","):
        case = graphs.make(name, "cpu", chosen.sources)
        references = References(case)
        seconds: dict[int, dict[str, float]] = {}
        for number in threads:
            with hpg.config(threads=number):
                measured = [measure(HPGraph(case), work, references, chosen.budget) for work in chosen.works.split(",")]
            seconds[number] = {m.work: m.median for m in measured if m is not None and m.median is not None}
            wrong = wrong or any(m.wrong for m in measured if m is not None)
        record.save(scaling={**record.content.get("scaling", {}), name: seconds})
        print(table(name, seconds), end="\n\n", flush=True)
        del case, references
    print(f"saved in {record.path}")
    return int(wrong)


def table(graph: str, seconds: Mapping[int, Mapping[str, float]]) -> str:
    """Times, and in brackets the efficiency: how much of the ideal speed-up over the fewest threads there is.

    Parameters
    ----------
    graph : str
        Its name.
    seconds : mapping of int to mapping of str to float
        By threads and work; the fewest threads come first.

    Returns
    -------
    str
        A row a work, a column a number of threads.
    """
    fewest, first = next(iter(seconds.items()))
    rows = [[f"{graph}, ms", *(f"{threads} threads" if threads > 1 else "1 thread" for threads in seconds)]]
    for work, alone in first.items():
        cells = []
        for threads, times in seconds.items():
            if work not in times:
                cells.append("WRONG")
                continue
            efficiency = alone * fewest / (times[work] * threads)
            cells.append(f"{times[work] * 1e3:.3g} ({efficiency:.0%})")
        rows.append([WORKS[work].title, *cells])
    return "\n".join(aligned(rows))
