"""One superstep of the general loop: messages along arcs, then APPLY (HPGraph, 2018, Figure 4).

`push_messages` and `pull_messages` combine the messages that meet at a vertex, `apply` updates who received one,
`aggregate` adds up what the vertices contribute to the sums.
"""
