"""The operations of GraphBLAS over matrices and vectors, one a file."""
