"""Programs with edge properties (J. Zhong, B. He, "Medusa", TPDS 25(6), 2014).

Supersteps are those of `hpgraph.kernels.superstep`; only the arcs differ. Kernels pass a program's functions the arc's
*number* instead of its weight, and `hpgraph.kernels.edges.program` constructs from it the edge that the user's
functions get: arrays beside the CSR's values, indexed by that number in either direction. By targets, the numbers are a
permutation; nothing is stored twice.

An arc's function has side effects, so it must be called exactly once for every arc that takes part, and for no other.
Products that end early, or compute messages to discard them, cannot be used.
"""
