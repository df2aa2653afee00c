"""Shortest paths from the middle of a road network; a line every eighth of the way to its corners."""

import matplotlib.pyplot as plt
import numpy as np

import hpgraph as hpg

side = 256
G = hpg.datasets.grid(side, weighted=True, seed=1)
distance = hpg.sssp(G, side * side // 2 + side // 2).distance.reshape(side, side)

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
image = ax.imshow(np.where(np.isfinite(distance), distance, np.nan), cmap="viridis")
ax.contour(distance, levels=8, colors="white", linewidths=0.5)
ax.set(title="How far it is from the middle", xticks=[], yticks=[])
fig.colorbar(image, label="distance")
fig.savefig("roads.png", dpi=110)
