"""Fuzzers: thousands of arbitrary inputs to the library; ``python -m tests.fuzz`` runs them all."""
