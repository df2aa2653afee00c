"""Pictures of graphs and runs, by matplotlib (``pip install 'hpgraph[plot]'``), imported when the first is drawn.

`interactive` is by ipysigma (``pip install 'hpgraph[notebook]'``).
"""

from hpgraph.viz.degrees import degree_distribution
from hpgraph.viz.drawing import draw
from hpgraph.viz.notebook import interactive
from hpgraph.viz.supersteps import trace

__all__ = ["degree_distribution", "draw", "interactive", "trace"]
