"""Matrix: a sparse matrix with the manners of a SciPy sparse array; one subject a file, `matrix` puts them together."""
