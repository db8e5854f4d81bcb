"""What a call costs over the tool itself: without a session, and at the door that MCPTEST_TOOLS names."""

from __future__ import annotations

import os
import statistics
import time
import timeit
from typing import Any, Callable

import mcptest


def nothing() -> None:
    """A tool that takes no time."""


def cost(fn: Callable[[], Any]) -> float:
    """Microseconds a call, of the quickest of twenty rounds."""
    return min(timeit.repeat(fn, number=10_000, repeat=20)) / 10_000 * 1e6


def main() -> None:
    """Prints both."""
    address = os.environ.pop("MCPTEST_TOOLS", None)
    tool = mcptest.tool(nothing)
    print(f"without a session: {cost(tool) - cost(nothing):.2f} µs a call")
    if address is None:
        return
    os.environ["MCPTEST_TOOLS"] = address
    took = []
    for _ in range(10_000):
        began = time.perf_counter()
        tool()
        took.append((time.perf_counter() - began) * 1e3)
    print(f"at the door: {statistics.median(took):.3f} ms a call (median of 10,000)")


if __name__ == "__main__":
    main()
