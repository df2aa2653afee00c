"""Which contact comes next: a model of time whose batches know no contact later than the one they predict.

Vertices meet within groups, and change groups now and then, so that only their last contacts predict the next.

    python docs/examples/temporal.py
"""

import torch
import torch.nn.functional as F
from layers import TimeConv, adjacency
from torch_geometric.data import Data
from torch_geometric.loader import LinkLoader

import hpgraph.torch as ht

VERTICES, GROUPS, CONTACTS, WIDTH = 48, 6, 3000, 32


def contacts():
    """Contacts in both directions, with their times."""
    group, ends = torch.randint(GROUPS, (VERTICES,)), []
    for _ in range(CONTACTS):
        if torch.rand(()) < 0.2:
            group[torch.randint(VERTICES, ())] = torch.randint(GROUPS, ())
        one = torch.randint(VERTICES, ())
        others = (group == group[one]).nonzero().flatten()
        ends.append((int(one), int(others[torch.randint(len(others), ())])))
    index, time = torch.tensor(ends).T, torch.arange(CONTACTS)
    return Data(edge_index=torch.cat([index, index.flip(0)], 1), time=time.repeat(2), num_nodes=VERTICES), index, time


class Net(torch.nn.Module):
    """A place for each vertex, one layer, and how near two are."""

    def __init__(self):
        super().__init__()
        self.place, self.conv = torch.nn.Embedding(VERTICES, WIDTH), TimeConv(WIDTH)

    def forward(self, batch):
        x, A = self.place(batch.n_id), adjacency(batch.edge_index, len(batch.n_id))
        age = (batch.edge_label_time[batch.batch][batch.edge_index[1]] - batch.time).float() / 100
        x = self.conv(x, A.with_values(age[A.order]))
        one, other = x[batch.edge_label_index]
        return (one * other).sum(-1)


def temporal(epochs=10):
    """The area under the curve on the last contacts, and on the same with contacts of any time in place of the last."""
    data, index, time = contacts()
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 0.01)

    def batches(part, strategy="last"):
        sampler = ht.NeighborSampler(data, [8], time_attr="time", temporal_strategy=strategy)
        return LinkLoader(data, sampler, edge_label_index=index[:, part], edge_label_time=time[part] - 1,
                          neg_sampling="binary", batch_size=200, shuffle=True)  # fmt: skip

    for _ in range(epochs):
        for batch in batches(slice(200, 2400)):
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(net(batch), batch.edge_label).backward()
            optimizer.step()

    def area(strategy):
        with torch.no_grad():
            scores = [(net(one), one.edge_label) for one in batches(slice(2400, None), strategy)]
        score, label = (torch.cat(part) for part in zip(*scores, strict=True))
        label = label > 0
        return float((score[label][:, None] > score[~label]).float().mean())

    return area("last"), area("uniform")


if __name__ == "__main__":
    torch.manual_seed(1)
    print("area under the curve: {:.2f} by the last contacts, {:.2f} by any earlier ones".format(*temporal()))
