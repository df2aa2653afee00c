// The kernels of betweenness, forwards and back.
#pragma once
#include "paths_backward.cuh"
#include "paths_forward.cuh"
