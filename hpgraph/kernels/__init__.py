"""The generalized products, once per backend, with the same signatures in cpu and cuda."""
