"""Kernels: one folder for each kind of work, with its contract, its CPU side and its CUDA side.

`hpgraph.kernels.cpu` and `hpgraph.kernels.cuda` list what each backend offers: the same names with the same signatures.
"""
