// Lowering values in place: the effect of a message on its vertex, and which vertices send again.
#pragma once
#include "load_balancing.cuh"

namespace hpgraph {

template <class T, int size = sizeof(T)>
struct Bits;
template <class T>
struct Bits<T, 4> {
    typedef unsigned int type;
};
template <class T>
struct Bits<T, 8> {
    typedef unsigned long long type;
};

// *where = combine(*where, message); whether that changed it. `current` is the expected value and receives the new one.
template <class T, class Combine>
__device__ bool atomic_update(T* where, T message, T& current, Combine combine) {
    typedef typename Bits<T>::type Word;
    T old = current;
    while (true) {
        const T now = combine(old, message);
        // A NaN never equals itself: it must not count as a change each time.
        if (now == old || now != now) return false;
        const Word seen = *(const Word*)&old, put = *(const Word*)&now;
        const Word found = atomicCAS((Word*)where, seen, put);
        if (found == seen) {
            current = now;
            return true;
        }
        old = *(const T*)&found;
    }
}

// Atomic minimum; returns the value before.
template <class T>
__device__ T atomic_least(T* where, T message) {
    return atomicMin(where, message);
}
// Floats of one sign are ordered as the integers of the same bits are.
__device__ inline float atomic_least(float* where, float message) {
    message += 0.0f;  // no negative zero
    if (message >= 0) return __int_as_float(atomicMin((int*)where, __float_as_int(message)));
    return __uint_as_float(atomicMax((unsigned*)where, __float_as_uint(message)));
}
__device__ inline double atomic_least(double* where, double message) {
    message += 0.0;
    if (message >= 0) return __longlong_as_double(atomicMin((i64*)where, __double_as_longlong(message)));
    return __longlong_as_double((i64)atomicMax((u64*)where, (u64)__double_as_longlong(message)));
}

// Non-atomic test.
template <class Program, class Value>
__device__ bool improves(const Program& program, Value message, Value current) {
    if constexpr (Program::MIN) return message < current;
    const Value now = program.reduce(current, message);
    return now != current && now == now;
}

// Thresholds that decide whether a vertex is near, far, or sends nothing.
template <class Value>
struct Bounds {
    bool on;
    Value threshold, ceiling;
};

// In a graph on one GPU, all vertices are own ones. A remote vertex is reported to its owner whatever its value.
struct OwnsAll {
    __device__ bool operator()(i64) const { return true; }
};

// Lower vertices by messages; warp-collective. Calls arrive(comes, near, again, vertex) for each newly queued or
// waiting vertex, at most `size` times, until no lane of the warp has one; `again` if the vertex was near before. With
// `few` messages latency matters, not the number of atomics: minima and bits are not tested before the atomics.
template <bool few = false, int size, class Program, class Index, class Value, class Arrive, class Owns = OwnsAll>
__device__ void deliver(const Program& program, const Bounds<Value>& bounds, u32* queued, u32* waiting,
                        const Index (&v)[size], const Value (&message)[size], bool (&live)[size], Arrive arrive,
                        Owns owns = {}) {
    Value current[size];
    // May be stale in L1; safe, since values only move one way and the atomic checks again.
#pragma unroll
    for (int k = 0; k < size; ++k) current[k] = live[k] && !(few && Program::MIN) ? program.p0[v[k]] : Value();
    u32 seen[size], again = 0;  // bit k of the second: the k-th was near before
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if constexpr (Program::MIN) {
            // No atomic stores a NaN.
            live[k] = live[k] && (few ? message[k] == message[k] : message[k] < current[k]);
            if (live[k]) current[k] = atomic_least(program.p0 + v[k], message[k]);
            again |= (u32)(bounds.on && current[k] < bounds.threshold) << k;
        } else {
            live[k] = live[k] && atomic_update(program.p0 + v[k], message[k], current[k],
                                               [&](Value a, Value b) { return program.reduce(a, b); });
        }
    }
    bool is_near[size];
    const auto word = [&](int k) { return (is_near[k] ? queued : waiting) + (v[k] >> 5); };
    const auto flag = [&](int k) { return 1u << (v[k] & 31); };
#pragma unroll
    for (int k = 0; k < size; ++k) {
        if constexpr (Program::MIN) live[k] = live[k] && message[k] < current[k], current[k] = message[k];
        live[k] = live[k] && !(bounds.on && current[k] > bounds.ceiling && owns(v[k]));
        is_near[k] = !bounds.on || current[k] < bounds.threshold || !owns(v[k]);
        seen[k] = !live[k] ? ALL : few ? 0 : *word(k);
    }
    loaded(seen);
#pragma unroll
    for (int k = 0; k < size; ++k) seen[k] = seen[k] & flag(k) ? ALL : atomicOr(word(k), flag(k));
    u32 claimed = 0, near_ones = 0;  // which of the batch
#pragma unroll
    for (int k = 0; k < size; ++k) claimed |= !(seen[k] & flag(k)) << k, near_ones |= is_near[k] << k;
    for (; __any_sync(ALL, claimed); claimed &= claimed - 1) {
        const int k = __ffs(claimed) - 1;
        arrive(claimed != 0, claimed && (near_ones >> k & 1), again >> k & 1, pick(v, k));
    }
}

// Load what is read once: the caches keep the values of vertices instead.
template <class T>
__device__ T load_streamed(const T* where) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        const auto bits = __ldcs((const typename Bits<T>::type*)where);
        return *(const T*)&bits;
    } else {
        return *where;
    }
}
template <class Index, class Weight>
__device__ Weight load_streamed_weight(const Arcs<Index, Weight>& out, i64 j) {
    return load_streamed(out.data + j);
}
template <class Index>
__device__ int load_streamed_weight(const Arcs<Index, Pattern>& out, i64 j) {
    return out.weight(j);
}

// The messages along a batch of arcs, and which of them are sent.
template <bool streamed, int size, class Program, class Index, class Weight, class Value>
__device__ void messages_along(const Program& program, const Arcs<Index, Weight>& out, const Batch<Index, size>& batch,
                               Index (&v)[size], Value (&message)[size], bool (&live)[size]) {
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const Index* const place = out.indices + batch.arc[k];
        v[k] = !batch.live[k] ? 0 : streamed ? load_streamed(place) : *place;
    }
#pragma unroll
    for (int k = 0; k < size; ++k) {
        const i64 arc = batch.arc[k];
        const auto weight = !batch.live[k] ? 0 : streamed ? load_streamed_weight(out, arc) : out.weight(arc);
        live[k] = batch.live[k] && program.cond(v[k]) && program.edge_cond(batch.source[k], weight, v[k]);
        message[k] = live[k] ? (Value)program.gather(batch.source[k], weight, v[k]) : Value();
    }
}

// Lower the targets of a batch of arcs; see `deliver`.
template <bool few = false, int size, class Program, class Index, class Weight, class Value, class Arrive,
          class Owns = OwnsAll>
__device__ void send(const Program& program, const Arcs<Index, Weight>& out, const Bounds<Value>& bounds,
                     u32* queued, u32* waiting, const Batch<Index, size>& batch, Arrive arrive, Owns owns = {}) {
    Index v[size];
    Value message[size];
    bool live[size];
    messages_along<false>(program, out, batch, v, message, live);
    deliver<few>(program, bounds, queued, waiting, v, message, live, arrive, owns);
}

// A message that passed the non-atomic test.
template <class Index, class Value>
struct Candidate {
    Index target;
    u32 words[sizeof(Value) / 4];  // the message, aligned as an index is: 12 bytes, not 16, where it has 8

    __device__ static Candidate of(Index target, const Value& message) {
        Candidate made;
        made.target = target;
        memcpy(made.words, &message, sizeof(Value));
        return made;
    }
    __device__ Value message() const {
        Value value;
        memcpy(&value, words, sizeof(Value));
        return value;
    }
};

// Call offer(mine, candidate) for the messages along a batch of arcs that may improve their targets;
// warp-collective.
template <int size, class Program, class Index, class Weight, class Offer>
__device__ void offer_along(const Program& program, const Arcs<Index, Weight>& out, const Batch<Index, size>& batch,
                            Offer offer) {
    using Value = typename Program::Message;
    Index v[size];
    Value message[size], current[size];
    bool live[size];
    messages_along<true>(program, out, batch, v, message, live);
    // May be stale in L1, as in `deliver`.
#pragma unroll
    for (int k = 0; k < size; ++k) current[k] = live[k] ? program.p0[v[k]] : Value();
    u32 better = 0;  // which of the batch
#pragma unroll
    for (int k = 0; k < size; ++k) better |= (u32)(live[k] && improves(program, message[k], current[k])) << k;
    for (; __any_sync(ALL, better); better &= better - 1) {
        const int k = __ffs(better) - 1;
        offer(better != 0, Candidate<Index, Value>::of(pick(v, k), pick(message, k)));
    }
}

}  // namespace hpgraph
