"""Layers of PyTorch Geometric, with their parameters, on the operations of `hpgraph.torch`.

Each takes an `Adjacency` in place of an edge index: row i has the vertices that i gathers from. Parameters have PyTorch
Geometric's names, so that `load_state_dict` takes those of its own layers, and results are equal.
"""

import torch
import torch.nn.functional as F
from torch_geometric import nn
from torch_geometric.nn.conv.gcn_conv import gcn_norm

import hpgraph.torch as ht


def adjacency(edge_index, n):
    """Of an edge index, from sources to targets: each vertex gathers from the sources of its edges."""
    return ht.Adjacency.of(edge_index.flip(0), shape=(n, n))


def normalized(edge_index, n):
    """The same with loops, and with the values of graph convolution."""
    edge_index, weight = gcn_norm(edge_index, num_nodes=n)
    A = adjacency(edge_index, n)
    return A.with_values(weight[A.order])


class GCNConv(nn.GCNConv):
    """T. Kipf, M. Welling, ICLR'17; takes what `normalized` gives."""

    def forward(self, x, A):
        return ht.spmm(A, self.lin(x)) + self.bias


class SAGEConv(nn.SAGEConv):
    """W. Hamilton, R. Ying, J. Leskovec, NIPS'17: the mean of neighbours beside the vertex's own."""

    def forward(self, x, A):
        return self.lin_l(ht.spmm(A, x, "mean")) + self.lin_r(x)


class GATConv(nn.GATConv):
    """P. Veličković et al., ICLR'18; loops, where they are wanted, are among the entries."""

    def forward(self, x, A):
        x = self.lin(x).view(-1, self.heads, self.out_channels)
        source, target = (x * self.att_src).sum(-1), (x * self.att_dst).sum(-1)
        scores = F.leaky_relu(ht.sddmm(A, target, source, op="add"), self.negative_slope)
        attention = F.dropout(ht.edge_softmax(A, scores), self.dropout, self.training)
        out = ht.spmm(A.with_values(attention), x)
        return (out.flatten(1) if self.concat else out.mean(1)) + self.bias


class TimeConv(torch.nn.Module):
    """Messages of the last interactions, recent ones weighted more; ages are a value of each entry."""

    def __init__(self, width):
        super().__init__()
        self.own, self.state = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        self.decay = torch.nn.Parameter(torch.zeros(()))

    def forward(self, x, A):
        weight = ht.edge_softmax(A, -A.values * self.decay.exp())
        return self.own(x) + self.state(ht.spmm(A.with_values(weight), x))
