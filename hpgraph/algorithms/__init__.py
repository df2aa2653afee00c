"""One algorithm a file, each written over the engine or the matrix algebra."""
