"""A run's results as JSON, with date, machine, versions and commands."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import hpgraph as hpg
from hpgraph.core.device import require_cupy
from hpgraph.io.replace import check_writable, replacing_text

from .graphs import Case
from .timing import Measurement

RESULTS = Path(__file__).parent / "results"


def machine(device: str) -> dict[str, Any]:
    """What the run was made on."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    found: dict[str, Any] = {
        "cpu": models[0] if models else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": hpg.config.threads,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
    }
    if device == "cuda":
        runtime = require_cupy().cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        found["gpu"] = properties["name"].decode()
        found["gpu_memory_gib"] = round(properties["totalGlobalMem"] / 2**30, 1)
        found["cuda_driver"] = runtime.driverGetVersion()
        found["cuda_runtime"] = runtime.runtimeGetVersion()
    return found


def versions(distributions: Iterable[str] = ()) -> dict[str, str]:
    """Versions of Python and of the distributions at work."""
    found = {"python": platform.python_version()}
    return found | {each: _version(each) for each in ("numpy", "numba", "hpgraph", *distributions)}


def _version(distribution: str) -> str:
    # CuPy's wheels are named after the CUDA they are built for.
    for name in (distribution, f"{distribution}-cuda13x", f"{distribution}-cuda12x"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "no Python package"


def command_parser(name: str, about: str | None, kept: str = "") -> argparse.ArgumentParser:
    """Parser of a benchmark's command, with --output, and with --merge if what that keeps is named."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=about)
    parser.add_argument("command", choices=[name])
    parser.add_argument("--output", type=Path, help=f"the JSON file (benchmarks/results/{name}-DEVICE-DATE.json)")
    if kept:
        parser.add_argument("--merge", action="store_true", help=f"keep what the file holds of other {kept}")
    return parser


class Record:
    """Results on the way to a JSON file; written anew after each addition, so that a run cut short is kept.

    Parameters
    ----------
    path : Path
        The file.
    words : sequence of str
        The command line after ``python -m benchmarks``.
    device : {"cpu", "cuda"}
        Where is measured.
    distributions : iterable of str, optional
        The packages whose versions are noted, beside hpgraph's and what it stands on.
    merge : bool, default False
        Keep what the file holds already; a new result takes the place of one of the same work and library.
    """

    def __init__(
        self, path: Path, words: Sequence[str], device: str, distributions: Iterable[str] = (), merge: bool = False
    ) -> None:
        self.path = path
        # Before the work, not after its first part.
        path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(path)
        before = self.read(path) if merge and path.exists() else {}
        self.content: dict[str, Any] = {
            **before,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "commands": [*before.get("commands", []), " ".join(["python -m benchmarks", *words])],
            "device": device,
            "machine": machine(device),
            "versions": before.get("versions", {}) | versions(distributions),
        }

    @classmethod
    def of(
        cls, chosen: argparse.Namespace, words: Sequence[str], device: str, distributions: Iterable[str] = ()
    ) -> "Record":
        """Results of a command of `command_parser`."""
        path = chosen.output or RESULTS / f"{chosen.command}-{device}-{cls.today()}.json"
        return cls(path, words, device, distributions, getattr(chosen, "merge", False))

    @staticmethod
    def today() -> datetime.date:
        """The date that results go by."""
        return datetime.datetime.now(datetime.UTC).date()

    @staticmethod
    def read(path: Path) -> dict[str, Any]:
        """What a file holds."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content

    def save(self, **parts: Any) -> None:
        """Put parts into the file under their names."""
        self.content |= parts
        with replacing_text(self.path) as file:
            file.write(json.dumps(self.content, indent=1) + "\n")

    def add(self, case: Case, measurements: list[Measurement], supersteps: float | None, others: float = 0.0) -> None:
        """Add one graph's results.

        Parameters
        ----------
        case : Case
            The graph.
        measurements : list of Measurement
            Of this graph.
        supersteps : float or None
            Median number of levels of the searches from its sources, where some were made.
        others : float
            Cores that other processes kept busy meanwhile, on average.
        """
        graphs = self.content.setdefault("graphs", {})
        before = graphs.get(case.name, {})
        results = [{**_result(m), "others_cores": round(others, 2)} for m in measurements]
        replaced = {(r["work"], r["library"]) for r in results}
        kept = [r for r in before.get("results", []) if (r["work"], r["library"]) not in replaced]
        graphs[case.name] = {
            "vertices": case.n,
            "arcs": case.n_arcs,
            "largest_degree": int(case.degree.max()),
            "levels": supersteps or before.get("levels"),
            "sources": case.sources,
            "results": kept + results,
        }
        self.save()


def _result(m: Measurement) -> dict[str, Any]:
    result: dict[str, Any] = {"work": m.work, "library": m.library, "calls": len(m.seconds)}
    if m.note:
        result["note"] = m.note
    if m.wrong:
        return {**result, "wrong": m.wrong}
    result |= {"median_s": m.median, "mean_s": sum(m.seconds) / len(m.seconds)}
    result |= {"min_s": min(m.seconds), "max_s": max(m.seconds), "first_call_s": m.first}
    return result if m.new_graph is None else {**result, "new_graph_s": m.new_graph}
