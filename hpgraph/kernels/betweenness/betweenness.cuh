// The kernels of betweenness, forward and backward.
#pragma once
#include "paths_backward.cuh"
#include "paths_forward.cuh"
