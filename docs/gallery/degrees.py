"""How many of Debian's packages have at least so many dependencies, or dependents; straight lines are power laws."""

import matplotlib.pyplot as plt

import hpgraph as hpg

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
hpg.viz.degree_distribution(hpg.datasets.debian(), ax=ax)
fig.savefig("degrees.png", dpi=110)
