"""The GPU's runtime: NVRTC and nvJitLink behind a cache, launches, persistent kernels."""
