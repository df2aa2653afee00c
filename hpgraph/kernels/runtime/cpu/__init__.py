"""The CPU's runtime: Numba's cache, the team of threads, work stealing, prefetching."""

from hpgraph.kernels.runtime.cpu import compilation

# Before any kernel is defined, as Numba then determines its cache folder.
compilation.set_up()
