"""Reductions of arrays: see `hpgraph.core.device`."""

from hpgraph.core.device import anywhere as anywhere
from hpgraph.core.device import count as count
from hpgraph.core.device import everywhere as everywhere
from hpgraph.core.device import first_true as first_true
from hpgraph.core.device import prefix_sum as prefix_sum
from hpgraph.core.device import total as total
