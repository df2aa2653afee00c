"""Relaxation: one property moves one way, label-correcting (shortest paths and their kin).

Delta-stepping (U. Meyer, P. Sanders, J. Algorithms 2003) as one compiled loop on either backend:
`relax(code, out, state, beginnings, world, sources, delta=, ceiling=, limit=)`.
"""
