"""Sums of floats that LLVM may reassociate, so that it can vectorize their loop."""

from typing import Any

from numba import types

from hpgraph.semiring.intrinsic import intrinsic


@intrinsic(lambda sums, parts: tuple(a + b for a, b in zip(sums, parts, strict=True)))
def add_each(typingctx: Any, sums: Any, parts: Any) -> Any:
    """Elementwise sum of a tuple of float64 and a tuple of floats."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        added = []
        for k, kind in enumerate(sig.args[1]):
            part = context.cast(builder, builder.extract_value(args[1], k), kind, types.float64)
            added.append(builder.fadd(builder.extract_value(args[0], k), part, flags=["reassoc"]))
        return context.make_tuple(builder, sig.return_type, added)

    return sums(sums, parts), generate
