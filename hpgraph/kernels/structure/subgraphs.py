"""Input of subgraph isomorphism: the graph's rows, and the pattern's steps."""

from collections import namedtuple

# The graph's arcs by source and by target. `allowed`: a bit for each step of the pattern that a vertex may be.
Rows = namedtuple("Rows", "indptr indices in_indptr in_indices allowed")
# The pattern in the order of its steps: what joins a step to those before it lies from `begin` on. `other`: the step
# before; `outward`: whether the arc is to it; `is_arc`: whether there must be one, else there must be none.
Steps = namedtuple("Steps", "begin other outward is_arc distinct")
