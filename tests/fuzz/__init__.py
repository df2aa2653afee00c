"""Fuzzers: random input against an independent implementation, as long as one likes; a seeded share runs as tests."""
