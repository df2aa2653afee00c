"""The code of pages beside plain ids: bytes an arc, and how fast it is written and read."""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.formats import Pages
from hpgraph.kernels.pages import cut, decode

from .graphs import default, make

GRAPHS = {"cpu": ["kron20", "social20", "urand18", "road1000", "cnr-2000", "cnr-2000-in"], "cuda": None}


def main(words: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pages", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="what decodes (default: cpu)")
    parser.add_argument("--graphs", nargs="+", help="names, by source; NAME-in by target")
    parser.add_argument("--repeat", type=int, default=9, help="times that are taken, of which the least counts")
    arguments = parser.parse_args(words[1:])
    names = arguments.graphs or GRAPHS[arguments.device] or default(arguments.device)
    print("| graph | arcs | bits an arc | written, M arcs/s | decoded, M arcs/s | plain ids copied, M arcs/s |")
    print("|---|---|---|---|---|---|")
    for name in names:
        print(_row(name, arguments.device, arguments.repeat), flush=True)
    return 0


def _row(name: str, device: str, repeat: int) -> str:
    plain_name, transposed = name.removesuffix("-in"), name.endswith("-in")
    if plain_name == "social20":
        graph = hpg.datasets.social(20, 20)
    elif plain_name == "cnr-2000":
        # As it is: links of the web go one way.
        graph = hpg.read(Path(os.environ["HPGRAPH_DATA"]) / "cnr-2000.mtx.gz")
    else:
        graph = make(plain_name, "cpu", 1).graph
    csr = graph.in_csr if transposed else graph.out_csr
    cut(hpg.Graph.from_edges([0], [1]).out_csr, encoding="gaps")
    start = time.perf_counter()
    pages = cut(csr, encoding="gaps")
    written = csr.nnz / (time.perf_counter() - start) / 1e6
    rates = [
        csr.nnz / min(_seconds(_decoder(stored, device), device) for _ in range(repeat)) / 1e6
        for stored in (pages, cut(csr))
    ]
    bits = 8 * len(pages.stored) / csr.nnz
    cells = [name, f"{csr.nnz:,}", f"{bits:.1f}", *(f"{rate:,.0f}" for rate in (written, *rates))]
    return f"| {' | '.join(cells)} |"


def _seconds(call: Callable[[], Any], device: str) -> float:
    if device == "cuda":
        import cupy

        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) / 1e3
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _decoder(pages: Pages, device: str) -> Callable[[], Any]:
    """What decodes all pages, page by page into the same room, or on a GPU all at once."""
    if device == "cpu":
        out = np.empty(int(np.diff(pages.first_arc).max()), pages.id_dtype)
        return lambda: [decode(pages, page, out) for page in range(pages.n_pages)]
    import cupy

    from hpgraph.kernels.pages.cuda import decode_run

    out, damaged = cupy.empty(pages.nnz, pages.id_dtype), cupy.zeros(1, np.int32)
    stored, offset, first_arc = map(cupy.asarray, (pages.stored, pages.offset, pages.first_arc))
    if pages.encoding == "none":
        return lambda: cupy.copyto(out, stored.view(pages.id_dtype))
    return lambda: decode_run(stored, offset, first_arc, pages.shape[1], out, damaged)
