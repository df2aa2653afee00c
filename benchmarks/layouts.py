"""Products of matrices of many kinds in every layout: predicted and measured times, and cuSPARSE's, in one table.

Kinds that were not used to choose the constants of `hpgraph.kernels.spmv.layout_cost` are marked by a star. Times are
those of a row of products on an idle device, launches included; each layout's answer is compared with cuSPARSE's.
"""

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import require_cupy
from hpgraph.formats import CSR, SELL
from hpgraph.kernels.spmv import cuda_choice
from hpgraph.kernels.spmv.cuda import ways_of
from hpgraph.kernels.spmv.product_plan import plan
from hpgraph.semiring import get_semiring

from .layout_kinds import KINDS, NEW
from .peers_gpu import CuPy
from .record import Record, command_parser
from .report import aligned

WAYS = ("rows", "stretches", "hyb", "sell", "blocks")
# Products in a row, rows of them, and iterations of PageRank.
PRODUCTS, ROWS, ITERATIONS = 10, 5, 20
# An iteration of cuGraph's PageRank in float64 on an H200, ms: pylibcugraph 26.10 through its Python API.
CUGRAPH = {"kron21": 0.98, "social22": 1.31, "urand23": 3.00, "road2048": 0.144, "crawl23": 6.4}


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        1 when an answer was wrong or a product was slower than cuSPARSE's, else 0.
    """
    parser = command_parser("layouts", __doc__, "kinds")
    parser.add_argument("--kinds", help=f"names separated by commas, of {', '.join(KINDS)}")
    parser.add_argument("--types", default="float32,float64", help="of the values (float32,float64)")
    parser.add_argument("--show", type=Path, help="print the tables of a file that was saved, and measure nothing")
    chosen = parser.parse_args(words)
    if chosen.show:
        saved = Record.read(chosen.show)["layouts"]
        print(f"{table(saved)}\n\n{summary(saved)}")
        return 0
    record = Record.of(chosen, words, "cuda", [CuPy.distribution])
    found: list[dict[str, Any]] = []
    for name in chosen.kinds.split(",") if chosen.kinds else KINDS:
        for row in measured(name, chosen.types.split(",")):
            found.append(row)
            before = [r for r in record.content.get("layouts", []) if (r["kind"], r["type"]) != (name, row["type"])]
            record.save(layouts=[*before, row])
            print(table([row]).splitlines()[-1], flush=True)
        gc.collect()
        require_cupy().get_default_memory_pool().free_all_blocks()
    print(f"\n{table(found)}\nsaved in {record.path}")
    return int(any(row["wrong"] or row["product_s"] > row["cusparse_s"] for row in found))


def measured(name: str, types: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One kind of matrix, with values of each type: times by layout, of ``A @ x`` as users call it, and of PageRank."""
    import cupy

    shape, indptr, indices = KINDS[name]()
    for kind in map(np.dtype, types):
        data = (cupy.arange(len(indices), dtype=np.int32) % 64 + 1).astype(kind)
        row = _measured(CSR(shape, indptr, indices, data, validate=False))
        yield {"kind": name, "new": name in NEW, **row}


def _measured(csr: CSR) -> dict[str, Any]:
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    assert csr.dtype is not None
    x = cupy.asarray(np.random.default_rng(11).random(csr.shape[1]).astype(csr.dtype))
    theirs = csr_matrix((csr.data, csr.indices, csr.indptr.astype(np.int32)), shape=csr.shape)
    expected, peer = theirs @ x, seconds(lambda: theirs @ x)
    A = hpg.Matrix(csr)
    row: dict[str, Any] = {
        "type": csr.dtype.name, "rows": csr.shape[0], "columns": csr.shape[1], "entries": csr.nnz,
        "first_s": clocked(lambda: A @ x), "product_s": seconds(lambda: A @ x), "cusparse_s": peer,
        "chosen": chosen_way(A, csr.dtype), "wrong": [] if _same(A @ x, expected) else ["product"],
    }  # fmt: skip
    row |= _by_way(csr, x, expected, row["wrong"])
    if csr.dtype == np.float64 and csr.shape[0] == csr.shape[1]:
        row["pagerank_s"] = pagerank_seconds(csr)
    return row


def chosen_way(A: hpg.Matrix, kind: np.dtype[Any]) -> str:
    """The way that the matrix's products go."""
    rows = A.rows
    if rows.nnz < cuda_choice.CHOICE_ENTRIES:
        return "rows" if A.layout == "csr" else A.layout
    predicted = cuda_choice.predict(rows, kind.itemsize, kind.itemsize)
    own = {A.layout, "blocks"} if A.layout in ("hyb", "sell") else {"rows", "stretches", "blocks"}
    return min(own & predicted.keys(), key=predicted.__getitem__)


def _by_way(csr: CSR, x: Any, expected: Any, wrong: list[str]) -> dict[str, Any]:
    """Predicted and measured seconds of each way the product can go."""
    gather, reduce, dtype = plan(get_semiring("plus_times"), csr.dtype, x.dtype)
    slices = SELL.of(csr)
    predicted = cuda_choice.predict(slices, x.dtype.itemsize, x.dtype.itemsize, unsure=True)
    shape = cuda_choice.shape_of(csr, x.dtype.itemsize, x.dtype.itemsize)
    out = expected.copy()
    found = {}
    ways = [ways_of(rows, gather, reduce, (x.dtype,), dtype, frozenset(), True) for rows in (csr, slices)]
    for way, (_, make) in (ways[1] | ways[0]).items():
        out.fill(-1)
        made = make()
        made((x,), out)
        if not _same(out, expected):
            wrong.append(way)
        found[way] = seconds(lambda made=made: made((x,), out))  # type: ignore[misc]
        del made
    return {
        "predicted_s": predicted, "measured_s": found,
        "locality": {"sectors": shape.sectors, "misses": shape.misses},
    }  # fmt: skip


def _same(found: Any, expected: Any) -> bool:
    """Within what sums in another order may differ by."""
    tolerance = 2e-4 if found.dtype == np.float32 else 1e-11
    return bool(abs(found - expected).max() <= tolerance * abs(expected).max())


def seconds(call: Callable[[], Any]) -> float:
    """Seconds of a call among many in a row, the least of some rows."""
    import cupy

    call()
    taken = []
    for _ in range(ROWS):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(PRODUCTS):
            call()
        end.record()
        end.synchronize()
        taken.append(cupy.cuda.get_elapsed_time(begin, end) / PRODUCTS / 1e3)
    return float(min(taken))


def clocked(call: Callable[[], Any]) -> float:
    """Seconds of one call, the device idle before and after."""
    from .timing import timed

    return timed(call, "cuda")[0]


def pagerank_seconds(csr: CSR) -> float | None:
    """Seconds of an iteration of PageRank in float64; None where nothing changes any more after a few."""
    graph = hpg.Graph(csr.with_data(None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hpg.ConvergenceWarning)

        def run(iterations: int) -> float:
            return min(clocked(lambda: hpg.pagerank(graph, tol=0, max_iteration=iterations)) for _ in range(3))

        if hpg.pagerank(graph, tol=0, max_iteration=2 + ITERATIONS).iterations < 2 + ITERATIONS:
            return None
        return (run(2 + ITERATIONS) - run(2)) / ITERATIONS


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The results, a line a kind and type.

    Parameters
    ----------
    rows : sequence of dict
        What `measured` yields.

    Returns
    -------
    str
        Milliseconds, predicted / measured for each way; "of cuSPARSE" is how many times as fast ``A @ x`` is, and "of
        cuGraph" the part of its time that an iteration of PageRank takes, where that is known.
    """
    cells = [["ms", "", "cuSPARSE", *WAYS, "A @ x", "by", "of cuSPARSE", "PageRank", "of cuGraph"]]
    for row in rows:
        ways = [_pair(row["predicted_s"].get(way), row["measured_s"].get(way)) for way in WAYS]
        rank = row.get("pagerank_s")
        peer = CUGRAPH.get(row["kind"])
        cells.append([
            row["kind"] + ("*" if row["new"] else ""), row["type"], f"{row['cusparse_s'] * 1e3:.3g}", *ways,
            f"{row['product_s'] * 1e3:.3g}", row["chosen"] + (" WRONG" if row["wrong"] else ""),
            f"{row['cusparse_s'] / row['product_s']:.2f}", "" if rank is None else f"{rank * 1e3:.3g}",
            "" if rank is None or peer is None else f"{rank * 1e3 / peer:.2f}",
        ])  # fmt: skip
    return "\n".join(aligned(cells))


def _pair(predicted: float | None, taken: float | None) -> str:
    if predicted is None or taken is None:
        return ""
    return f"{predicted * 1e3:.3g} / {taken * 1e3:.3g}"


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """The results as a Markdown table, a line a kind.

    Parameters
    ----------
    rows : sequence of dict
        What `measured` yields.

    Returns
    -------
    str
        Of each type ``A @ x`` in milliseconds, the way it goes, and how many times as fast as cuSPARSE it is.
    """
    lines = [
        "| | float32, ms | by | of cuSPARSE | float64, ms | by | of cuSPARSE | PageRank, ms | of cuGraph |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    kinds: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(row["kind"] + ("*" if row["new"] else ""), {})[row["type"]] = row
    for kind, types in kinds.items():
        cells = [kind]
        for name in ("float32", "float64"):
            row = types.get(name, {})
            cells += (
                [f"{row['product_s'] * 1e3:.3g}", row["chosen"], f"{row['cusparse_s'] / row['product_s']:.2f}"]
                if row else ["", "", ""]
            )  # fmt: skip
        rank, peer = types.get("float64", {}).get("pagerank_s"), CUGRAPH.get(kind)
        cells += ["" if rank is None else f"{rank * 1e3:.3g}"]
        cells += ["" if rank is None or peer is None else f"{rank * 1e3 / peer:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
