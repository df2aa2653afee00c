"""What the kernels of all rooms share: how a vertex program becomes code, threads, compilers, launches."""
