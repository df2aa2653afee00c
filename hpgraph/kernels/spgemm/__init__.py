"""SpGEMM: the product of two sparse matrices over a semiring, by rows (Gustavson), and at the places of a mask.

`multiply` builds each row in a sparse accumulator or a hash table; `multiply_by_dots` and `multiply_by_rows` compute
only the places of a mask, and `masked_work` predicts which of the two costs less.
"""
