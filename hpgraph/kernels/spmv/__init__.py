"""SpMV: the generalized product y<mask> accum= A (+.x) x<active>, over CSR, HYB and blocks of columns.

`pull` goes by rows, `push` from a sparse vector (SpMSpV), `pull_dense` over the columns of a dense matrix (SpMM).
Blocks of columns are propagation blocking (S. Beamer et al., IPDPS'17) with partial sums in place of bins of messages.
"""
