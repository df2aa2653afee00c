"""Vector: one value for each index, some of which may be absent; one subject a file, `vector` puts them together."""
