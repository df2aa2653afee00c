"""hpgraph as a backend of NetworkX: ``nx.pagerank(G, backend="hpgraph")``.

NetworkX loads `info` by the entry point ``networkx.backend_info`` whenever it is imported, so that module must be
light; it loads `interface`, and with it the algorithms, when a function first runs here. One file a family of
functions, named and called as in NetworkX; `serving` decides when they can run.
"""
