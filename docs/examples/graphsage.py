"""GraphSAGE in batches: of sampled neighbours, of communities, and of PyTorch Geometric's loader with our sampler.

Run it by ``python docs/examples/graphsage.py``.
"""

import torch
import torch.nn.functional as F
from gcn import Net, planted
from layers import SAGEConv, adjacency
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader

import hpgraph as hpg
import hpgraph.torch as ht


def _seed():
    # A loader's epochs differ; here each epoch makes one anew.
    return int(torch.randint(2**31, ()))


def neighbours(data):
    """Sampled neighbours by `hpgraph.NeighborLoader`."""
    G = ht.from_data(data)
    for batch in hpg.NeighborLoader(G, [10, 5], batch_size=64, shuffle=True, seed=_seed()).attach(data.x):
        seeds = torch.from_dlpack(batch.vertex[: batch.vertices_of_hop[0]])
        yield torch.from_dlpack(batch.features), torch.from_dlpack(batch.edge_index), seeds


def communities(data):
    """Whole communities, by `hpgraph.SubgraphLoader`."""
    G = hpg.Graph.from_edges(*data.edge_index.numpy(), n_vertices=data.num_nodes, directed=False)
    for batch in hpg.SubgraphLoader(G, hpg.leiden(G), batch_size=2, seed=_seed()).attach(data.x):
        seeds = torch.from_dlpack(batch.vertex)
        yield torch.from_dlpack(batch.features), torch.from_dlpack(batch.edge_index), seeds


def geometric(data):
    """Batches of PyTorch Geometric."""
    sampler = ht.NeighborSampler(data, [10, 5])
    for batch in NodeLoader(data, sampler, batch_size=64, shuffle=True):
        yield batch.x, batch.edge_index, batch.n_id[: batch.batch_size]


def graphsage(batches, epochs=20):
    """The accuracy on vertices outside the training set."""
    x, edge_index, y = planted(noise=1.0)
    data, known = Data(x=x, edge_index=edge_index, num_nodes=len(y)), torch.rand(len(y)) < 0.3
    net = Net(SAGEConv(16, 32), SAGEConv(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), 0.02, weight_decay=5e-4)
    for _ in range(epochs):
        for features, edges, seeds in batches(data):
            optimizer.zero_grad()
            found = net(features, adjacency(edges, len(features)))[: len(seeds)]
            own = known[seeds]
            if bool(own.any()):
                F.cross_entropy(found[own], y[seeds][own]).backward()
                optimizer.step()
    net.eval()
    return float((net(x, adjacency(edge_index, len(y))).argmax(1) == y)[~known].float().mean())


if __name__ == "__main__":
    torch.manual_seed(1)
    for batches in (neighbours, communities, geometric):
        print(f"{batches.__doc__} Told right: {graphsage(batches):.2f}")
