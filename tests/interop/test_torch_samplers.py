"""Samples for PyTorch Geometric's loaders, and edges that are not there, against the edges themselves."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

torch = pytest.importorskip("torch")

import hpgraph.torch as ht  # noqa: E402

N, M = 60, 500


def edges(n: int = N, m: int = M, to: int | None = None, seed: int = 1) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randint(most, (m,), generator=generator) for most in (n, to or n)])


def of_one_kind() -> Any:
    data = pytest.importorskip("torch_geometric.data").Data(x=torch.arange(N), edge_index=edges(), num_nodes=N)
    data.number, data.late = torch.arange(M), edges(100, M)[0]
    data.born, data.heavy = edges(100, N)[0], edges(5, M)[0].float()
    return data


def of_several_kinds() -> Any:
    data = pytest.importorskip("torch_geometric.data").HeteroData()
    data["author"].num_nodes, data["paper"].x = 20, torch.arange(N)
    data["paper"].born = edges(100, N)[0]
    data["author", "writes", "paper"].edge_index = edges(20, M, N)
    data["paper", "rev_writes", "author"].edge_index = edges(20, M, N).flip(0)
    data["paper", "cites", "paper"].edge_index = edges()
    return data


def loaders() -> Any:
    return pytest.importorskip("torch_geometric.loader")


WAYS: list[dict[str, Any]] = [
    {}, {"replace": True}, {"disjoint": True}, {"weight_attr": "heavy"}, {"time_attr": "born"}, {"time_attr": "late"},
    {"time_attr": "late", "temporal_strategy": "last", "window": 20},
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS)
def test_node_loader(how: dict[str, Any]) -> None:
    data, seeds = of_one_kind(), torch.tensor([4, 9, 4, 59, 30])
    times = torch.tensor([50, 60, 70, 80, 10]) if "time_attr" in how else None
    sampler = ht.NeighborSampler(data, [3, 2], **how)
    loader = loaders().NodeLoader(data, sampler, input_nodes=seeds, input_time=times, batch_size=3)
    for batch, given in zip(loader, seeds.split(3), strict=True):
        assert torch.equal(batch.n_id[: batch.batch_size], given) and batch.batch_size == len(given)
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(batch.number, batch.e_id) and torch.equal(batch.x, batch.n_id)
        assert sum(batch.num_sampled_nodes) == len(batch.n_id) and sum(batch.num_sampled_edges) == len(batch.e_id)
        assert len(batch.num_sampled_nodes) == 3
        if "weight_attr" in how:
            assert (batch.heavy > 0).all()
        if times is None:
            continue
        limit = batch.seed_time[batch.batch]
        drawn_for = batch.edge_index[1]
        time = batch.late if how["time_attr"] == "late" else batch.born[batch.edge_index[0]]
        assert (time <= limit[drawn_for]).all()
        if "window" in how:
            assert (time >= limit[drawn_for] - 20).all()
    one, other = (ht.NeighborSampler(data, [3, 2], **how) for _ in range(2))
    drawn = []
    for sampler in (one, other):
        torch.manual_seed(5)
        drawn.append([batch.e_id.tolist() for batch in loaders().NodeLoader(data, sampler, batch_size=16)])
        assert drawn[0] == drawn[-1]
        torch.manual_seed(6)
    again = [batch.e_id.tolist() for batch in loaders().NodeLoader(data, one, batch_size=16)]
    assert again != drawn[0] or "last" in how.values()


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("negative", [None, "binary", "triplet"])
def test_link_loader(how: dict[str, Any], negative: str | None) -> None:
    data = of_one_kind()
    times = torch.arange(40, 47) if "time_attr" in how else None
    if times is not None and how["time_attr"] == "late" and negative:
        pytest.skip("PyTorch Geometric draws negatives by times of vertices alone")
    data.born[:] = 0
    loader = loaders().LinkLoader(
        data,
        ht.NeighborSampler(data, [2, 2], **how),
        edge_label_index=data.edge_index[:, :7],
        edge_label_time=times,
        neg_sampling=negative,
        batch_size=4,
    )
    for batch, given in zip(loader, data.edge_index[:, :7].split(4, dim=1), strict=True):
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        k = given.shape[1]
        if negative == "triplet":
            assert torch.equal(batch.n_id[batch.src_index], given[0])
            assert torch.equal(batch.n_id[batch.dst_pos_index], given[1])
            assert batch.dst_neg_index.shape == (k,)
        else:
            assert torch.equal(batch.n_id[batch.edge_label_index[:, :k]], given)
            assert batch.edge_label_index.shape[1] == (2 * k if negative else k)


@pytest.mark.parametrize("how", [{}, {"disjoint": True}, {"time_attr": "born"}])
@pytest.mark.parametrize("negative", [None, "binary", "triplet"])
def test_loaders_of_several_kinds(how: dict[str, Any], negative: str | None) -> None:
    data, times = of_several_kinds(), torch.full((5,), 40)
    fanouts = {("author", "writes", "paper"): [2, 1], ("paper", "rev_writes", "author"): [1, 3]}
    seeds = torch.tensor([4, 9, 4, 59, 30])
    timed = times if how.get("time_attr") else None
    nodes = loaders().NodeLoader(
        data, ht.NeighborSampler(data, [3, 2], **how), input_nodes=("paper", seeds), input_time=timed, batch_size=5
    )
    for batch in nodes:
        assert torch.equal(batch["paper"].n_id[:5], seeds)
        for kind in data.edge_types:
            (of, _, to), store = kind, batch[kind]
            at = torch.stack([batch[of].n_id[store.edge_index[0]], batch[to].n_id[store.edge_index[1]]])
            assert torch.equal(data[kind].edge_index[:, store.e_id], at)
        assert timed is None or (batch["paper"].born[5:] <= 40).all()
    with_times = {} if timed is None else {"edge_label_time": times}
    if timed is not None:
        data["paper"].born[:] = 0
    links = loaders().LinkLoader(
        data, ht.NeighborSampler(data, fanouts, **how), batch_size=5, neg_sampling=negative,
        edge_label_index=(("author", "writes", "paper"), edges(20, M, N)[:, :5]), **with_times,
    )  # fmt: skip
    (batch,) = links
    assert ("paper", "cites", "paper") not in batch.num_sampled_edges_dict
    if negative != "triplet":
        label = batch["author", "writes", "paper"].edge_label_index[:, :5]
        found = torch.stack([batch["author"].n_id[label[0]], batch["paper"].n_id[label[1]]])
        assert torch.equal(found, edges(20, M, N)[:, :5])


def test_samplers_travel_to_workers() -> None:
    sampler, seeds = ht.NeighborSampler(of_one_kind(), [2, 2], time_attr="late"), torch.arange(9)
    drawn = []
    for one in (sampler, pickle.loads(pickle.dumps(sampler))):
        torch.manual_seed(2)
        drawn.append(one._sample(seeds, seeds * 10).edge.tolist())
    assert drawn[0] == drawn[1] and len(drawn[0]) > 9


def test_bad_samplers() -> None:
    data, several = of_one_kind(), of_several_kinds()
    for call, error, text in (
        (lambda: ht.NeighborSampler(data, [2], time_attr="late", weight_attr="heavy"), ValueError, "together"),
        (lambda: ht.NeighborSampler(data, [2], time_attr="age"), ValueError, "no 'age'"),
        (lambda: ht.NeighborSampler(data, [2], weight_attr="age"), ValueError, "weight_attr: data has no 'age'"),
        (lambda: ht.NeighborSampler(several, [2], weight_attr="age"), ValueError, "no 'age' of "),
        (lambda: ht.NeighborSampler(several, [2], time_attr="age"), ValueError, "neither vertices nor edges"),
        (lambda: ht.NeighborSampler(data, [2], window=3), ValueError, "give time="),
        (lambda: ht.NeighborSampler(data, [2], time_attr="late", window=-3), ValueError, "window must be a length of"),
        (lambda: ht.NeighborSampler(None, [2]), TypeError, "data must be a Data or HeteroData, not NoneType"),
        (lambda: ht.NeighborSampler(data, [2.5]), TypeError, "whole numbers"),
        (lambda: ht.NeighborSampler(several, {"cites": [2]}), ValueError, "no relation of data"),
    ):
        with pytest.raises(error, match=text):
            call()
    sampler = ht.NeighborSampler(data, [2])
    for seeds, error in ((torch.tensor([60]), IndexError), (torch.tensor([0.0]), TypeError)):
        with pytest.raises(error, match="seeds must be"):
            sampler._sample(seeds)
    assert len(sampler._sample(torch.zeros(0, dtype=torch.int64)).node) == 0
    data.heavy[0] = -1
    with pytest.raises(ValueError, match="not negative"):
        ht.NeighborSampler(data, [2], weight_attr="heavy")
    data.edge_index[0, 0] = N
    with pytest.raises(IndexError, match="below 60"):
        ht.NeighborSampler(data, [2])


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("columns", [4, 5])
def test_negative_edges_are_all_alike(loops: bool, columns: int) -> None:
    A = ht.Adjacency.of(torch.tensor([[0, 0, 1, 2, 2, 2], [1, 1, 3, 0, 1, 2]]), shape=(4, columns))
    generator = torch.Generator().manual_seed(3)
    taken = set(map(tuple, A.indices.T.tolist()))
    free = [(i, j) for i, j in itertools.product(range(4), range(columns))
            if (i, j) not in taken and (loops or i != j or columns == 5)]  # fmt: skip
    every = ht.negative_edges(A, len(free), loops=loops, generator=generator)
    assert sorted(map(tuple, every.T.tolist())) == free
    with pytest.raises(ValueError, match=f"count must be at most {len(free)}"):
        ht.negative_edges(A, len(free) + 1, loops=loops)
    for count in (2, len(free) - 2):
        drawn = [ht.negative_edges(A, count, loops=loops, generator=generator).T.tolist() for _ in range(600)]
        assert all(len(set(map(tuple, some))) == count for some in drawn)
        counts = dict.fromkeys(free, 0)
        for pair in itertools.chain(*drawn):
            counts[tuple(pair)] += 1
        # Of distinct pairs counts vary less than of independent ones: the χ² of those is scaled.
        expected = 600 * count / len(free)
        square = sum((found - expected) ** 2 for found in counts.values()) / expected
        scale = (len(free) - count) / (len(free) - 1)
        assert scipy.stats.chi2.sf(square / scale, len(free) - 1) > 1e-4


def test_negative_edges_by_degree_and_by_source() -> None:
    A = ht.Adjacency.of(torch.tensor([[0, 0, 1, 2, 2, 2], [1, 2, 3, 0, 1, 3]]), shape=(5, 5))
    generator = torch.Generator().manual_seed(4)
    found = ht.negative_edges(A, 20_000, by="degree", generator=generator)
    out, into = (np.bincount(ends, minlength=5) ** 0.75 for ends in A.indices.numpy())
    law = np.outer(out, into)
    law[A.indices[0], A.indices[1]] = 0
    np.fill_diagonal(law, 0)
    counts = np.bincount((found[0] * 5 + found[1]).numpy(), minlength=25)
    inside = law.ravel() > 0
    assert not counts[~inside].any()
    assert scipy.stats.chisquare(counts[inside], law.ravel()[inside] / law.sum() * 20_000).pvalue > 1e-4
    sources = torch.tensor([2]).repeat(3000)
    source, target = ht.negative_edges(A, sources=sources, generator=generator)
    assert torch.equal(source, sources) and set(target.tolist()) == {4}
    many = ht.negative_edges(A, sources=torch.arange(5).repeat(3000), generator=generator)[1].reshape(-1, 5)
    for row, able in enumerate([[3, 4], [0, 2, 4], [4], [0, 1, 2, 4], [0, 1, 2, 3]]):
        counts = np.bincount(many[:, row].numpy(), minlength=5)
        assert counts.sum() == counts[able].sum()
        assert len(able) == 1 or scipy.stats.chisquare(counts[able]).pvalue > 1e-4


def follows(law: Any, found: Any, row: int) -> None:
    """Columns drawn for a row have chances in proportion to a law."""
    law, counts = np.array(law, float), np.bincount(found[1, found[0] == row].numpy(), minlength=len(law))
    inside = law > 0
    assert not counts[~inside].any() and counts.any()
    expected = law[inside] / law.sum() * counts.sum()
    assert inside.sum() == 1 or scipy.stats.chisquare(counts[inside], expected).pvalue > 1e-4


@pytest.mark.parametrize("by", ["uniform", "degree"])
def test_negatives_of_a_batch_and_of_a_time(by: str) -> None:
    """Drawn from a batch's own columns, each as often as it is there, or from those that are not later."""
    A = ht.Adjacency.of(torch.tensor([[0, 0, 1, 2, 2, 2, 3], [1, 2, 3, 0, 1, 3, 1]]), shape=(5, 5))
    weight = np.bincount(A.indices[1].numpy(), minlength=5) ** (0.75 if by == "degree" else 0)
    generator, among = torch.Generator().manual_seed(6), torch.tensor([4, 1, 1, 3, 0])
    rows, size = torch.arange(5).repeat(4000), 4000
    found = ht.negative_edges(A, sources=rows[rows != 2], among=among, by=by, generator=generator)
    taken, born = set(map(tuple, A.indices.T.tolist())), torch.tensor([5, -2, 9, 0, 2**40 + 1])
    for row in (0, 1, 3, 4):
        follows([(row, j) not in taken and row != j and weight[j] * (among == j).sum() for j in range(5)], found, row)
    # The last column is born a second after the last source, which is nothing in float32.
    time = torch.tensor([0, 9, 0, 9, 2**40])
    found = ht.negative_edges(A, sources=rows[rows != 2], time=time.repeat(size)[rows != 2], column_time=born, by=by,
                              generator=generator)  # fmt: skip
    for row in (0, 1, 3, 4):
        able = [(row, j) not in taken and row != j and born[j] <= time[row] for j in range(5)]
        follows(weight * able, found, row)


def test_bad_negatives() -> None:
    full = ht.Adjacency.of(torch.tensor([[0, 0, 1], [0, 1, 0]]), shape=(2, 2))
    assert ht.negative_edges(full, 0).shape == (2, 0)
    assert ht.negative_edges(torch.zeros(2, 0, dtype=torch.int64), 0).shape == (2, 0)
    assert ht.negative_edges(full, sources=torch.zeros(0, dtype=torch.int64)).shape == (2, 0)
    for arguments, error, text in (
        ({}, ValueError, "give either count"),
        ({"count": 1, "sources": torch.tensor([0])}, ValueError, "give either count"),
        ({"count": -1}, ValueError, "count must not be negative"),
        ({"count": 1, "by": "weight"}, ValueError, "by must be"),
        ({"count": 1}, ValueError, "at most 0"),
        ({"count": 1, "by": "degree"}, ValueError, "finds no pair"),
        ({"sources": torch.tensor([0])}, ValueError, "row 0 has entries in all"),
        ({"sources": torch.tensor([2])}, IndexError, "from 0 to 1"),
        ({"sources": torch.tensor([0.5])}, TypeError, "numbers of vertices"),
        ({"count": 1, "among": torch.tensor([0])}, ValueError, "need sources"),
        ({"sources": torch.tensor([0]), "among": torch.tensor([0.0])}, TypeError, "among must be"),
        ({"sources": torch.tensor([0]), "among": torch.tensor([2])}, IndexError, "among must be from 0 to 1"),
        (
            {"sources": torch.tensor([1]), "among": torch.zeros(0, dtype=torch.int64)},
            ValueError,
            "row 1 has entries in all",
        ),
        ({"sources": torch.tensor([1]), "time": torch.tensor([1])}, ValueError, "give both time"),
        (
            {"sources": torch.tensor([1]), "time": torch.tensor([1, 2]), "column_time": torch.tensor([1, 2])},
            ValueError,
            "time must be a tensor of 1 numbers",
        ),
        (
            {"sources": torch.tensor([1]), "time": torch.tensor([np.nan]), "column_time": torch.tensor([1, 2])},
            ValueError,
            "without NaN",
        ),
        (
            {"sources": torch.tensor([1]), "time": torch.tensor([1]), "column_time": torch.tensor([0, 2])},
            ValueError,
            "row 1 has entries in all",
        ),
    ):
        with pytest.raises(error, match=text):
            ht.negative_edges(full, **arguments)
    with pytest.raises(ValueError, match="A has no entries"):
        ht.negative_edges(ht.Adjacency.of(full.indices[:, :0], shape=(2, 3)), 1, by="degree")
