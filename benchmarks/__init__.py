"""hpgraph beside other graph libraries: same graphs, same sources, answers compared before times are.

Run from the root of a checkout: ``python -m benchmarks`` lists the commands, of which ``make bench`` and ``make
bench-gpu`` run the first two.
"""
