"""Pictures of graphs and of traces."""
