"""Graph, Matrix and Vector as data: entries, layouts, and writable views."""
