"""ForceAtlas2: neighbours pull each other, all vertices push each other away.

M. Jacomy, T. Venturini, S. Heymann, M. Bastian, "ForceAtlas2, a continuous graph layout algorithm for handy network
visualization designed for the Gephi software", PLoS ONE 9(6), 2014: its forces, and its local and global speeds, with
the corrections of Gephi's own.
"""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.algorithms.vertex_values import vertex_values
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.core.device import array_module, check_memory, everywhere
from hpgraph.kernels.backend import layouts
from hpgraph.kernels.layout import LINEAR, LOGARITHM, Forces
from hpgraph.layout.geometry import beginning, pulling


@naming_arguments
def force_atlas2(
    G: Graph | Any,
    pos: Any = None,
    *,
    max_iter: int = 100,
    jitter_tolerance: float = 1.0,
    scaling_ratio: float = 2.0,
    gravity: float = 1.0,
    distributed_action: bool = False,
    strong_gravity: bool = False,
    node_mass: Any = None,
    weight: Any = None,
    linlog: bool = False,
    theta: float = 1.2,
    seed: int = 0,
) -> Any:
    """The ForceAtlas2 layout, as NetworkX's ``forceatlas2_layout``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    pos : array of shape (n, 2), optional
        Initial positions; by default random.
    max_iter : int
        Number of steps.
    jitter_tolerance : float
        Tolerated swinging: larger values are faster, and less precise.
    scaling_ratio : float
        Factor of the repulsion.
    gravity : float
        Attraction of all vertices to the center; with 0, components drift apart.
    distributed_action : bool
        Whether attraction is divided by the vertex's mass, so that hubs move to the border.
    strong_gravity : bool
        Whether gravity grows with the distance.
    node_mass : number, array of length n or dict, optional
        By default one more than the degree.
    weight : None, bool or str
        Attraction of an edge: equal for None, its weight for True. A string names the attribute of a NetworkX graph,
        and "weight" means True otherwise.
    linlog : bool
        Whether attraction is the logarithm of the distance, which contracts communities (A. Noack).
    theta : float
        Vertices count as one whose cell is smaller than so many times its distance; 0 counts each, in n² steps. On the
        CPU, where cells act on cells, more than 0.9 counts as 0.9.
    seed : int
        Of the beginning.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device; NetworkX gives a dict, and counts each vertex.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.
    DeviceMemoryError
        When the work space will not fit.

    Notes
    -----
    A step takes time as n log n and arcs; 200 bytes a vertex in all. The same call on the same device gives the same.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    >>> place = hpg.layout.force_atlas2(G)
    >>> place.shape, bool(abs(place[0] - place[1]).sum() < abs(place[0] - place[5]).sum())
    ((6, 2), True)
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    numbers = {"jitter_tolerance": jitter_tolerance, "scaling_ratio": scaling_ratio, "gravity": gravity, "theta": theta}
    for name, number in numbers.items():
        real(number, name, least=0, below=math.inf)
    steps = whole(max_iter, "max_iter", least=0)
    graph = graph.undirected
    xp, n = array_module(graph.device), graph.n_vertices
    check_memory(200 * n, f"a layout of {n:,} vertices", graph.device)
    arcs = pulling(graph, weighted)
    mass = arcs.degrees + 1.0 if node_mass is None else vertex_values(graph, node_mass, "node_mass", np.dtype(float))
    if n and not float(mass.min()) > 0:
        raise ValueError("node_mass must be positive")
    place = beginning(graph, pos, seed_of(seed))
    force, pace = xp.zeros((n, 2)), xp.ones(2)
    work, law = layouts(graph.device), LOGARITHM if linlog else LINEAR
    forces = Forces(float(scaling_ratio), float(gravity), bool(strong_gravity), bool(distributed_action))
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps if n else 0):
            pushed = work.repulsion(place, mass, float(theta))
            force, swing, totals = work.combined(place, pushed, work.attraction(arcs, place, law), mass, force, forces)
            place, pace = work.moved(place, force, swing, totals, pace, float(jitter_tolerance))
    if not everywhere(xp.isfinite(place)):
        raise ValueError("weight, node_mass, gravity or scaling_ratio: forces exceed floats; give smaller numbers")
    return place
