"""Results that are one array first of all, and hold beside it how it was come by."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import ByVertex
from hpgraph.core.device import to_device


class ArrayResult(ByVertex, ResultTable, np.lib.mixins.NDArrayOperatorsMixin):
    """A result that stands for one of its arrays: in arithmetic and comparisons, under an index or a name, by methods.

    Classes that derive from it name the attribute that holds the array, ``class Ranks(ArrayResult, array="rank")``;
    those that derive from them have the same. It is the table's only column beside the vertex, unless `columns` are
    given.
    """

    _array: ClassVar[str]

    def __init_subclass__(cls, array: str | None = None, **others: Any) -> None:
        if array is not None:
            cls._array = array
            others = {"columns": (array,), **others}
        super().__init_subclass__(**others)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        # From the GPU it is copied.
        made = to_device(getattr(self, self._array), "cpu")
        if dtype is not None and made.dtype != dtype:
            return np.asarray(made.astype(dtype))
        return np.array(made) if copy else np.asarray(made)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = (one._values_by_vertex() if isinstance(one, ArrayResult) else one for one in inputs)
        return getattr(ufunc, method)(*given, **options)

    def __getattr__(self, name: str) -> Any:
        # Methods and attributes of the array, such as `sum` and `dtype`; not while a result is put together.
        if name.startswith("_") or self._array not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.__dict__[self._array], name)

    def _values_by_vertex(self) -> Any:
        return self.__dict__[self._array]

    def __getitem__(self, key: Any) -> Any:
        return self._values_by_vertex()[self._at(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values_by_vertex())

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._names is not None and value in self._names
        return bool((self._values_by_vertex() == value).any())

    def __len__(self) -> int:
        return len(self._values_by_vertex())
