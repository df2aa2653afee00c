"""How many packages depend on each of three, by distance."""

import matplotlib.pyplot as plt
import numpy as np

import hpgraph as hpg

D = hpg.datasets.debian()
starts = ["libc6", "python3", "perl"]
level = hpg.bfs(D.T, sources=starts, parents=False).level

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, row, marker in zip(starts, level, "os^", strict=True):
    ax.plot(np.bincount(row[row >= 0]), marker=marker, label=name)
ax.set(xlabel="steps", ylabel="packages that need it", yscale="log", title="Dependents of three packages, by distance")
ax.legend()
fig.savefig("reach.png", dpi=110)
