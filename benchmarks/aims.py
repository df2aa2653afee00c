"""How near hpgraph means to come on two cores: our time over theirs, at most.

GAPBS is C++ that was tuned for a decade, the mark for searches, PageRank and triangles; the others are libraries that
can be called from Python, the fastest of which counts.
"""

AGAINST_GAPBS = {"bfs": 1.3, "sssp": 1.3, "pagerank": 1.0, "pagerank32": 1.0, "triangles": 1.2}
AGAINST_BEST = {
    "bfs": 0.25,
    "sssp": 0.35,
    "pagerank": 0.8,
    "triangles": 0.6,
    "spmv": 0.9,
    "spmv_hyb": 0.9,
    "spmv64": 0.9,
    "min_plus": 0.8,
    "lor_land": 0.8,
    "any_pair": 0.8,
    "plus_pair": 0.8,
}
# Searches along a road spend their time between supersteps, not in them.
AGAINST_BEST_ON_ROADS = {"bfs": 0.8}
