"""Conversions to and from other libraries' graphs and matrices."""
