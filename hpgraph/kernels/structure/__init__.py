"""Structure: transposes, orders by degree, components, triangles, and the order in which a queue meets vertices."""
