"""Products compiled by Numba for the CPU."""
