"""Entries: what goes entry by entry. Maps, selections, unions, intersections, parts of a matrix, Kronecker products."""
