"""C++ names of the types of real numbers, for kernels' templates."""

import numpy as np

REAL_TYPES = {
    np.dtype(name): text
    for name, text in {
        "bool": "bool",
        "int8": "signed char",
        "int16": "short",
        "int32": "int",
        "int64": "long long",
        "uint8": "unsigned char",
        "uint16": "unsigned short",
        "uint32": "unsigned int",
        "uint64": "unsigned long long",
        "float32": "float",
        "float64": "double",
    }.items()
}

# Types of ids, by their bytes.
ID_TYPES = {4: "int", 8: "long long"}
# Values that are only copied, by their bytes, so that few kernels serve all types.
WORD_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long", 16: "ulonglong2"}
