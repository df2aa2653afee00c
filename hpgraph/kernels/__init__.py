"""Kernels: one folder a piece of work, in which contract, CPU and CUDA side stand side by side.

`hpgraph.kernels.cpu` and `hpgraph.kernels.cuda` list what each backend offers: the same names with the same signatures.
"""
