"""Sparse operations of `hpgraph.torch` beside PyTorch's own, PyTorch Geometric's and others, forward and backward.

On the GPU times are medians by its clock; on the CPU libraries take turns, and ratios are medians of those of a turn.
RoDe (M. Pang et al., "A row decomposition-based approach for sparse matrix multiplication on GPUs", PPoPP'24) is
measured where `--rode` names a library that benchmarks/rode.cu was compiled to beside its source.
"""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import hpgraph as hpg

from . import graphs
from .record import Record, command_parser
from .report import aligned

# Of a layer of graph attention: columns in, heads, and columns of a head.
INPUTS, HEADS, COLUMNS = 64, 4, 16
# Columns of features, and what is drawn around how many seeds a batch.
FEATURES, FANOUTS, BATCH = 128, [15, 10, 5], 1024
# Entries of a segment of a row, and of a tile, as RoDe's own programs choose them.
SEGMENT, VECTOR, TILE = 512, 4, 32
Works = dict[tuple[str, str], Callable[[], Any]]


class Task:
    """A graph's matrix with weights, and operands."""

    def __init__(self, name: str, device: str) -> None:
        import torch

        self.name, self.device = name, device
        self.graph = graphs.make(name, device, 1).graph
        csr = self.graph.out_csr
        self.n, self.entries = csr.shape[0], csr.nnz
        self.A = hpg.torch.Adjacency.of(self.graph)
        self.weights = self.A.values / 64
        self.A = self.A.with_values(self.weights)
        self.pattern = self.A.with_values(None)
        self.own = self.A.to_torch()
        torch.manual_seed(3)

    def rows(self, columns: int, kind: str = "float32", gradient: bool = False) -> Any:
        import torch

        return torch.randn(self.n, columns, device=self.device).to(getattr(torch, kind)).requires_grad_(gradient)


def products(task: Task, rode: Any) -> Iterator[Works]:
    """SpMM and SDDMM, forward; each group has operands of its own."""
    import torch

    ht = hpg.torch
    for columns in (64, 16):
        X = task.rows(columns)
        title = f"SpMM, {columns} columns"
        peers: Works = {("hpgraph", title): lambda X=X: ht.spmm(task.A, X)}
        peers["PyTorch", title] = lambda X=X: task.own @ X
        if rode is not None and columns >= TILE:
            peers["RoDe", title] = rode(task, X)
        peers["hpgraph", title + ", no weights"] = lambda X=X: ht.spmm(task.pattern, X)
        for kind in ("bfloat16", "float16") if task.device == "cuda" else ():
            H, half = X.to(getattr(torch, kind)), task.A.with_values(task.weights.to(getattr(torch, kind)))
            peers["hpgraph", f"{title}, {kind}"] = lambda H=H, half=half: ht.spmm(half, H)
        yield peers
        del X, peers
    X, Y = task.rows(64), task.rows(64)
    sampled: Works = {("hpgraph", "SDDMM, 64 columns"): lambda: ht.sddmm(task.A, X, Y)}
    zero = torch.sparse_csr_tensor(
        task.own.crow_indices(), task.own.col_indices(), torch.zeros_like(task.weights), size=task.own.shape
    )
    # In rows of its own the transpose takes cuSPARSE ten times as long.
    sampled["PyTorch", "SDDMM, 64 columns"] = lambda: torch.sparse.sampled_addmm(zero, X, Y.T, beta=0.0)
    yield sampled


def backward(task: Task) -> Iterator[Works]:
    """Gradients of SpMM to the dense operand, and to both."""
    import torch

    X, G = task.rows(64, gradient=True), task.rows(64)
    weights = task.weights.clone().requires_grad_()
    for title, A in (("no weights", task.pattern), ("weights", task.A), ("weights, both", task.A.with_values(weights))):
        to = (X, weights) if title == "weights, both" else (X,)
        Y = hpg.torch.spmm(A, X)
        yield {("hpgraph", f"SpMM backward, 64 columns, {title}"): (
            lambda Y=Y, to=to: torch.autograd.grad(Y, to, G, retain_graph=True))}  # fmt: skip
        del Y


def _attention() -> Any:
    """A layer of PyTorch Geometric, and the same on our operations."""
    import torch.nn.functional as F
    from torch_geometric.nn import GATConv

    class Ours(GATConv):  # type: ignore[misc]
        def forward(self, x: Any, A: Any) -> Any:
            x = self.lin(x).view(-1, self.heads, self.out_channels)
            source, target = (x * self.att_src).sum(-1), (x * self.att_dst).sum(-1)
            scores = F.leaky_relu(hpg.torch.sddmm(A, target, source, op="add"), self.negative_slope)
            out = hpg.torch.spmm(A.with_values(hpg.torch.edge_softmax(A, scores)), x)
            return out.flatten(1) + self.bias

    return GATConv, Ours


def attention(task: Task) -> Iterator[Works]:
    """A layer of graph attention, forward and backward."""
    import torch

    x = task.rows(INPUTS, gradient=True)
    edges = task.A.indices.flip(0)
    for library, layer, takes in zip(("PyG", "hpgraph"), _attention(), (edges, task.pattern), strict=True):
        torch.manual_seed(5)
        made = layer(INPUTS, COLUMNS, heads=HEADS, add_self_loops=False).to(task.device)

        def step(made: Any = made, takes: Any = takes) -> Any:
            made.zero_grad()
            x.grad = None
            out = made(x, takes)
            out.square().mean().backward()
            return out.detach()

        yield {(library, "GAT layer, forward and backward"): step}


class _RoDe:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)

    def __call__(self, task: Task, X: Any) -> Callable[[], Any]:
        import torch

        indptr = task.own.crow_indices().cpu().numpy()
        segments = [torch.from_numpy(part).cuda() for part in _segments(indptr)]
        offsets, columns = task.own.crow_indices().int(), task.own.col_indices().int()
        out = X.new_empty(task.n, X.shape[1])
        given = [offsets, columns, task.weights, *segments, X, out]
        pointers = [ctypes.c_void_p(one.data_ptr()) for one in given]

        def call() -> Any:
            # Pieces of a row are added to what is there.
            out.zero_()
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            sizes = len(segments[0]), len(segments[1]), task.n, X.shape[1]
            self.library.rode_spmm(*sizes, *pointers, stream)
            return given[-1]

        return call


def _segments(indptr: Any) -> tuple[Any, Any, Any]:
    """Rows of segments, rows of remainders, and where segments begin: SparseMatrix::RowDivide2Segment of RoDe."""
    begin, padding = indptr[:-1], indptr[:-1] % VECTOR
    entries = np.diff(indptr) + padding
    whole = np.maximum(-(-entries // SEGMENT) - 1, 0)
    rest = entries - whole * SEGMENT
    count = whole + (rest >= TILE)
    row = np.repeat(np.arange(len(begin)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    start = begin[row] + np.where(number > 0, number * SEGMENT - padding[row], 0)
    left = np.flatnonzero(rest % TILE)
    return tuple(part.astype(np.int32) for part in (row, left, np.append(start, indptr[-1])))


def loader(task: Task, batches: int = 60) -> dict[str, float]:
    """GB of features a second that batches bring from page-locked memory, and what a copy of one block takes."""
    import cupy
    import torch

    x = torch.zeros(task.n, FEATURES, pin_memory=True)
    block, there = x[: 1 << 20], torch.empty(min(1 << 20, task.n), FEATURES, device="cuda")
    link = statistics.median(_on_gpu(lambda: there.copy_(block, non_blocking=True), 5))
    draw = hpg.NeighborLoader(task.graph, FANOUTS, batch_size=BATCH, shuffle=True, seed=1).attach(x.numpy())
    took, rows = [], 0
    start = None
    for at, batch in enumerate(draw):
        if at == 5:
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
        elif at > 5:
            rows += len(batch.features)
        if at == batches:
            break
    cupy.cuda.Device().synchronize()
    took.append(time.perf_counter() - (start or 0.0))
    return {"link_gb_s": there.nbytes / link / 1e9, "loader_gb_s": rows * FEATURES * 4 / took[0] / 1e9}


def _on_gpu(call: Callable[[], Any], repeats: int) -> list[float]:
    import torch

    for _ in range(2):
        call()
    found = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return found


def _in_turns(works: Works, repeats: int) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    for call in works.values():
        call()
    for _ in range(repeats):
        for key, call in works.items():
            start = time.perf_counter()
            call()
            found[key].append(time.perf_counter() - start)
    return found


def measured(task: Task, groups: Iterator[Works], repeats: int) -> Iterator[dict[str, Any]]:
    """A result for each work and library; the same work's answers are compared."""
    for works in groups:
        answers: dict[str, Any] = {}
        for (library, work), call in works.items():
            found = call()
            if hasattr(found, "shape"):
                found = found.values() if found.layout is not None and "csr" in str(found.layout) else found
                first = answers.setdefault(work, (library, found.float()[:100_000].clone()))
                apart = float((found.float()[:100_000] - first[1]).abs().max() / first[1].abs().max().clamp(min=1e-30))
                if apart > 1e-3:
                    raise AssertionError(f"{work} by {library} and {first[0]} differ by {apart:.2g} of the largest")
        if task.device == "cuda":
            times = {key: _on_gpu(call, repeats) for key, call in works.items()}
        else:
            times = _in_turns(works, repeats)
        for (library, work), seconds in times.items():
            found = {"graph": task.name, "work": work, "library": library, "median_s": statistics.median(seconds)}
            ours = times.get(("hpgraph", work))
            if ours is not None and library != "hpgraph":
                found["ours_of_theirs"] = statistics.median(a / b for a, b in zip(ours, seconds, strict=True))
            yield found


def main(words: Sequence[str]) -> int:
    """Measure, print a table, and save the results.

    Returns
    -------
    int
        0.
    """
    import torch

    parser = command_parser("torch", __doc__)
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"], help="(cuda)")
    parser.add_argument("--graphs", help="names separated by commas")
    parser.add_argument("--attention", help="graphs of the layer (kron20 and road2048 on the GPU)")
    parser.add_argument("--loader", default="", help="graphs whose batches bring features to the GPU")
    parser.add_argument("--repeats", type=int, default=9, help="calls of which the median is taken (9)")
    parser.add_argument("--rode", help="the library of benchmarks/rode.cu")
    chosen = parser.parse_args(words)
    device = chosen.device
    torch.set_num_threads(hpg.config.threads)
    record = Record.of(chosen, words, device)
    record.content["versions"]["torch"] = torch.__version__
    found: list[dict[str, Any]] = []

    def save(one: dict[str, Any]) -> None:
        found.append(one)
        record.save(torch=found)
        print(*(f"{value:.4g}" if isinstance(value, float) else value for value in one.values()), flush=True)

    rode = _RoDe(chosen.rode) if chosen.rode else None
    for name in (chosen.graphs or ",".join(graphs.default(device))).split(","):
        task = Task(name, device)
        for group in (products(task, rode), backward(task)):
            for one in measured(task, group, chosen.repeats):
                save(one)
        del task
    of_attention = (
        ("kron20,road2048" if device == "cuda" else "kron12") if chosen.attention is None else chosen.attention
    )
    for name in filter(None, of_attention.split(",")):
        task = Task(name, device)
        for one in measured(task, attention(task), chosen.repeats):
            save(one)
        del task
    for name in filter(None, chosen.loader.split(",")):
        save({"graph": name, "work": "features by NeighborLoader", **loader(Task(name, device))})
    times = {(one["graph"], one["work"], one["library"]): one["median_s"] for one in found if "median_s" in one}
    libraries = list(dict.fromkeys(library for _, _, library in times))
    rows = [["ms", *libraries]]
    for graph, work in dict.fromkeys((graph, work) for graph, work, _ in times):
        cells = [times.get((graph, work, library)) for library in libraries]
        rows.append([f"{graph}, {work}", *("" if cell is None else f"{cell * 1e3:.3g}" for cell in cells)])
    print("\n".join([*aligned(rows), f"saved in {record.path}"]))
    return 0
