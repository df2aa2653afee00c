"""Matrix and Vector: their SciPy and NumPy interface of methods and operators."""
