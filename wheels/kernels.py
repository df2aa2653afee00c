"""The wheel of kernels compiled ahead: ``hpgraph_kernels_cu13``, or ``cu12``, by the release of the compiler here.

    python -m wheels.kernels record     needs a GPU: which kernels the calls below ask for, into wheels/requests.json
    python -m wheels.kernels list       needs a GPU: what each function asks CuPy for, into `cupy_kernels.RECORD`
    python -m wheels.kernels build      no GPU: compiles them for each architecture, and makes the wheel in dist/

What is recorded are C++ texts written for a program and its types; the templates that they include are read when the
wheel is built. Texts of CuPy's own kernels are recorded too, and compiled for the version of CuPy that is installed. A
request that no longer is what is asked for costs its bytes in the wheel and nothing else.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import json
import lzma
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core import cache_folder, cupy_kernels, ready_kernels
from hpgraph.core.device import cuda_available, cuda_extra, require_cupy
from hpgraph.core.placements import FUNCTIONS
from hpgraph.core.platform import cuda_driver, try_lock
from hpgraph.core.ready_kernels import CuPyRequest
from hpgraph.formats.interchange import scipy_of_csr
from hpgraph.kernels.runtime.cuda import compile as compiler
from hpgraph.kernels.runtime.cuda.compile import Request
from hpgraph.kernels.runtime.cuda.nvrtc import build, compiler_version, translated

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = Path(__file__).with_name("requests.json")
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")

# The most wanted first; each has kernels of its own: by weights, directed or not, with hubs or without, small or large.
GRAPHS: dict[str, Any] = {
    "plain": lambda: hpg.datasets.kron(13, device="cuda"),
    "float32": lambda: hpg.datasets.kron(13, weighted=True, device="cuda"),
    "names": lambda: hpg.datasets.debian(),
    "float64": lambda: _weights("float64"),
    "large": lambda: hpg.datasets.kron(18, weighted=True, device="cuda"),
    "road": lambda: hpg.datasets.grid(300, weighted=True, device="cuda"),
    "uniform": lambda: hpg.datasets.uniform(16, device="cuda"),
    "small": lambda: hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], directed=False),
    "int64": lambda: _weights("int64"),
}
# Of `list`, where none of a function's kernels may have been compiled for the graph: made on the host.
HOST_GRAPHS: dict[str, Any] = {
    "float32": lambda: hpg.datasets.kron(13, weighted=True),
    "plain": lambda: hpg.datasets.kron(13),
}
FIRST = {"bfs", "sssp", "pagerank", "connected_components", "triangle_count", "louvain", "core_number", "hits"}
_ONE, _TWO = hpg.id(0), hpg.id([0, 1])


def _hub(graph: hpg.Graph) -> Any:
    return hpg.id(int(graph.out_degree.argmax()))


def _beside_hub(graph: hpg.Graph) -> Any:
    return hpg.id(int(graph.out_csr.indices[int(graph.out_csr.indptr[int(graph.out_degree.argmax())])]))


# Arguments after the graph, of functions that need some; more than one call where a form has kernels of its own.
ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "bfs": [
        ((_ONE,), {}),
        ((_ONE,), {"deterministic": True}),
        *(((), {"sources": hpg.id(range(k)), "parents": parents}) for k in (64, 128) for parents in (False, True)),
    ],
    "sssp": [((_ONE,), {}), ((_ONE,), {"parents": True}), ((), {"sources": hpg.id(range(32))})],
    "pagerank": [
        *(((), options) for options in ({}, {"dtype": "float32"}, {"weight": True}, {"method": "delta"})),
        *(((), {"personalization": seeds}) for seeds in (_TWO, lambda graph: np.eye(8, graph.n_vertices))),
    ],
    "all_pairs_shortest_path_length": [((), {"block": 64})],
    **{
        name: [((_hub, _beside_hub), {})]
        for name in (
            "shortest_path",
            "shortest_path_length",
            "all_shortest_paths",
            "shortest_simple_paths",
            "astar_path",
            "maximum_flow",
            "minimum_cut",
            "edge_disjoint_paths",
            "node_disjoint_paths",
        )
    },
    "all_simple_paths": [((_hub, _beside_hub), {"cutoff": 3})],
    "katz_centrality": [((), {"alpha": 1e-5})],
    **{
        name: [((_TWO,), {})] for name in ("reach", "closeness_centrality", "harmonic_centrality", "distance_histogram")
    },
    "ego_graph": [((_ONE,), {})],
    **{name: [((_TWO, 2), {})] for name in ("k_hop", "k_hop_subgraph")},
    **{name: [((), {"sources": 16, "seed": 1})] for name in ("betweenness_centrality", "edge_betweenness_centrality")},
    **{
        name: [((), {"largest_component": True})]
        for name in ("eccentricity", "diameter", "radius", "center", "periphery")
    },
    **{name: [(((_TWO, hpg.id([1, 2])),), {})] for name in FUNCTIONS["similarity"].split()},
    "simrank_similarity": [((), {"max_iterations": 2})],
    "steiner_tree": [((_TWO,), {})],
    "max_flow_min_cost": [((_hub, _beside_hub), {})],
    "min_cost_flow": [((0,), {})],
    "connected_components": [((), {}), ((), {"connection": "strong"})],
    **{name: [((2,), {})] for name in ("k_core", "k_shell", "spectral_clustering")},
    **{name: [((3,), {})] for name in ("k_truss", "count_cliques", "k_clique_communities")},
    "local_cluster": [((0,), {})],
    "sample_neighbors": [((_TWO, [2, 2]), {})],
    "node2vec_walk": [((), {"p": 0.5, "q": 2.0})],
    **{
        name: [((lambda graph: np.arange(graph.n_vertices) % 4,), {})]
        for name in [
            "attribute_assortativity_coefficient",
            "numeric_assortativity_coefficient",
            "modularity",
            "community_quality",
            "conductance",
            "silhouette",
            "map_equation",
            "partition_quality",
            "label_propagation",
            "label_spreading",
            "heat_kernel",
        ]
    },
    **{name: [((_TWO, 0.1, 0.5), {})] for name in ("sir", "sis")},
    **{name: [((_TWO,), {})] for name in FUNCTIONS["centralities"].split() if name.startswith("group_")},
    "influence_maximization": [((2,), {})],
    **{name: [((([0, 1], [1, 2]),), {})] for name in ("subgraph_isomorphisms", "count_subgraph_isomorphisms")},
    "belief_propagation": [((lambda graph: np.ones((graph.n_vertices, 2)), np.eye(2) + 1), {})],
}
CSGRAPH: dict[str, list[dict[str, Any]]] = {
    "laplacian": [{}, {"normed": True, "return_diag": True}, {"symmetrized": True}],
    "connected_components": [{"connection": "strong"}, {"directed": False}],
    "dijkstra": [{"indices": 0}, {"indices": [0, 1], "return_predecessors": True}],
    "shortest_path": [{"indices": 0, "unweighted": True}],
    "breadth_first_order": [{"i_start": 0}],
    "minimum_spanning_tree": [{}],
    "reverse_cuthill_mckee": [{}],
    "maximum_bipartite_matching": [{}],
}
PRODUCTS = ("plus_times", "min_plus", "max_plus", "lor_land", "any_pair", "plus_pair")


def _weights(kind: str) -> hpg.Graph:
    csr = hpg.datasets.kron(13, weighted=True, device="cuda").out_csr
    return hpg.Graph(csr.with_data(csr.data.astype(kind)), directed=False)


def calls() -> list[tuple[str, str, int]]:
    """The graph, the function and the number of its arguments, of each call to record; the most wanted first."""
    names = [name for listed in FUNCTIONS.values() for name in listed.split() if name != "run"]
    names += ["products", "csgraph"]
    found = [(graph, name, k) for graph in GRAPHS for name in names for k in range(len(ARGUMENTS.get(name, [()])))]
    return sorted(found, key=lambda call: call[1] not in FIRST or [*GRAPHS].index(call[0]) > 2)


def _call(graph: hpg.Graph, name: str, number: int) -> None:
    import cupy

    if name == "products":
        A = hpg.Matrix(graph)
        kinds = ("float32", "float64") if A.dtype is None else (str(A.dtype),)
        for kind, ring in product(kinds, PRODUCTS):
            A.mxv(cupy.ones(A.shape[0], kind), ring)
        A.mxm(A, "plus_pair"), A.mxm(A, "plus_pair", mask=A), A.T
        return
    if name == "csgraph":
        A = scipy_of_csr(graph.out_csr)
        for function, more in ((word, one) for word, several in CSGRAPH.items() for one in several):
            getattr(hpg.csgraph, function)(A, **more)
        return
    arguments, options = ARGUMENTS.get(name, [((), {})])[number]
    given = [_on_gpu(argument, graph) for argument in arguments]
    found = getattr(hpg, name)(graph, *given, **{name: _on_gpu(option, graph) for name, option in options.items()})
    if isinstance(found, Iterator):
        next(found)


def _on_gpu(argument: Any, graph: hpg.Graph) -> Any:
    import cupy

    if callable(argument):
        argument = argument(graph)
    return cupy.asarray(argument) if isinstance(argument, np.ndarray) else argument


def _begin(folder: str, number: Any, gpus: list[str]) -> None:
    """Begin a process that records: on one of the GPUs, and so that no other compiles the same at the same time."""
    with number.get_lock():
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus[number.value % len(gpus)]
        number.value += 1
    hpg.config.cache_dir = folder
    hpg.config.verbose = False
    compile_now = compiler.build

    def build_once(source: str, prologue: str, ltoir: Any, names: Any, arch: str, checks: str) -> Any:
        key = compiler.cache_key(source, prologue + checks, ltoir, names, arch)
        with Path(folder, f"{key}.lock").open("a") as file:
            while not try_lock(file.fileno()):
                time.sleep(0.05)
            found = compiler._read(Path(folder, "cuda", f"{key}.kernels"))
            if found is not None:
                return found[0].read_bytes(), found[1]
            made = compile_now(source, prologue, ltoir, names, arch, checks)
            with contextlib.suppress(OSError):
                compiler.keep(Path(folder, "cuda", f"{key}.kernels"), *made)
            return made

    compiler.build = build_once
    # Around all else that answers CuPy: what it asks for is recorded, and not what threads compile ahead of it. What an
    # installed wheel has need not be compiled.
    require_cupy()
    ready_kernels.serve_cupy(ready_kernels.ready_folder(cuda_extra()) or Path(folder))


def _recorded(
    call: tuple[str, str, int], graphs: dict[str, Any] = GRAPHS
) -> tuple[tuple[str, str, int], list[Request | CuPyRequest], str]:
    """What one call asks for that its process was not asked for before; and the error by which it ended, if it did."""
    compiler.requests, ready_kernels.requests = [], []
    try:
        _call(graphs[call[0]]().to("cuda"), *call[1:])
        error = ""
    except Exception as raised:  # the other calls are recorded all the same
        error = f"{type(raised).__name__}: {raised}".splitlines()[0][:150]
    return call, list(dict.fromkeys([*compiler.requests, *ready_kernels.requests])), error


def _recorded_alone(call: tuple[str, str, int]) -> Any:
    return _recorded(call, HOST_GRAPHS)


def _answers(
    tasks: list[Any], jobs: int, seconds: float, each: int, work: Any = _recorded, ordered: bool = False
) -> Any:
    """What calls ask for, as many as the time allows, made on the GPUs in processes that make up to `each` of them."""
    processes, deadline = multiprocessing.get_context("spawn"), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
        begin = cache, processes.Value("i", 0), _gpus()
        # Terminated where the block ends, whatever is still under way.
        with contextlib.suppress(multiprocessing.TimeoutError), processes.Pool(jobs, _begin, begin, each) as pool:
            answers = (pool.imap if ordered else pool.imap_unordered)(work, tasks)
            for _ in tasks:
                yield answers.next(max(deadline - time.monotonic(), 0))


def record(path: Path, jobs: int, seconds: float, work: Any = _recorded) -> int:
    """Make calls on the GPUs in several processes, as many as the time allows, and write what they ask for."""
    found: dict[Request | CuPyRequest, None] = {}
    tasks, done = calls(), 0
    for done, (call, asked, error) in enumerate(_answers(tasks, jobs, seconds, 50, work), 1):  # noqa: B007
        found |= dict.fromkeys(asked)
        if error:
            print(*call, error, flush=True)
    lines = sorted(json.dumps(request._asdict(), sort_keys=True) for request in found)
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} requests of {done} of {len(tasks)} calls in {path}")
    return 0


def record_functions(path: Path, jobs: int, seconds: float) -> int:
    """Make calls, each in a process of its own, and write what each function asks CuPy for, in order.

    Texts with options that `cupy_kernels` does not know are left out: they are few.
    """
    texts: dict[CuPyRequest, int] = {}
    found: dict[str, dict[int, None]] = {}
    tasks = [call for graph in HOST_GRAPHS for call in calls() if call[0] == graph]
    for (graph, name, number), asked, error in _answers(tasks, jobs, seconds, 1, _recorded_alone, ordered=True):
        if error:
            print(graph, name, number, error, flush=True)
        for request in asked:
            if isinstance(request, CuPyRequest) and request.options in cupy_kernels.OPTIONS:
                found.setdefault(name, {})[texts.setdefault(request, len(texts))] = None
    import cupy

    content = {
        "cupy": cupy.__version__,
        "texts": [*texts],
        "calls": {name: [*places] for name, places in found.items()},
    }
    path.write_bytes(lzma.compress(json.dumps(content).encode()))
    print(f"{len(texts)} texts of {len(found)} functions in {path}")
    return 0


def _gpus() -> list[str]:
    driver, count = cuda_driver(), ctypes.c_int(1)
    if driver is not None and driver.cuInit(0) == 0:
        driver.cuDeviceGetCount(ctypes.byref(count))
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return chosen.split(",") if chosen else [str(number) for number in range(count.value)]


def requested(path: Path = REQUESTS) -> list[Request]:
    """What was recorded of the library's kernels."""
    read = json.loads(path.read_text(encoding="utf-8"))
    return [Request(**{**one, "names": tuple(one["names"])}) for one in read if "names" in one]


def requested_by_cupy(path: Path = REQUESTS) -> list[CuPyRequest]:
    """What was recorded of CuPy's kernels; nothing where CuPy is not installed."""
    if importlib.util.find_spec("cupy") is None:
        print("CuPy is not installed: its kernels are left out")
        return []
    read = json.loads(path.read_text(encoding="utf-8"))
    theirs = [one for one in read if "names" not in one]
    return [CuPyRequest(one["source"], tuple(one["options"]), tuple(one.get("kernels", ()))) for one in theirs]


def compiled(request: Request, arch: str, folder: str) -> str:
    """Compile a request for an architecture into a folder of the wheel; an error's first line, or nothing."""
    source, prologue, names, _, checks = request
    try:
        key = compiler.cache_key(source, prologue + checks, (), names, arch, "")
        cubin, symbols = build(source, prologue, (), names, arch, checks)
        compiler.keep(Path(folder) / f"{key}.kernels", cubin, symbols)
    except Exception as error:  # of an architecture or a text of long ago: the library compiles it when it is wanted
        return f"{request.title}, {arch}: {str(error).strip().splitlines()[0][:150]}"
    return ""


def _compiled(task: tuple[Request | CuPyRequest, str, str]) -> str:
    request, arch, folder = task
    if isinstance(request, Request):
        return compiled(request, arch, folder)
    return compiled_for_cupy(request, arch, folder)


def compiled_for_cupy(request: CuPyRequest, arch: str, folder: str) -> str:
    """The same of a kernel of CuPy's."""
    import cupy
    from cupy._core.core import assemble_cupy_compiler_options

    headers = [option for option in assemble_cupy_compiler_options(()) if option.startswith("-I")]
    defined = [option for option in request.options if option.startswith("-D")]
    try:
        # As cupy.cuda.compiler does, which asks for a GPU.
        options = ["-ftz=true", *headers, *defined]
        code, symbols = translated(request.source, request.kernels, arch, options, "CuPy")
        content = json.dumps(symbols).encode() + b"\n" + code
        cache_folder.write_sealed(Path(folder) / f"{request.key(cupy.__version__, arch)}.cupy", content)
    except Exception as error:  # of another version: CuPy compiles it when it is wanted
        return f"CuPy's {request.source[-80:]!r}, {arch}: {str(error).strip().splitlines()[0][:150]}"
    return ""


def package(requests: Sequence[Request | CuPyRequest], architectures: list[str], jobs: int, place: Path) -> Path:
    """A folder to build the wheel from: the package of data and its pyproject.toml."""
    release = f"cu{compiler_version().partition('.')[0]}"
    name = f"hpgraph_kernels_{release}"
    shutil.rmtree(place, ignore_errors=True)
    folder = place / name
    folder.mkdir(parents=True)
    what = f"Kernels of hpgraph {hpg.__version__}, compiled by NVRTC {compiler_version()}."
    (folder / "__init__.py").write_text(f'"""{what}"""\n')
    tasks = [(request, arch, os.fspath(folder)) for arch, request in product(architectures, requests)]
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for error in filter(None, pool.map(_compiled, tasks, chunksize=4)):
            print(error)
    (place / "pyproject.toml").write_text(
        f"""[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{hpg.__version__}"
description = "Kernels of hpgraph compiled for {", ".join(architectures)}"
license = "Apache-2.0"

[tool.setuptools]
packages = ["{name}"]

[tool.setuptools.package-data]
"*" = ["*.kernels", "*.cubin", "*.cupy"]
"""
    )
    return place


def main() -> int:
    """Run a command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m wheels.kernels", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["record", "list", "build"])
    parser.add_argument("--architectures", nargs="+", default=ARCHITECTURES, metavar="sm_NN")
    parser.add_argument("--jobs", type=int, default=hpg.config.threads, help="processes (default: the cores)")
    parser.add_argument("--seconds", type=float, default=3600, help="record for so long at most (default: an hour)")
    parser.add_argument("--requests", type=Path, default=REQUESTS, help="default: %(default)s")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the wheel goes (default: %(default)s)")
    options = parser.parse_args()
    if options.command != "build" and not cuda_available():
        parser.error(f"{options.command} needs a CUDA GPU, and none is visible here")
    if options.command == "record":
        return record(options.requests, options.jobs, options.seconds)
    if options.command == "list":
        return record_functions(cupy_kernels.RECORD, options.jobs, options.seconds)
    start = time.monotonic()
    requests = [*requested(options.requests), *requested_by_cupy(options.requests)]
    place = package(requests, options.architectures, options.jobs, ROOT / "build" / "kernels")
    words = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", options.dist, place)
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True)
    print(done.stdout.splitlines()[-1] if done.returncode == 0 else done.stdout + done.stderr)
    size = sum(file.stat().st_size for file in options.dist.glob("hpgraph_kernels_*.whl"))
    print(f"{size / 1e6:.1f} MB, {time.monotonic() - start:.0f} s")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
