"""Matchings of bipartite graphs, given as rows and columns of a matrix, and of others. All are sequential: CPU only."""
