"""Vertex programs run as supersteps: active set, direction, product, update, trace."""
