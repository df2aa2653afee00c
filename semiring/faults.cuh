// Exceptions in Python functions: an array index out of bounds is recorded here, and the function returns zero.
#pragma once

// Number of calls that raised an exception since the module was loaded, and the function of the last one.
extern "C" __device__ unsigned hpgraph_faults[2];
__device__ unsigned hpgraph_faults[2] = {0, 0};

extern "C" __device__ __noinline__ void hpgraph_fault(unsigned function) {
    atomicAdd(&hpgraph_faults[0], 1u);
    *(volatile unsigned*)&hpgraph_faults[1] = function;
}
