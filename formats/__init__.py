"""How nonzeros and active sets lie in memory."""
