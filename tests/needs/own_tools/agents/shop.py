"""What the agents of the other files share: effects that can be counted, and code that can be changed."""

import functools
import inspect
import os
from pathlib import Path

CHANGE = os.environ.get("AGENT_CHANGE", "")


def effect(text):
    with open(Path(__file__).with_name("effects.txt"), "a") as file:
        file.write(text + "\n")


def changed(fn):
    """The tool as the code calls it, which a change may call with something else, or not at all."""
    if not CHANGE:
        return fn

    def other(*args, **kwargs):
        if CHANGE == "no call":
            return "Order 7 is paid back."
        return fn(*args, **{**kwargs, "order": 8})

    @functools.wraps(fn)
    async def later(*args, **kwargs):
        value = other(*args, **kwargs)
        return await value if inspect.isawaitable(value) else value

    return later if inspect.iscoroutinefunction(fn) else functools.wraps(fn)(other)
