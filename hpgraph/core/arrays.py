"""Array types of results: see `hpgraph.core.device`."""

from hpgraph.core.device import Array as Array
