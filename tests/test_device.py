"""Choosing a backend: without a GPU what can be said without one, with a GPU the rest."""

import builtins
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from raising import raises

from hpgraph import datasets
from hpgraph.core import device as placing
from hpgraph.core.errors import DeviceError, DeviceMemoryError, HpgraphError, MissingExtraError
from hpgraph.kernels.backend import kernels


class _CudaArray:
    """Stands for a CuPy array where there is none: its class says it comes from CuPy."""

    __module__ = "cupy._core.core"


class _Subclass(_CudaArray):
    __module__ = "elsewhere"


@pytest.mark.parametrize(("name", "canonical"), [("cpu", "cpu"), ("cuda", "cuda"), ("gpu", "cuda"), ("CUDA", "cuda")])
def test_names(name: str, canonical: str) -> None:
    assert placing.normalize_device(name) == canonical


@pytest.mark.parametrize("name", ["tpu", "", "cuda:0", None, 0])
def test_other_names_are_refused(name: Any) -> None:
    raises(ValueError, "device must be", placing.normalize_device, name)


@pytest.mark.parametrize("array", [np.zeros(2), scipy.sparse.eye_array(2), [1, 2], 3, None])
def test_what_is_not_cupy_lies_on_the_cpu(array: object) -> None:
    assert not placing.is_cuda(array)
    assert placing.device_of(array) == "cpu"


def test_cupy_is_recognized_by_its_classes() -> None:
    assert placing.is_cuda(_CudaArray())
    assert placing.is_cuda(_Subclass())
    assert placing.device_of(_CudaArray(), None, 2.5) == "cuda"


def test_mixed_devices_are_refused_with_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"\.to\(.*cupy\.asarray"):
        placing.device_of(np.zeros(2), _CudaArray())


def test_round_trip(device: str) -> None:
    host = np.arange(6, dtype=np.int32)
    there = placing.to_device(host, device)
    assert placing.device_of(there) == device
    assert placing.array_module(there) is placing.array_module(device)
    assert placing.to_device(there, device) is there
    back = placing.to_device(there, "cpu")
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, host)
    assert placing.to_device(None, device) is None


def test_memory(device: str) -> None:
    free = placing.free_memory(device)
    placing.check_memory(free // 2, "half of it", device)
    with pytest.raises(DeviceMemoryError, match="everything there is") as caught:
        placing.check_memory(1 << 60, "everything there is", device)
    assert caught.value.needed == 1 << 60
    assert caught.value.device == device
    assert isinstance(caught.value, MemoryError)


def test_kernels_of_the_device(device: str) -> None:
    name = "cuda" if device == "cuda" else "cpu"
    assert kernels(device).__name__ == f"hpgraph.kernels.{name}"


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import: Callable[..., ModuleType] = builtins.__import__

    def without_cupy(name: str, *rest: Any, **named: Any) -> ModuleType:
        if name == "cupy":
            raise ImportError("No module named 'cupy'")
        return real_import(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_cupy)
    monkeypatch.setattr(placing, "_has_driver", lambda: True)
    with pytest.raises(MissingExtraError, match=r"pip install 'hpgraph\[cuda1[23]\]'") as caught:
        placing.array_module("cuda")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, HpgraphError)
    assert not placing.cuda_available()
    monkeypatch.setattr(placing, "_has_driver", lambda: False)
    raises(DeviceError, "neither a CUDA GPU nor its driver", placing.array_module, "cuda")
    raises(DeviceError, "neither a CUDA GPU nor its driver", datasets.kron, 4, device="cuda")


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed")
@pytest.mark.skipif(placing.cuda_available(), reason="there is a GPU")
def test_with_cupy_but_no_gpu() -> None:
    raises(DeviceError, "cpu", placing.require_cupy)
    with pytest.raises(DeviceError):
        kernels("cuda")
