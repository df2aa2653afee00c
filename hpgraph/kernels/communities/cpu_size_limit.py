"""Communities of limited size on the CPU: which vertices of a batch still fit into those that they chose."""

import numpy as np

from hpgraph.kernels.communities.batches import PRIORITIES
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import vertex
from hpgraph.kernels.sampling.cpu_random import GOLDEN
from hpgraph.kernels.structure.cpu_greedy import mixed

LAST = PRIORITIES - 1


@part(whole=True)
def _priority(v, round_, seed):
    """The priority of a vertex under a size limit: p or more with a probability of 2⁻ᵖ, from the hash's low bits."""
    bits = mixed(np.uint64(v) + seed + np.uint64(round_) * GOLDEN)
    priority = 0
    while priority < LAST and not (bits >> np.uint64(priority)) & np.uint64(1):
        priority += 1
    return priority


@part(whole=True)
def keep_to_limit(groups, rule, space, begin, end, round_):
    """Set the target to -1 where the vertices of this and higher priorities would together exceed the limit.

    One thread does it: the choice before looks at all arcs.
    """
    for sign in (1, 0, -1):
        for i in range(begin, end):
            v, to = vertex(space.listed, i), space.target[i]
            priority = _priority(v, round_, rule.seed)
            if sign == 0:
                if to != groups.label[v] and groups.load[to] + space.demand[priority, to] > rule.limit:
                    space.target[i] = -2 - to
                continue
            space.target[i] = to if sign == 1 or to >= 0 else -1
            to = to if to >= 0 else -2 - to
            if to != groups.label[v]:
                for p in range(priority + 1):
                    space.demand[p, to] += sign * rule.load[v]
