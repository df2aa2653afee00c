"""What the tests of formats share: random triplets, and a way to and from each device."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hpgraph.core.device import to_device


@pytest.fixture
def put(device: str) -> Callable[[Any], Any]:
    """Puts an array on the device under test."""
    return lambda array: None if array is None else to_device(np.asarray(array), device)


@pytest.fixture(params=["whole", "parts"])
def sorting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the GPU small inputs are sorted in one part, and transposes dealt by digits; here in many parts, too."""
    if request.param == "parts":
        monkeypatch.setattr("hpgraph.formats.convert_cuda._RADIX_ENTRIES", 0)
        monkeypatch.setattr("hpgraph.formats.convert_cuda._MIN_PART", 7)
        monkeypatch.setattr("hpgraph.formats.convert_cuda._scratch", lambda index_bytes, data: 0.0)
