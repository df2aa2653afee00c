"""Matrix and Vector as users see them: the methods and operators that make them read like SciPy and NumPy."""
