"""Products compiled by Numba for the CPU."""

from hpgraph.kernels.cpu import threads

# Before any module of this package has Numba load a parallel kernel.
threads.prepare()
