"""What a first use costs: each algorithm in new processes, with an empty cache of compiled code and with a full one."""

import compileall
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import first_call
from .record import Record, command_parser
from .report import aligned
from .works import WORKS


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    parser = command_parser("startup", __doc__, "calls")
    parser.add_argument("device", nargs="?", default="cpu", choices=["cpu", "gpu"], help="where to run (cpu)")
    parser.add_argument("--calls", help="names separated by commas, of " + ", ".join(first_call.CALLS))
    parser.add_argument("--repeats", type=int, default=3, help="processes with a full cache (3)")
    chosen = parser.parse_args(words)
    device = "cuda" if chosen.device == "gpu" else "cpu"
    record = Record.of(chosen, words, device)
    # As installers do: a first process need not translate the library's modules, which takes .2 to .4 s.
    for package in ("hpgraph", "hpgraph.formats", "hpgraph.semiring"):
        spec = importlib.util.find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            compileall.compile_dir(folder, quiet=2)
    imports = [_run("import", device, None) for _ in range(chosen.repeats + 1)][1:]
    found = {"import_s": _median(imports, "import"), "imported": imports[0]["imported"]}
    calls: dict[str, dict[str, float]] = dict(record.content.get("calls", {}))
    for name in chosen.calls.split(",") if chosen.calls else first_call.CALLS:
        with tempfile.TemporaryDirectory(prefix="cache-") as cache:
            cold = _run(name, device, cache)
            warm = [_run(name, device, cache) for _ in range(chosen.repeats)]
        calls[name] = {"cold_s": cold["seconds"]["first call"], "cold_graph_s": cold["seconds"]["graph"]}
        calls[name]["cold_processor_s"] = cold["seconds"]["processor"]
        calls[name] |= {f"{step.replace(' ', '_')}_s": _median(warm, step) for step in warm[0]["seconds"]}
        record.save(**found, calls=calls)
    print(table(record.content))
    print(f"saved in {record.path}")
    return 0


def _run(name: str, device: str, cache: str | None) -> dict[str, Any]:
    folders = {"HPGRAPH_CACHE_DIR": cache, "CUPY_CACHE_DIR": f"{cache}/cupy"} if cache else {}
    environment = {**os.environ, **folders, "HPGRAPH_VERBOSE": "0"}
    words = [sys.executable, "-m", "benchmarks.first_call", name, device]
    root = Path(__file__).parent.parent
    done = subprocess.run(words, check=True, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def _median(runs: Sequence[Mapping[str, Any]], step: str) -> float:
    return statistics.median(run["seconds"][step] for run in runs)


def table(content: Mapping[str, Any]) -> str:
    """The results of a file.

    Parameters
    ----------
    content : mapping
        What `Record` saves.

    Returns
    -------
    str
        A row a call, in milliseconds.
    """
    empty = ("empty cache: graph", "first call", "its processor time")
    rows = [["new processes, ms", "import", "graph", "first call", "second call", *empty]]
    for name, times in content["calls"].items():
        steps = ("import_s", "graph_s", "first_call_s", "second_call_s", "cold_graph_s", "cold_s", "cold_processor_s")
        title = WORKS[name].title.partition(",")[0] if name in WORKS else name
        rows.append([title, *(f"{times[step] * 1e3:.3g}" for step in steps)])
    modules = ", ".join(content["imported"]) or "none"
    head = f"import hpgraph: {content['import_s'] * 1e3:.0f} ms; of {', '.join(first_call.HEAVY)} it imports {modules}"
    return "\n".join([head, *aligned(rows)])
