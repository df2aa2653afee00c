"""hpgraph beside other libraries: the same graphs and sources, answers compared before times are."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import hpgraph as hpg
from hpgraph.core.device import cuda_available

from . import graphs, peers_cpu, peers_gpu, report, works
from .library import HPGraph
from .record import RESULTS, Record
from .timing import Measurement, Neighbours, References, measure
from .unseen import KINDS
from .works import WORKS

# Cores that others may keep busy.
DISTURBED = 0.1
# A long row of searches of more levels takes minutes and says no more than one search does.
MAX_LEVELS = 1000


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("device", choices=["cpu", "gpu"], help="where to measure")
    parser.add_argument("--graphs", help="names separated by commas, + for the further ones; kron12 is a quick trial")
    parser.add_argument("--works", help="of " + ", ".join(WORKS))
    parser.add_argument("--libraries", help="beside hpgraph; by default all that are installed")
    parser.add_argument("--gapbs", help="the folder of the GAP Benchmark Suite's programs (GAPBS_DIR)")
    parser.add_argument("--sources", type=int, default=16, help="how many vertices to search from (16)")
    parser.add_argument("--budget", type=float, default=4, help="seconds for one work, library and graph (4)")
    parser.add_argument("--threads", type=int, help="CPU threads for every library that lets them be set")
    parser.add_argument(
        "--output", type=Path, help="the JSON file (benchmarks/results/cpu-DATE.json or cuda-DATE.json)"
    )
    parser.add_argument("--merge", action="store_true", help="keep what the file holds of other works and graphs")
    chosen = parser.parse_args(words)
    chosen.device = "cuda" if chosen.device == "gpu" else "cpu"
    if chosen.gapbs is not None:
        os.environ["GAPBS_DIR"] = chosen.gapbs
    usual = graphs.default(chosen.device)
    if chosen.graphs == "+":
        chosen.graphs = ",".join([*usual, *(name for name in graphs.EXTRA if name not in usual)])
    chosen.graphs = _named(parser, "graph", chosen.graphs, graphs.names(chosen.device), usual)
    chosen.works = _named(parser, "work", chosen.works, list(WORKS), works.default(chosen.device))
    peers = {peer.name: peer for peer in (peers_gpu if chosen.device == "cuda" else peers_cpu).PEERS}
    chosen.insist = chosen.libraries is not None
    there = [name for name, peer in peers.items() if peer.is_installed()]
    names = _named(parser, "library", chosen.libraries, list(peers), there)
    for name in names:
        if name not in there:
            parser.error(f"{name} is not here" + (": --gapbs must name the folder" if name == "GAPBS" else ""))
    if chosen.gapbs is not None and "GAPBS" not in there:
        parser.error(f"--gapbs: {chosen.gapbs} does not hold GAPBS's programs (make)")
    chosen.libraries = [HPGraph, *(peers[name] for name in names)]
    if chosen.device == "cuda" and not cuda_available():
        parser.error("no CUDA GPU, or CuPy is not installed: python -m benchmarks cpu works without")
    return chosen


def _named(
    parser: argparse.ArgumentParser, kind: str, text: str | None, known: Sequence[str], usual: list[str]
) -> list[str]:
    if text is None:
        return usual
    names = text.split(",") if text else []
    for name in names:
        if name not in known:
            parser.error(f"no {kind} is called {name!r}; there are {', '.join(known)}")
    return names


def _measure(case: graphs.Case, chosen: argparse.Namespace, references: References) -> list[Measurement]:
    known = report.published_graph(case.name)
    for size, here in (("vertices", case.n), ("arcs", case.n_arcs)):
        if known.get(size, here) != here:
            raise SystemExit(f"{case.name} has {here:,} {size} here and {known[size]:,} where others were measured")
    measurements = []
    for kind in chosen.libraries:
        if kind.most_arcs is not None and case.n_arcs > kind.most_arcs and not chosen.insist:
            continue
        if not any(hasattr(kind, work) for work in chosen.works):
            continue
        library = kind(case)
        for work in chosen.works:
            if work == "bfs_row" and (references.supersteps or 0) > MAX_LEVELS:
                continue
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


def main(words: Sequence[str]) -> int:
    """Measure, print a table a graph, and save the results.

    Returns
    -------
    int
        1 when any library gave a wrong answer, else 0.
    """
    if words[0] == "show":
        for file in words[1:]:
            print(report.tables(Record.read(Path(file))))
        return 0
    if words[0] == "kinds":
        # Options of one's own come later, and win.
        unseen = ",".join([*KINDS, "path"])
        words = ["cpu", "--graphs", unseen, "--works", "bfs,sssp,pagerank,triangles", *words[1:]]
    chosen = _arguments(words)
    threads = chosen.threads or hpg.config.threads
    if chosen.threads:
        hpg.config.threads = threads
    # Read by OpenMP libraries when they are loaded, which is later.
    os.environ["OMP_NUM_THREADS"] = str(threads)
    path = chosen.output or RESULTS / f"{chosen.device}-{Record.today()}.json"
    record = Record(path, words, chosen.device, [kind.distribution for kind in chosen.libraries], chosen.merge)
    wrong = False
    for name in chosen.graphs:
        try:
            case = graphs.make(name, chosen.device, chosen.sources)
        except FileNotFoundError as error:
            print(f"{name} is passed over: {error}\n")
            continue
        references = References(case, report.published_graph(name).get("triangles"))
        neighbours, start = Neighbours(), time.perf_counter()
        measurements = _measure(case, chosen, references)
        others = neighbours.seconds() / (time.perf_counter() - start)
        if others > DISTURBED:
            print(f"other processes kept {others:.2f} cores busy meanwhile: measure {name} again when they are done")
        wrong = wrong or any(m.wrong for m in measurements)
        record.add(case, measurements, references.supersteps, others)
        print(report.table(name, record.content), end="\n\n", flush=True)
        del case, references, measurements
    if chosen.device == "cpu":
        print(report.ratios(record.content), end="\n\n")
    print(report.footnote(record.content))
    print(f"saved in {record.path}")
    return int(wrong)
