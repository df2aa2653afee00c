"""The neighbourhood of a package up to two steps, coloured by communities."""

import matplotlib.pyplot as plt

import hpgraph as hpg

D = hpg.datasets.debian()
around = hpg.ego_graph(D.undirected, "texlive-full", radius=1)
communities = hpg.louvain(around, seed=1)

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
hpg.viz.draw(around, ax=ax, color=communities.label, seed=1)
ax.set_title(f"{len(around)} packages around texlive-full, {communities.label.max() + 1} communities")
fig.savefig("communities.png", dpi=110)
