"""Bundled and generated graphs."""
