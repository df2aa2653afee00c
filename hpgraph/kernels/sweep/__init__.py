"""Sweeps: every vertex sends and is updated, product, update and sums in one pass (PageRank and its kin).

`sweeps(code, rows, state, world, stop, limit)` runs superstep after superstep without Python between them.
"""
