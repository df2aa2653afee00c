"""Products as CUDA C++ templates, compiled at run time."""
