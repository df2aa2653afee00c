"""NetworkX's own tests, with hpgraph for the backend of all that it takes: ``python -m tests.networkx_suite``."""
