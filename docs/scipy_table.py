"""Writes the tables of docs/howto/from-scipy.md, of SciPy's names and of times: ``python docs/scipy_table.py``."""

import json
import statistics
from pathlib import Path

import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

import hpgraph as hpg

PAGE = Path(__file__).parent / "howto" / "from-scipy.md"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
NAMES, TIMES = "names", "times"
OTHER_CLASS = "`hpg.Matrix` takes and gives SciPy's: `A.tocoo()`, `A.asformat(...)`"
OLDER = "SciPy's older matrices and their functions; use the name with `array`"
MODULE = "a module of SciPy's"
# Why a name has no counterpart.
REASONS = {
    **dict.fromkeys(("bsr_array", "coo_array", "csc_array", "dia_array", "dok_array", "lil_array"), OTHER_CLASS),
    **dict.fromkeys(("csr_array", "sparray"), "`hpg.Matrix`, `hpg.hyb_array`"),
    **dict.fromkeys(
        ("bsr_matrix", "coo_matrix", "csc_matrix", "csr_matrix", "dia_matrix", "dok_matrix", "lil_matrix", "rand",
         "spmatrix"), OLDER,
    ),
    **dict.fromkeys(("base", "bsr", "compressed", "construct", "coo", "csc", "csr", "data", "dia", "dok", "extract",
                     "lil", "sparsetools", "sputils"), MODULE),
    **dict.fromkeys(("ArpackError", "ArpackNoConvergence", "MatrixRankWarning"), "SciPy's is raised"),
    **dict.fromkeys(("LinearOperator", "SuperLU", "LaplacianNd"), "SciPy's class; see `aslinearoperator`"),
    **dict.fromkeys(
        ("is_sptriangular", "spbandwidth", "funm_multiply_krylov", "use_solver"), "SciPy's takes a `Matrix`"
    ),
    **dict.fromkeys(("dsolve", "eigen", "interface", "isolve", "matfuncs"), MODULE),
    "SparseEfficiencyWarning": "SciPy's is given",
    "SparseWarning": "SciPy's is given",
    "get_index_dtype": "ids take 32 bits while they fit",
    "safely_cast_index_arrays": "ids take 32 bits while they fit",
}  # fmt: skip


def table() -> str:
    """The names of `scipy.sparse` and its csgraph that are there, and those that are not, with the reason."""
    rows = []
    modules = ("csgraph", scipy.sparse.csgraph, hpg.csgraph), ("linalg", scipy.sparse.linalg, hpg.linalg)
    for title, theirs, ours in (("scipy.sparse", scipy.sparse, hpg), *modules):
        names = [name for name in sorted(theirs.__all__) if not name.startswith("_")]
        there = [name for name in names if hasattr(ours, name) and name not in REASONS]
        rows.append(f"| `{title}` | {len(there)} the same | {', '.join(f'`{name}`' for name in there)} |")
        missing: dict[str, list[str]] = {}
        for name in names:
            if name not in there:
                older = OLDER if name.startswith("isspmatrix") else "not there yet"
                missing.setdefault(REASONS.get(name, older), []).append(f"`{name}`")
        rows += [f"| `{title}` | {reason} | {', '.join(listed)} |" for reason, listed in sorted(missing.items())]
    return "\n".join(("| module | in hpgraph | names |", "|---|---|---|", *rows)) + "\n"


def times() -> str:
    """Of each function of csgraph how many times as long SciPy's takes, as last measured: median, least and most."""
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in RESULTS.glob("csgraph-*.json")]
    ratios: dict[str, dict[tuple[str, int], list[float]]] = {}
    for device in ("cpu", "cuda"):
        last = max((found for found in contents if found["device"] == device), key=lambda found: found["date"])
        for row in last["csgraph"]:
            if "ratio" in row:
                of_function = ratios.setdefault(row["work"].partition("(")[0], {})
                of_function.setdefault((device, row["arcs"]), []).append(row["ratio"])
    columns = sorted({column for of_function in ratios.values() for column in of_function})
    rows = [
        f"| `{name}` | " + " | ".join(_spread(found.get(column, [])) for column in columns) + " |"
        for name, found in sorted(ratios.items())
    ]
    titles = " | ".join(f"{size:,} arcs{', GPU' if device == 'cuda' else ''}" for device, size in columns)
    return "\n".join((f"| function | {titles} |", "|---" * (len(columns) + 1) + "|", *rows)) + "\n"


def _spread(ratios: list[float]) -> str:
    if not ratios:
        return ""
    median, least, most = (f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"
                           for ratio in (statistics.median(ratios), min(ratios), max(ratios)))  # fmt: skip
    return f"{median} ({least} to {most})"


def page(text: str) -> str:
    """The page with its tables made anew."""
    for name, made in ((NAMES, table()), (TIMES, times())):
        begin, end = f"<!-- table of {name}: begin -->\n", f"<!-- table of {name}: end -->\n"
        before, rest = text.split(begin)
        text = f"{before}{begin}{made}{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
