"""The engine pushes while few vertices are active, and pulls while most are: a breadth-first search."""

import matplotlib.pyplot as plt

import hpgraph as hpg

G = hpg.datasets.kron(14)
found = hpg.bfs(G, int(G.out_degree.argmax()))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
hpg.viz.trace(found.trace, ax=ax)
fig.savefig("supersteps.png", dpi=110)
