"""The CPU's runtime: Numba's cache, the team of threads, work stealing, prefetching."""

from hpgraph.kernels.runtime.cpu import compilation

# Before any kernel is defined: Numba asks where its cache lies when it sees one.
compilation.set_up()
