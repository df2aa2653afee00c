"""Measurements as a table for people and as JSON for later."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hpgraph as hpg
from hpgraph.device import require_cupy

from .graphs import Case
from .library import WORKS, HPGraph, Library
from .timing import Measurement

TITLES = {
    "bfs": "BFS",
    "sssp": "SSSP",
    "pagerank": "PageRank, 20 iterations",
    "spmv": "SpMV float32",
    "triangles": "triangles",
    "build": "graph from CSR",
}
_PUBLISHED = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))


def published_graph(name: str) -> dict[str, int]:
    """Sizes and triangles of a graph that others were measured on; empty for other graphs."""
    sizes: dict[str, int] = _PUBLISHED["graphs"].get(name, {})
    return sizes


def published(work: str, graph: str) -> dict[str, float | list[float]]:
    """Milliseconds by library that were measured on the same graph elsewhere; a pair is a range."""
    by_library = _PUBLISHED["milliseconds"].get(work, {})
    return {name: times[graph] for name, times in by_library.items() if graph in times}


def harmonic_gteps(case: Case, measurement: Measurement) -> float:
    """Edges (half the stored arcs) per second, in 10^9: the harmonic mean over the searches, as Graph500 reports."""
    return case.n_arcs / 2 * len(measurement.seconds) / sum(measurement.seconds) / 1e9


def table(case: Case, measurements: list[Measurement]) -> str:
    """One graph's results: a row a work, a column a library, ours beside the best of the others.

    Parameters
    ----------
    case : Case
        The graph.
    measurements : list of Measurement
        Of this graph.

    Returns
    -------
    str
        Several lines. Times are medians in milliseconds; ``*`` marks figures measured elsewhere.
    """
    ours = HPGraph.name
    works = [work for work in WORKS if any(m.work == work for m in measurements)]
    measured = list(dict.fromkeys(m.library for m in measurements if m.library != ours))
    elsewhere = list(dict.fromkeys(name for work in works for name in published(work, case.name)))
    floors = {work: times[case.name] for work, times in _PUBLISHED["floors"].items() if case.name in times}
    columns = [ours, *measured, *(f"{name}*" for name in elsewhere), "ours/best"]
    if floors:
        columns.append("floor*")
    rows = [[f"{case.name}, ms", *columns]]
    for work in works:
        by_library = {m.library: m for m in measurements if m.work == work}
        cells = [_cell(by_library.get(name)) for name in (ours, *measured)]
        others = [m.median * 1e3 for m in by_library.values() if m.library != ours and m.median is not None]
        times = published(work, case.name)
        for name in elsewhere:
            figure = times.get(name)
            cells.append(_figure(figure))
            # Other machines' CPU times are for orientation only.
            if figure is not None and case.device == "cuda":
                others.append(min(figure) if isinstance(figure, list) else figure)
        our_median = by_library[ours].median if ours in by_library else None
        cells.append(f"{our_median * 1e3 / min(others):.2f}" if our_median is not None and others else "")
        if floors:
            cells.append(_figure(floors.get(work)))
        rows.append([TITLES[work], *cells])
        if work == "bfs":
            rates = [
                f"{harmonic_gteps(case, m):.3g}" if (m := by_library.get(name)) and m.median is not None else ""
                for name in (ours, *measured)
            ]
            rows.append(["BFS, GTEPS (harmonic mean)", *rates, *[""] * (len(columns) - len(rates))])
    head = f"{case.name}: {case.n:,} vertices, {case.n_arcs:,} arcs, largest degree {int(case.degree.max()):,}"
    return "\n".join([head, *_aligned(rows), *_complaints(measurements)])


def _cell(measurement: Measurement | None) -> str:
    if measurement is None:
        return ""
    return "WRONG" if measurement.median is None else _figure(measurement.median * 1e3)


def _figure(milliseconds: float | list[float] | None) -> str:
    if milliseconds is None:
        return ""
    if isinstance(milliseconds, list):
        return "–".join(map(_figure, milliseconds))
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _complaints(measurements: Iterable[Measurement]) -> list[str]:
    return [f"WRONG: {m.library}, {TITLES[m.work]}: {m.wrong}" for m in measurements if m.wrong]


def footnote(device: str) -> str:
    """Where the figures marked with a star come from."""
    provenance = _PUBLISHED["provenance"]
    return f"* {provenance[device]}" + (f"\n  {provenance['floors']}" if device == "cuda" else "")


def machine(device: str) -> dict[str, Any]:
    """What the run was made on."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    found: dict[str, Any] = {
        "cpu": models[0] if models else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": hpg.config.threads,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
    }
    if device == "cuda":
        runtime = require_cupy().cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        found["gpu"] = properties["name"].decode()
        found["gpu_memory_gib"] = round(properties["totalGlobalMem"] / 2**30, 1)
        found["cuda_driver"] = runtime.driverGetVersion()
        found["cuda_runtime"] = runtime.runtimeGetVersion()
    return found


def versions(libraries: Iterable[type[Library]]) -> dict[str, str]:
    """Versions of Python and of the distributions at work."""
    found = {"python": platform.python_version()}
    for distribution in ["numpy", "numba", *(library.distribution for library in libraries)]:
        found[distribution] = _version(distribution)
    return found


def _version(distribution: str) -> str:
    # CuPy's wheels are named after the CUDA they are built for.
    for name in (distribution, f"{distribution}-cuda13x", f"{distribution}-cuda12x"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "not installed"


class Record:
    """A run's results on the way to a JSON file; written anew after each graph, so that a run cut short is kept."""

    def __init__(self, path: Path, command: str, device: str, libraries: list[type[Library]]) -> None:
        self.path = path
        self._content: dict[str, Any] = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "command": command,
            "machine": machine(device),
            "versions": versions(libraries),
            "graphs": {},
        }

    def add(self, case: Case, measurements: list[Measurement]) -> None:
        """Add one graph's results and write the file."""
        self._content["graphs"][case.name] = {
            "vertices": case.n,
            "arcs": case.n_arcs,
            "sources": case.sources,
            "results": [self._result(case, m) for m in measurements],
            "published_milliseconds": {work: figures for work in WORKS if (figures := published(work, case.name))},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self._content, indent=1) + "\n", encoding="utf-8")

    def _result(self, case: Case, m: Measurement) -> dict[str, Any]:
        result: dict[str, Any] = {"work": m.work, "library": m.library, "calls": len(m.seconds)}
        if m.wrong:
            return {**result, "wrong": m.wrong}
        result |= {"median_s": m.median, "min_s": min(m.seconds), "max_s": max(m.seconds), "first_call_s": m.first}
        if m.work == "bfs":
            result["harmonic_gteps"] = harmonic_gteps(case, m)
        return result
