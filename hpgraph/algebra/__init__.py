"""The GraphBLAS operations on matrices and vectors, one a file."""
