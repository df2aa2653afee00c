"""hpgraph's samplers behind PyTorch Geometric's interface, for its `NodeLoader` and `LinkLoader`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from hpgraph.algorithms.hop_sampling import Drawable, HopSample, checked_draws, checked_times, sample_hops
from hpgraph.algorithms.neighbor_sampling import fanouts_of
from hpgraph.containers.times import as_span
from hpgraph.core.errors import optional
from hpgraph.formats import CSR
from hpgraph.interop.hetero_sampling import hops_by_relation
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import Sums

# Time of seeds without a time.
_NEVER = np.int64(2**63 - 1)


class NeighborSampler:
    """A sampler for `torch_geometric.loader.NodeLoader` and `LinkLoader`, in place of the one that needs pyg-lib.

    Parameters
    ----------
    data : torch_geometric.data.Data or HeteroData
        With ``edge_index``; sampling runs on the CPU.
    num_neighbors : sequence of int, int, or dict of such
        As for `hpgraph.sample_neighbors`; a dict by relation of a HeteroData, whose other relations are not followed.
    replace, disjoint : bool
        As for `hpgraph.sample_neighbors`.
    time_attr : str, optional
        Attribute of vertices or of edges with times: only vertices, or edges, not later than the seed are drawn.
        Samples are disjoint then. Seeds without a time (``input_time=``) have that of their vertex.
    temporal_strategy : {"uniform", "last"}
        Whether to draw uniformly among these, or to take the latest.
    window : number, optional
        Draw only vertices, or edges, at most this long before the seed.
    weight_attr : str, optional
        Attribute of edges with weights for the draws; not together with `time_attr`.

    Notes
    -----
    Draws follow from PyTorch's own generator: `torch.manual_seed` repeats them, and workers of a loader differ. Samples
    are drawn by several threads; if a loader has workers as well, start these by ``multiprocessing_context="spawn"``.
    Negative edges of a LinkLoader are those of PyTorch Geometric, some of which may be edges; none is of those of
    `hpgraph.torch.negative_edges`.

    Examples
    --------
    >>> import torch, hpgraph.torch                                         # doctest: +SKIP
    >>> from torch_geometric.loader import NodeLoader                       # doctest: +SKIP
    >>> sampler = hpgraph.torch.NeighborSampler(data, [10, 10])             # doctest: +SKIP
    >>> for batch in NodeLoader(data, sampler, batch_size=1024): ...        # doctest: +SKIP
    """

    # Read by loaders: edges keep the numbering of `data`.
    edge_permutation = None

    def __init__(
        self, data: Any, num_neighbors: Any, *, replace: bool = False, disjoint: bool = False,
        time_attr: str | None = None, temporal_strategy: str = "uniform", window: Any = None,
        weight_attr: str | None = None,
    ) -> None:  # fmt: skip
        # Registered as a subclass for isinstance checks.
        _geometric().BaseSampler.register(type(self))
        if time_attr is not None and weight_attr is not None:
            raise ValueError("weight_attr and time_attr cannot be given together: edges up to a time are drawn alike")
        if not hasattr(data, "num_nodes"):
            raise TypeError(f"data must be a Data or HeteroData, not {type(data).__name__}")
        hetero = hasattr(data, "edge_types")
        self._counts = {kind: data[kind].num_nodes for kind in data.node_types} if hetero else {None: data.num_nodes}
        stores = {kind: data[kind] if hetero else data for kind in self._counts}
        edges = {relation: data[relation] for relation in data.edge_types} if hetero else {None: data}
        self._hops = (
            hops_by_relation(edges, num_neighbors, _known(edges)) if hetero else {None: fanouts_of(num_neighbors)}
        )
        self._time = None if time_attr is None else _times_of_vertices(data, stores, time_attr, hetero)
        timed = time_attr is not None
        window = None if window is None else as_span(window, "window", None)
        self._how = checked_draws(replace, disjoint, window, temporal_strategy, timed)
        self._relations = {
            relation: self._drawable(relation, edges[relation], time_attr, weight_attr) for relation in self._hops
        }
        self.num_nodes = self._counts if hetero else data.num_nodes
        self.disjoint = self._how.disjoint

    def _drawable(self, relation: Any, store: Any, time_attr: str | None, weight_attr: str | None) -> Drawable:
        """The edges of a relation by the vertices that they lead to."""
        if getattr(store, "edge_index", None) is None:
            raise ValueError(f"data has no edge_index{'' if relation is None else f' of {relation}'}")
        of, to = (None, None) if relation is None else (relation[2], relation[0])
        source, target = np.asarray(store.edge_index.cpu()).astype(np.int64, copy=False)
        shape = self._counts[of], self._counts[to]
        for kind, ids, n in ((to, source, shape[1]), (of, target, shape[0])):
            if len(ids) and not (ids.min() >= 0 and ids.max() < n):
                raise IndexError(
                    f"edge_index must have ids below {n}, the number of vertices{f' of {kind}' if kind else ''}"
                )
        csr = CSR.from_coo(target, source, np.arange(len(source)), shape, duplicates="keep")
        entry, csr = csr.data, csr.pattern
        if time_attr is not None:
            time = store.get(time_attr) if self._time is None else self._time.get(to)
            if time is not None:
                time = _array(time, time_attr)
                return Drawable.of_times(of, to, csr, entry, time[entry if self._time is None else csr.indices])
        sums = None
        if weight_attr is not None:
            if weight_attr not in store:
                raise ValueError(
                    f"weight_attr: data has no {weight_attr!r}{'' if relation is None else f' of {relation}'}"
                )
            sums = _sums(csr, _array(store[weight_attr], weight_attr)[entry], weight_attr)
            csr = csr.with_data(_array(store[weight_attr], weight_attr)[entry], copy=False)
        return Drawable(of, to, csr, entry, sums)

    def _sample(self, seed: Any, seed_time: Any = None) -> Any:
        seeds = {kind: _ids(ids) for kind, ids in (seed if isinstance(seed, dict) else {None: seed}).items()}
        for kind, ids in seeds.items():
            if len(ids) and not (ids.min() >= 0 and ids.max() < self._counts[kind]):
                raise IndexError(f"seeds must be from 0 to {self._counts[kind] - 1}{f' of {kind}' if kind else ''}")
        times = {}
        if self._how.disjoint and (seed_time is not None or self._time is not None):
            seed_times = seed_time if isinstance(seed_time, dict) else {None: seed_time}
            for kind, ids in seeds.items():
                time = seed_times.get(kind)
                if time is None and self._time is not None and kind in self._time:
                    time = _array(self._time[kind], "time")[ids]
                times[kind] = checked_times(_NEVER if time is None else np.asarray(time), len(ids), "cpu")
        draw_seed = int(torch.randint(2**62, ()))
        sampled = sample_hops(self._relations, self._counts, seeds, times, self._hops, self._how, draw_seed, "cpu")
        return _output(_as_given(sampled, seeds), None not in self._counts)

    def sample_from_nodes(self, inputs: Any, **_: Any) -> Any:
        """The sample around a batch of vertices: a `SamplerOutput` or `HeteroSamplerOutput`."""
        return _geometric().neighbor_sampler.node_sample(inputs, self._sample)

    def sample_from_edges(self, inputs: Any, neg_sampling: Any = None, **_: Any) -> Any:
        """The sample around the ends of a batch of edges, and of negative ones."""
        one_kind = self._time.get(None) if self._time is not None and None in self._counts else self._time
        return _geometric().neighbor_sampler.edge_sample(
            inputs, self._sample, self.num_nodes, self.disjoint, one_kind, neg_sampling
        )

    def __repr__(self) -> str:
        return f"NeighborSampler({len(self._relations)} relations, {self._how})"


def _geometric() -> Any:
    optional("torch_geometric.sampler.neighbor_sampler", "torch", "hpgraph.torch.NeighborSampler")
    return optional("torch_geometric.sampler", "torch", "hpgraph.torch.NeighborSampler")


def _known(edges: dict[Any, Any]) -> Any:
    def meant(relation: Any) -> Any:
        if relation not in edges:
            raise ValueError(f"num_neighbors: {relation!r} is no relation of data; there are {list(edges)}")
        return relation

    return meant


def _times_of_vertices(data: Any, stores: dict[Any, Any], title: str, hetero: bool) -> dict[Any, Any] | None:
    """Times of vertices by kind; None if times are of edges."""
    if not hetero:
        if title not in data:
            raise ValueError(f"time_attr: data has no {title!r}")
        return {None: data[title]} if data.is_node_attr(title) else None
    of_kind = {kind: store[title] for kind, store in stores.items() if title in store}
    if not of_kind and not any(title in store for store in data.edge_stores):
        raise ValueError(f"time_attr: neither vertices nor edges of data have {title!r}")
    return of_kind or None


def _array(given: Tensor, title: str) -> Any:
    array = np.asarray(given.detach().cpu()).reshape(-1)
    if array.dtype.kind not in "iuf" or np.isnan(array).any():
        raise ValueError(f"{title} must be numbers, without NaN")
    return array


def _ids(given: Tensor) -> Any:
    if given.is_floating_point() or given.requires_grad:
        raise TypeError(f"seeds must be integers, not {given.dtype}")
    return np.asarray(given.cpu()).astype(np.int64, copy=False)


def _sums(csr: CSR, weights: Any, title: str) -> Sums:
    if len(weights) and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError(f"weight_attr: {title!r} must be finite and not negative")
    return sampling("cpu").running_sums(csr.with_data(weights, copy=False))


def _as_given(found: HopSample, seeds: dict[Any, Any]) -> HopSample:
    """The sample with the seeds first, in the given order with repetitions, as loaders expect."""
    renumbered = {}
    for kind, given in seeds.items():
        distinct = found.vertices_of_hop[kind][0]
        if distinct == len(given):
            continue
        first = np.unique(found.seeds[kind], return_index=True)[1]
        later = np.arange(distinct, len(found.vertex[kind])) + len(given) - distinct
        renumbered[kind] = np.concatenate((first, later))
        found.vertex[kind] = np.concatenate((given, found.vertex[kind][distinct:]))
        found.vertices_of_hop[kind][0] = len(given)
    if renumbered:
        for relation, (source, target) in found.edge_index.items():
            to, of = (None, None) if relation is None else (relation[0], relation[2])
            ends = [renumbered[kind][ids] if kind in renumbered else ids for kind, ids in ((to, source), (of, target))]
            found.edge_index[relation] = np.stack(ends)
    return found


def _output(found: HopSample, hetero: bool) -> Any:
    def tensors(part: dict[Any, Any] | None) -> Any:
        return None if part is None else {key: torch.from_numpy(array) for key, array in part.items()}

    ends = {key: torch.from_numpy(array) for key, array in found.edge_index.items()}
    rows, columns = ({key: pair[side] for key, pair in ends.items()} for side in (0, 1))
    parts = (
        tensors(found.vertex), rows, columns, tensors(found.edge), tensors(found.batch), found.vertices_of_hop,
        found.edges_of_hop,
    )  # fmt: skip
    if hetero:
        return _geometric().HeteroSamplerOutput(*parts)
    return _geometric().SamplerOutput(*(None if part is None else part[None] for part in parts))
