"""Whether a machine was left alone during a measurement: how much of its processors others took."""

import os
import time
from pathlib import Path


class Neighbours:
    """Watches from when it is made. Linux only; elsewhere nothing is known."""

    def __init__(self) -> None:
        self._start = self._now()

    def _now(self) -> tuple[float, float]:
        """Processor seconds of all processes, and those of this one and its children that have ended."""
        try:
            ticks = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        except OSError:
            return time.monotonic(), time.monotonic()
        user, nice, system, _, _, interrupts, soft = (int(word) for word in ticks[:7])
        whole = (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
        return whole, sum(os.times()[:4])

    def seconds(self) -> float:
        """Processor seconds that other processes took since."""
        (whole, own), (whole_then, own_then) = self._now(), self._start
        return max(0.0, (whole - whole_then) - (own - own_then))
