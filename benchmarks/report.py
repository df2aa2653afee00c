"""Recorded results as tables."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import aims, floors
from .answers import ITERATIONS
from .library import HPGraph
from .works import WORKS

_PUBLISHED = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))
_OURS = HPGraph.name
_SEARCHES_IN_A_CALL = {"bfs": 1, "bfs_smallest": 1, "bfs_row": 64}


def published_graph(name: str) -> dict[str, int]:
    """Sizes and triangles of a graph that others were measured on; empty for other graphs."""
    sizes: dict[str, int] = _PUBLISHED["graphs"].get(name, {})
    return sizes


def published(work: str, graph: str) -> dict[str, float | list[float]]:
    """Milliseconds by library that were measured on the same graph elsewhere; a pair is a range."""
    by_library = _PUBLISHED["milliseconds"].get(work, {})
    return {name: times[graph] for name, times in by_library.items() if graph in times}


def gteps(work: str, arcs: int, result: dict[str, Any]) -> float:
    """Edges (half the stored arcs) per second, in 10^9: the harmonic mean over the searches, as Graph500 reports."""
    return float(arcs / 2 * _SEARCHES_IN_A_CALL[work] / result["mean_s"] / 1e9)


def tables(content: dict[str, Any]) -> str:
    """All graphs of a file."""
    parts = [table(name, content) for name in content.get("graphs", {})]
    if content["device"] == "cpu":
        parts.append(ratios(content))
    return "\n\n".join([*parts, footnote(content)])


def table(graph: str, content: dict[str, Any]) -> str:
    """One graph's results: a row a work, a column a library, ours beside the best of the others.

    Parameters
    ----------
    graph : str
        Its name.
    content : dict
        What `Record` saves.

    Returns
    -------
    str
        Several lines. Times are medians in milliseconds; "new graph" is the first call on one, with all that is
        prepared once and kept; ``*`` marks figures measured elsewhere.
    """
    entry, on_gpu = content["graphs"][graph], content["device"] == "cuda"
    results = {(r["work"], r["library"]): r for r in entry["results"]}
    works = [work for work in WORKS if any(work == done for done, _ in results)]
    peers = list(dict.fromkeys(r["library"] for r in entry["results"] if r["library"] != _OURS))
    elsewhere = list(dict.fromkeys(name for work in works for name in published(work, graph))) if on_gpu else []
    head = [f"{graph}, ms", _OURS, "new graph", *peers, *(f"{name}*" for name in elsewhere), "ours/best"]
    rows = [[*head, "floor"] if on_gpu else head]
    for work in works:
        ours = results.get((work, _OURS), {})
        cells = [_milliseconds(ours, "median_s"), _milliseconds(ours, "new_graph_s")]
        cells += [_milliseconds(results.get((work, name), {}), "median_s") for name in peers]
        times = published(work, graph)
        cells += [_figure(times.get(name)) for name in elsewhere]
        ratio = _ratio(ours, work, best_peer(work, graph, content))
        cells.append("" if ratio is None else f"{ratio:.2f}")
        if on_gpu:
            floor = floors.seconds(work, entry["vertices"], entry["arcs"], entry["levels"], ITERATIONS)
            cells.append("" if floor is None else _figure(floor * 1e3))
        rows.append([WORKS[work].title, *cells])
        if work in _SEARCHES_IN_A_CALL:
            done = {name: r for name in (_OURS, *peers) if "mean_s" in (r := results.get((work, name), {}))}
            rates = {name: f"{gteps(work, entry['arcs'], r):.3g}" for name, r in done.items()}
            cells = [rates.get(_OURS, ""), "", *(rates.get(name, "") for name in peers)]
            rows.append(["  GTEPS, harmonic mean", *cells, *[""] * (len(rows[0]) - 1 - len(cells))])
    size = (
        f"{graph}: {entry['vertices']:,} vertices, {entry['arcs']:,} arcs, largest degree {entry['largest_degree']:,}"
    )
    return "\n".join([size, *aligned(rows), *_remarks(entry["results"])])


def best_peer(work: str, graph: str, content: dict[str, Any], without: Sequence[str] = ()) -> float | None:
    """Seconds of the fastest other library; on the GPU also of those measured elsewhere."""
    results = content["graphs"][graph]["results"]
    names = (_OURS, *without)
    times = [r["median_s"] for r in results if r["work"] == work and r["library"] not in names and "median_s" in r]
    if content["device"] == "cuda":
        # CPU times depend too much on the machine to be taken from elsewhere.
        figures = published(work, graph).values()
        times += [(min(figure) if isinstance(figure, list) else figure) / 1e3 for figure in figures]
    return min(times, default=None)


def ratios(content: dict[str, Any]) -> str:
    """Our time over GAPBS's, and over that of the fastest other library, with what we aim at.

    Parameters
    ----------
    content : dict
        What `Record` saves.

    Returns
    -------
    str
        A row a work; below 1 we are faster.
    """
    graphs = content.get("graphs", {})
    done = [work for work in WORKS if any(r["work"] == work for g in graphs.values() for r in g["results"])]
    parts = []
    for title, against, without in (("GAPBS", aims.AGAINST_GAPBS, None), ("best other", aims.AGAINST_BEST, "GAPBS")):
        rows = [[f"ours / {title}", *graphs, "aim"]]
        for work in (work for work in done if work in against):
            cells = []
            for graph, entry in graphs.items():
                results = {r["library"]: r for r in entry["results"] if r["work"] == work}
                other = (
                    best_peer(work, graph, content, (without,)) if without else results.get(title, {}).get("median_s")
                )
                ratio = _ratio(results.get(_OURS, {}), work, other)
                cells.append("" if ratio is None else f"{ratio:.2f}")
            aim = f"{against[work]:g}"
            if without and work in aims.AGAINST_BEST_ON_ROADS:
                aim += f" (road {aims.AGAINST_BEST_ON_ROADS[work]:g})"
            rows.append([WORKS[work].title, *cells, aim])
        if any(any(row[1:-1]) for row in rows[1:]):
            parts.append("\n".join(aligned(rows)))
    return "\n\n".join(parts)


def _ratio(ours: dict[str, Any], work: str, other: float | None) -> float | None:
    """Ours over theirs; with our preparation where theirs contains it."""
    time = ours.get("new_graph_s" if WORKS[work].preparation else "median_s")
    return None if time is None or other is None else float(time / other)


def _milliseconds(result: dict[str, Any], key: str) -> str:
    if "wrong" in result:
        return "WRONG" if key == "median_s" else ""
    return _figure(result[key] * 1e3) if key in result else ""


def _figure(milliseconds: float | list[float] | None) -> str:
    if milliseconds is None:
        return ""
    if isinstance(milliseconds, list):
        return "–".join(map(_figure, milliseconds))
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def aligned(rows: list[list[str]]) -> list[str]:
    """Rows of cells as lines, the first column to the left, a rule under the first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _remarks(results: list[dict[str, Any]]) -> list[str]:
    titled = [(r, f"{r['library']}, {WORKS[r['work']].title}") for r in results]
    notes = [f"{title}: {r['note']}" for r, title in titled if "note" in r]
    return notes + [f"WRONG: {title}: {r['wrong']}" for r, title in titled if "wrong" in r]


def footnote(content: dict[str, Any]) -> str:
    """How to read the tables, and where the figures marked with a star come from."""
    how = "new graph: the first call on a graph, with all that is prepared once and kept (code compiled already)."
    if any(WORKS[r["work"]].preparation for g in content.get("graphs", {}).values() for r in g["results"]):
        how += "\nRatios of triangles take that figure, since others prepare in every call."
    if content["device"] != "cuda":
        return how
    return f"{how}\nfloor: benchmarks/floors.py has the formulas.\n* {_PUBLISHED['provenance']['cuda']}"
