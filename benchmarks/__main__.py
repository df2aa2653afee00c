"""The benchmarks' command line."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import hpgraph as hpg
from hpgraph.device import cuda_available

from . import graphs, peers_cpu, peers_gpu, report
from .library import WORKS, HPGraph, Library
from .timing import Measurement, References, measure

RESULTS = Path(__file__).parent / "results"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=sys.modules["benchmarks"].__doc__)
    parser.add_argument("device", nargs="?", default="cpu", choices=["cpu", "gpu"], help="where to measure (cpu)")
    parser.add_argument("--graphs", help="names separated by commas; kron12, urand12 and road64 are quick trials")
    parser.add_argument("--works", default=",".join(WORKS), help="of " + ", ".join(WORKS))
    parser.add_argument("--libraries", help="beside hpgraph; by default all that are installed")
    parser.add_argument("--sources", type=int, default=16, help="how many vertices to search from (16)")
    parser.add_argument("--budget", type=float, default=30, help="seconds for one work, library and graph (30)")
    parser.add_argument("--threads", type=int, help="CPU threads for every library that lets them be set")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/DEVICE-DATE.json)")
    chosen = parser.parse_args(words)
    chosen.device = "cuda" if chosen.device == "gpu" else "cpu"
    if chosen.graphs is None:
        chosen.graphs = [name for name in graphs.names(chosen.device) if name not in graphs.TRIALS]
    else:
        chosen.graphs = _named(parser, "graph", chosen.graphs, graphs.names(chosen.device))
    chosen.works = _named(parser, "work", chosen.works, WORKS)
    peers = {peer.name: peer for peer in (peers_gpu if chosen.device == "cuda" else peers_cpu).PEERS}
    chosen.insist = chosen.libraries is not None
    if chosen.insist:
        names = _named(parser, "library", chosen.libraries, list(peers)) if chosen.libraries else []
    else:
        names = [name for name, peer in peers.items() if _is_installed(peer)]
    chosen.libraries = [HPGraph, *(peers[name] for name in names)]
    if chosen.device == "cuda" and not cuda_available():
        parser.error("no CUDA GPU, or CuPy is not installed: python -m benchmarks cpu works without")
    return chosen


def _named(parser: argparse.ArgumentParser, kind: str, text: str, known: Sequence[str]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"no {kind} is called {name!r}; there are {', '.join(known)}")
    return names


def _is_installed(peer: type[Library]) -> bool:
    # A distribution and its module differ in name for one of them only.
    module = "graphblas" if peer.distribution == "python-graphblas" else peer.distribution
    return importlib.util.find_spec(module) is not None


def _measure(case: graphs.Case, chosen: argparse.Namespace) -> list[Measurement]:
    known = report.published_graph(case.name)
    for size, here in (("vertices", case.n), ("arcs", case.n_arcs)):
        if known.get(size, here) != here:
            raise SystemExit(f"{case.name} has {here:,} {size} here and {known[size]:,} where others were measured")
    references = References(case, known.get("triangles"))
    measurements = []
    for kind in chosen.libraries:
        if kind.most_arcs is not None and case.n_arcs > kind.most_arcs and not chosen.insist:
            continue
        library = kind(case)
        for work in chosen.works:
            _say(f"  {case.name}: {work}, {kind.name} ...")
            measurement = measure(library, work, references, chosen.budget)
            if measurement is not None:
                measurements.append(measurement)
        del library
    _say("")
    return measurements


def _say(what: str) -> None:
    """Show on a terminal what is being measured, on a line that the next one overwrites."""
    if sys.stderr.isatty():
        print(f"{what}\x1b[K", end="\r", file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when any library gave a wrong answer, else 0.
    """
    chosen = _arguments(words)
    threads = chosen.threads or hpg.config.threads
    hpg.config.threads = threads
    # Read by OpenMP libraries when they are loaded, which is later.
    os.environ["OMP_NUM_THREADS"] = str(threads)
    command = " ".join(["python -m benchmarks", *(sys.argv[1:] if words is None else words)])
    today = datetime.datetime.now(datetime.UTC).date()
    path = chosen.output or RESULTS / f"{'gpu' if chosen.device == 'cuda' else 'cpu'}-{today}.json"
    record = report.Record(path, command, chosen.device, chosen.libraries)
    wrong = False
    for name in chosen.graphs:
        try:
            case = graphs.make(name, chosen.device, chosen.sources)
        except FileNotFoundError as error:
            print(f"{name} is passed over: {error}\n")
            continue
        measurements = _measure(case, chosen)
        wrong = wrong or any(m.wrong for m in measurements)
        record.add(case, measurements)
        print(report.table(case, measurements), end="\n\n", flush=True)
    print(report.footnote(chosen.device))
    print(f"saved in {path}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
