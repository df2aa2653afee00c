"""hpgraph as a backend of NetworkX: ``nx.pagerank(G, backend="hpgraph")``.

NetworkX finds `info` by the entry point ``networkx.backend_info`` whenever it is imported, so that nothing there may
take time; it loads `interface`, and with it the algorithms, when a function is first to run here. One file a family of
functions, each named and called as in NetworkX; `serving` says when they can run.
"""
