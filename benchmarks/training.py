"""GraphSAGE on a generated graph of the size of ogbn-products: seconds an epoch, loaders and layers side by side.

W. Hamilton, R. Ying, J. Leskovec, "Inductive representation learning on large graphs", NIPS'17; three layers, fan-outs
15, 10, 5 and 1,024 seeds a batch, as in the examples of PyTorch Geometric. Edges join vertices of one class more often
than others, and features tell little of a class, so that the accuracy shows whether neighbours were gathered.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device

from .record import Record, command_parser
from .report import aligned

VERTICES, EDGES, CLASSES, WIDTH = 2_449_029, 61_859_140, 47, 100
TRAINED, TESTED = 196_615, 100_000
FANOUTS, BATCH, HIDDEN = [15, 10, 5], 1024, 256


def main(words: Sequence[str]) -> int:
    """Train by each loader and layer, print a table, and save the results.

    Returns
    -------
    int
        1 where accuracies differ by more than .02 and by more than chance, else 0.
    """
    parser = command_parser("training", __doc__)
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"], help="where the model is trained (cuda)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the vertices and edges (1)")
    parser.add_argument("--epochs", type=int, default=3, help="(3)")
    parser.add_argument("--ways", default=",".join(WAYS), help="names separated by commas, of " + ", ".join(WAYS))
    chosen = parser.parse_args(words)
    record = Record.of(chosen, words, chosen.device)
    task = Task(chosen.device, chosen.scale)
    found = []
    for way in chosen.ways.split(","):
        found.append({"way": way, **_trained(task, way, chosen.epochs)})
        record.save(training=found, scale=chosen.scale)
        print(found[-1], flush=True)
    rows = [["loader/layers", "epochs, s", "accuracy"]]
    rows += [[row["way"], " ".join(f"{s:.2f}" for s in row["epochs_s"]), f"{row['accuracy']:.3f}"] for row in found]
    print("\n".join([*aligned(rows), f"saved in {record.path}"]))
    accuracies = [row["accuracy"] for row in found]
    # Twice what chance makes of so few, or .02.
    return int(max(accuracies) - min(accuracies) > max(0.02, 2 / len(task.test) ** 0.5))


class Task:
    """The graph, its features in page-locked host memory, and its classes."""

    def __init__(self, device: str, scale: float, seed: int = 7) -> None:
        import torch

        rng = np.random.default_rng(seed)
        n, edges = int(VERTICES * scale), int(EDGES * scale)
        # Degrees fall as a power: ends are drawn by the square of a uniform number, of all vertices or of one class.
        source = (n * rng.random(edges, dtype=np.float32) ** 2).astype(np.int64)
        target = (n * rng.random(edges, dtype=np.float32) ** 2).astype(np.int64)
        within = rng.random(edges, dtype=np.float32) < 0.6
        target = np.where(within, target - target % CLASSES + source % CLASSES, target).clip(0, n - 1)
        y = np.arange(n) % CLASSES
        centre = rng.standard_normal((CLASSES, WIDTH), dtype=np.float32)
        x = 0.15 * centre[y] + rng.standard_normal((n, WIDTH), dtype=np.float32)
        # Ids say nothing of classes.
        name = rng.permutation(n)
        ends = (to_device(name[side], device) for side in (source, target))
        self.graph = hpg.Graph.from_edges(*ends, n_vertices=n, directed=False)
        self.y = torch.from_numpy(np.empty_like(y))
        self.x = torch.from_numpy(np.empty_like(x))
        self.y[name], self.x[name] = torch.from_numpy(y), torch.from_numpy(x)
        if device == "cuda":
            self.x = self.x.pin_memory()
        order = rng.permutation(n)
        self.train, self.test = order[: int(TRAINED * scale)], order[-int(TESTED * scale) :]
        self.y, self.device = self.y.to(device), device
        self._geometric: Any = None

    def batches(self, seeds: np.ndarray, seed: int, shuffle: bool = True) -> Iterator[tuple[Any, Any, Any]]:
        """Features, edge index and seeds of each sample, by `hpgraph.NeighborLoader`."""
        import torch

        options = {"batch_size": BATCH, "shuffle": shuffle, "seed": seed}
        loader = hpg.NeighborLoader(self.graph, FANOUTS, hpg.id(seeds), **options)
        for batch in loader.attach(self.x.numpy()):
            chosen = torch.from_dlpack(batch.vertex[: batch.vertices_of_hop[0]]).long()
            yield torch.from_dlpack(batch.features), torch.from_dlpack(batch.edge_index), chosen

    def geometric(self, seeds: np.ndarray, seed: int) -> Iterator[tuple[Any, Any, Any]]:
        """The same by PyTorch Geometric's loader, with our sampler where pyg-lib is not installed."""
        import torch

        if self._geometric is None:
            self._geometric = self._loader(seeds)
        torch.manual_seed(seed)
        for batch in self._geometric:
            x, edges = batch.x.to(self.device), batch.edge_index.to(self.device)
            yield x, edges, batch.n_id[: batch.batch_size].to(self.device)

    def _loader(self, seeds: np.ndarray) -> Any:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader, NodeLoader
        from torch_geometric.typing import WITH_PYG_LIB

        csr = self.graph.to("cpu").out_csr
        ends = np.stack([csr.expand_rows(), csr.indices]).astype(np.int64)
        data = Data(x=self.x, edge_index=torch.from_numpy(ends), num_nodes=csr.shape[0])
        options: dict[str, Any] = {"input_nodes": torch.from_numpy(seeds), "batch_size": BATCH, "shuffle": True}
        if WITH_PYG_LIB:
            return NeighborLoader(data, FANOUTS, **options)
        return NodeLoader(data, hpg.torch.NeighborSampler(data, FANOUTS), **options)


def _own_layer(inputs: int, outputs: int) -> Any:
    import torch

    class Sage(torch.nn.Module):
        """The mean of neighbours beside the vertex's own."""

        def __init__(self) -> None:
            super().__init__()
            self.near, self.own = torch.nn.Linear(inputs, outputs), torch.nn.Linear(inputs, outputs, bias=False)

        def forward(self, x: Any, A: Any) -> Any:
            return self.near(hpg.torch.spmm(A, x, "mean")) + self.own(x)

    return Sage()


def _adjacency(edges: Any, n: int) -> Any:
    return hpg.torch.Adjacency.of(edges.flip(0), shape=(n, n))


def _geometric_layer(inputs: int, outputs: int) -> Any:
    from torch_geometric.nn import SAGEConv

    return SAGEConv(inputs, outputs)


# Loader, layer, and what the layer takes of an edge index.
WAYS: dict[str, tuple[Callable[..., Any], Callable[[int, int], Any], Callable[[Any, int], Any]]] = {
    "hpgraph/hpgraph": (Task.batches, _own_layer, _adjacency),
    "hpgraph/PyG": (Task.batches, _geometric_layer, lambda edges, n: edges.long()),
    "PyG/PyG": (Task.geometric, _geometric_layer, lambda edges, n: edges.long()),
}


def _trained(task: Task, way: str, epochs: int) -> dict[str, Any]:
    import torch
    import torch.nn.functional as F

    batches, layer, edges_of = WAYS[way]
    torch.manual_seed(1)
    widths = [WIDTH, HIDDEN, HIDDEN, CLASSES]
    layers = torch.nn.ModuleList(layer(*pair) for pair in pairwise(widths)).to(task.device)
    optimizer = torch.optim.Adam(layers.parameters(), 0.003)

    def scores(x: Any, edges: Any) -> Any:
        A = edges_of(edges, len(x))
        for number, one in enumerate(layers):
            x = one(x, A) if number == 0 else one(F.dropout(x.relu(), 0.3, layers.training), A)
        return x

    seconds = []
    for epoch in range(epochs):
        start = time.perf_counter()
        for x, edges, seeds in batches(task, task.train, epoch):
            optimizer.zero_grad()
            F.cross_entropy(scores(x, edges)[: len(seeds)], task.y[seeds]).backward()
            optimizer.step()
        if task.device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    layers.eval()
    right = 0
    with torch.no_grad():
        for x, edges, seeds in task.batches(task.test, 99, shuffle=False):
            right += int((scores(x, edges)[: len(seeds)].argmax(1) == task.y[seeds]).sum())
    return {"epochs_s": seconds, "accuracy": right / len(task.test)}
