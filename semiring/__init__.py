"""Operators, monoids and semirings."""
