"""The generalized product, entry by entry in Python: slow, and plain enough to be believed."""

import numpy as np


def _logical(op):
    return lambda a, b: op(bool(a), bool(b))


# What each operator computes, on two numbers of one type.
NUMBERS = {
    "plus": lambda a, b: a + b, "times": lambda a, b: a * b, "min": np.fmin, "max": np.fmax, "first": lambda a, b: a,
    "second": lambda a, b: b, "pair": lambda a, b: type(a)(1), "lor": _logical(lambda a, b: a or b),
    "land": _logical(lambda a, b: a and b), "bor": lambda a, b: a | b, "band": lambda a, b: a & b,
}  # fmt: skip
# Over truth values the arithmetic operators are the logical ones.
TRUTHS = NUMBERS | {"plus": NUMBERS["lor"], "times": NUMBERS["land"], "min": NUMBERS["land"], "max": NUMBERS["lor"]}


def identity(name, dtype):
    """What a monoid makes of no values at all."""
    dtype = np.dtype(dtype)
    smallest, largest = {"b": (False, True), "f": (-np.inf, np.inf), "c": (None, None)}.get(dtype.kind) or (
        np.iinfo(dtype).min,
        np.iinfo(dtype).max,
    )
    return {"plus": 0, "lor": False, "bor": 0, "any": 0, "min": largest, "max": smallest}[name]


def messages(entries, multiply, x, dtype):
    """The message of each entry (row, column, weight), by row."""
    table = TRUTHS if np.dtype(dtype).kind == "b" else NUMBERS
    by_row = {}
    for v, u, w in entries:
        with np.errstate(all="ignore"):
            if multiply == "secondi":
                value = u
            elif multiply == "firsti":
                value = v
            else:
                value = table[multiply](np.asarray(w).astype(dtype)[()], x[u])
        by_row.setdefault(v, []).append(np.asarray(value).astype(dtype)[()])
    return by_row


def total(values, add, dtype):
    """Messages of one row as one."""
    table = TRUTHS if np.dtype(dtype).kind == "b" else NUMBERS
    result = np.asarray(identity(add, dtype)).astype(dtype)[()]
    with np.errstate(all="ignore"):
        for value in values:
            result = np.asarray(table[add](result, value)).astype(dtype)[()]
    return result


def product(entries, semiring, x, out, dtype, *, active=None, mask=None, complement=False, accum=None):
    """The result vector, the rows that got a message, and for `any` semirings the values each row may have."""
    add, multiply = semiring.split("_")
    result = out.copy()
    sent = messages([e for e in entries if active is None or active[e[1]]], multiply, x, dtype)
    received = np.zeros(len(out), bool)
    choices = {}
    for v in range(len(out)):
        if mask is not None and mask[v] == complement:
            continue
        values = sent.get(v, [])
        received[v] = bool(values)
        if add == "any":
            choices[v] = values
            continue
        if accum is None:
            result[v] = total(values, add, dtype)
        elif values:
            result[v] = NUMBERS[accum](out[v], total(values, add, dtype))
    return result, received, choices


def dense_product(dense, X):
    """A @ X by three loops."""
    result = np.zeros((dense.shape[0], X.shape[1]), np.result_type(dense, X))
    for i in range(dense.shape[0]):
        for j in range(dense.shape[1]):
            for k in range(X.shape[1]):
                result[i, k] += dense[i, j] * X[j, k]
    return result
