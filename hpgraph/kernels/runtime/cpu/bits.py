"""Instructions on the bits of one word, which Numba's compiled code has no other name for."""

from numba import types

from hpgraph.semiring.intrinsic import intrinsic


@intrinsic(lambda word: int(word).bit_count())
def popcount(typingctx, word):
    """How many bits of a uint64 are set."""

    def generate(context, builder, signature, args):
        return context.cast(builder, builder.ctpop(args[0]), types.uint64, types.int64)

    return types.int64(types.uint64), generate


@intrinsic(lambda word: (int(word) & -int(word)).bit_length() - 1)
def lowest_bit(typingctx, word):
    """Place of the lowest bit set in a uint64 that is not zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


@intrinsic(lambda number: int(number).bit_length())
def bit_length(typingctx, number):
    """Bits that an int64 above zero takes: the steps of a binary search among so many."""

    def generate(context, builder, signature, args):
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, True))
        return builder.sub(context.get_constant(types.int64, 64), zeros)

    return types.int64(types.int64), generate
