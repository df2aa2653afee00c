"""Pictures of graphs and runs; matplotlib is imported when the first is drawn (``pip install 'hpgraph[plot]'``)."""

from hpgraph.viz.degrees import degree_distribution
from hpgraph.viz.drawing import draw
from hpgraph.viz.supersteps import trace

__all__ = ["degree_distribution", "draw", "trace"]
