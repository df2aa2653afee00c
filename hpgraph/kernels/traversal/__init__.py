"""Traversal: the first message wins (breadth-first search and its kin).

Direction-optimizing breadth-first search (S. Beamer et al., SC'12) with top-down and bottom-up supersteps, as one
compiled loop on either backend: `first(code, out, in_, state, beginnings, world, sources, ...)`. On the GPU the
frontier is a sliding queue that one persistent kernel fills and empties (XBFS, A. Gaihre et al., HPDC'19; Enterprise,
H. Liu, H. H. Huang, SC'15).
"""
