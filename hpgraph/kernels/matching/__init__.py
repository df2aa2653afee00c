"""Matchings of bipartite graphs, given as the rows and columns of a matrix. Both searches are sequential: CPU only."""
