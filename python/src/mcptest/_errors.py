"""Exceptions as JSON and back. Nothing is imported: a recording does not choose what runs."""

from __future__ import annotations

import builtins
import contextlib
import functools
import json
from collections.abc import Iterator
from typing import Any

from ._door import ToolError
from ._values import encode

# Frameworks end a tool with these when nothing has failed.
_CONTROL = {"GraphBubbleUp": "langgraph", "CallDeferred": "pydantic_ai", "ApprovalRequired": "pydantic_ai"}
# The last of the arguments that are told: what the object has beside them.
_ATTRIBUTES = "$attributes"


def ended(error: BaseException, control: tuple[type[BaseException], ...]) -> dict[str, Any]:
    """What is told of a run that raised: it failed, or it was left by control flow."""
    ancestors = {(kind.__name__, str(kind.__module__).partition(".")[0]) for kind in type(error).__mro__}
    if not isinstance(error, Exception) or isinstance(error, control) or ancestors & _CONTROL.items():
        return {"left": True}
    told: dict[str, Any] = {"type": type(error).__name__, "module": str(type(error).__module__), "text": ""}
    with contextlib.suppress(Exception):
        told["text"] = str(error).encode("utf-8", "replace").decode()
    with contextlib.suppress(Exception):
        made: Any = error.__reduce__()
        args = list(made[1]) if _is_plain(made[1]) else []
        texts = {key: str(value) if isinstance(value, Exception) else value for key, value in dict(*made[2:3]).items()}
        attributes = {key: value for key, value in texts.items() if _is_plain(value)}
        if args or attributes:
            told["args"] = [*args, {_ATTRIBUTES: attributes}] if attributes else args
    return {"error": told}


def _is_plain(value: Any) -> bool:
    with contextlib.suppress(Exception):
        return json.dumps(encode(value)) == json.dumps(value)
    return False


def played(told: dict[str, Any], names: dict[str, Any]) -> Exception:
    """The recorded exception: of a class that is loaded, with the recorded text, or a `ToolError` of that name."""
    name, module, text = told["type"], told.get("module"), told["text"]
    args, attributes = told.get("args") or [], {}
    if isinstance(args, list) and args and isinstance(args[-1], dict) and _ATTRIBUTES in args[-1]:
        args, attributes = args[:-1], args[-1][_ATTRIBUTES]
    kind = _loaded(name, module, names)
    makings = [lambda: kind(*args), lambda: kind(text), kind, lambda: _unmade(kind, args, attributes)] if kind else []
    for make in makings:
        with contextlib.suppress(Exception):
            error: Exception = make()
            has_all = all(encode(vars(error)[key]) == value for key, value in attributes.items())
            if type(error) is kind and str(error) == text and has_all:
                return error
    return _stand_in(name, module if isinstance(module, str) else "mcptest")(text)


def _unmade(kind: type[Exception], args: list[Any], attributes: dict[str, Any]) -> Exception:
    """An object whose class has not made it: nothing of this class runs."""
    base: Any = next(each for each in kind.__mro__ if vars(builtins).get(each.__name__) is each)
    error: Exception = base.__new__(kind, *args)
    vars(error).update(attributes)
    getattr(error, "__notes__", None)  # Some classes do not find what is missing.
    return error


def _loaded(name: str, module: Any, names: dict[str, Any]) -> Any:
    """A class of this name. Without a module: that of the tool's own file, else Python's own, else the only one."""
    if name == "ToolError" and module is None:
        return ToolError
    found = [kind for kind in _subclasses(Exception, set()) if kind.__name__ == name]
    if module is not None:
        return next((kind for kind in reversed(found) if kind.__module__ == module), None)
    for scope in (names, vars(builtins)):
        for kind in found:
            if scope.get(name) is kind:
                return kind
    return found[0] if len(found) == 1 else None


def _subclasses(kind: type, seen: set[Any]) -> Iterator[Any]:
    below: Any
    for below in type.__subclasses__(kind):
        if below not in seen and not vars(below).get("_mcptest_stands_in"):
            seen.add(below)
            yield below
            yield from _subclasses(below, seen)


@functools.lru_cache(maxsize=256)
def _stand_in(name: str, module: str) -> type[ToolError]:
    try:
        return type(name, (ToolError,), {"__module__": module, "_mcptest_stands_in": True})
    except ValueError:
        return ToolError
