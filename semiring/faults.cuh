// Exceptions in Python functions: what indexes an array out of its bounds reports that here, and returns zero.
#pragma once

// How many calls ended by an exception since the module was loaded, and the function of the last one.
extern "C" __device__ unsigned hpgraph_faults[2];
__device__ unsigned hpgraph_faults[2] = {0, 0};

extern "C" __device__ __noinline__ void hpgraph_fault(unsigned function) {
    atomicAdd(&hpgraph_faults[0], 1u);
    *(volatile unsigned*)&hpgraph_faults[1] = function;
}
