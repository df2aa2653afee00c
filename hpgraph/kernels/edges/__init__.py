"""Programs whose arcs have properties of their own (J. Zhong, B. He, "Medusa", TPDS 25(6), 2014).

Supersteps are those of `hpgraph.kernels.superstep`; what differs is the arc. Kernels hand a program's functions the
arc's *number* in place of its weight, and `hpgraph.kernels.edges.functions` makes of it the edge that the user's
functions see: arrays beside the CSR's values, which all directions of travel find by that one number. By targets, the
numbers are a permutation; nothing is stored twice.

An arc's function changes something, so it must be called for every arc that has a part, once, and for no other.
Products that end early, or compute messages to throw them away, do not serve.
"""
