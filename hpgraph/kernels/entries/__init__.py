"""Entries: what goes entry by entry. Maps, selections, unions and intersections, parts of a matrix, Kronecker products."""
