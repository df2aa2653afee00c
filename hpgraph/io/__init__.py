"""Graph files in and out, one format a file."""
