"""hpgraph beside other graph libraries: same graphs, same sources, answers compared before times are.

Run from the root of a checkout: ``python -m benchmarks cpu`` or ``python -m benchmarks gpu`` (``make bench``, ``make
bench-gpu``); ``--help`` lists the options.
"""
