"""Graph convolution on a whole graph: the communities of a planted partition, from a few labels of each.

Run it by ``python docs/examples/gcn.py``.
"""

import torch
import torch.nn.functional as F
from layers import GATConv, GCNConv, adjacency, normalized
from torch_geometric.utils import add_self_loops, stochastic_blockmodel_graph


def planted(kinds=4, size=60, noise=2.0):
    """Features that depend little on a vertex's class, and edges that depend more on it."""
    chances = torch.full((kinds, kinds), 0.01).fill_diagonal_(0.12)
    edge_index = stochastic_blockmodel_graph([size] * kinds, chances)
    y = torch.arange(kinds).repeat_interleave(size)
    return F.one_hot(y, 16).float() + noise * torch.randn(len(y), 16), edge_index, y


class Net(torch.nn.Module):
    """Two layers."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x, A):
        return self.second(F.dropout(self.first(x, A).relu(), 0.3, self.training), A)


def trained(net, x, A, y, rounds=60):
    """The accuracy on vertices outside the training set."""
    known = torch.rand(len(y)) < 0.3
    optimizer = torch.optim.Adam(net.parameters(), 0.02, weight_decay=5e-4)
    for _ in range(rounds):
        optimizer.zero_grad()
        F.cross_entropy(net(x, A)[known], y[known]).backward()
        optimizer.step()
    net.eval()
    return float((net(x, A).argmax(1) == y)[~known].float().mean())


def gcn():
    """Graph convolution."""
    x, edge_index, y = planted()
    return trained(Net(GCNConv(16, 32), GCNConv(32, 4)), x, normalized(edge_index, len(y)), y)


def gat():
    """Graph attention, four heads."""
    x, edge_index, y = planted()
    A = adjacency(add_self_loops(edge_index, num_nodes=len(y))[0], len(y))
    return trained(Net(GATConv(16, 8, heads=4), GATConv(32, 4)), x, A, y)


if __name__ == "__main__":
    torch.manual_seed(1)
    print(f"accuracy: {gcn():.2f} by graph convolution, {gat():.2f} by graph attention")
