"""PageRank is high if many packages depend on one, betweenness if many shortest paths pass through it."""

import matplotlib.pyplot as plt

import hpgraph as hpg

D = hpg.datasets.debian()
rank = hpg.pagerank(D).rank
between = hpg.betweenness_centrality(D, sources=300, seed=7)

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.loglog(rank, between, ".", markersize=2, alpha=0.4)
for i in (*between.argsort()[-2:], *rank.argsort()[-4:]):
    ax.annotate(D.names[i], (rank[i], between[i]), ha="right", va="bottom", fontsize=8)
ax.set(xlabel="PageRank", ylabel="betweenness, from 300 sources", title="Debian's packages")
fig.savefig("central.png", dpi=110)
