"""Fuzzers: what anybody could hand to the library, by the thousand; ``python -m tests.fuzz`` runs them all."""
