"""Exceptions as JSON and back. Nothing is imported: a recording does not choose what runs."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import json
from collections.abc import Iterator
from typing import Any

from ._door import ToolError
from ._values import alike, encode

# Frameworks end a tool with these when nothing has failed: the package, the class.
_CONTROL = {
    ("langgraph", "GraphBubbleUp"),
    ("pydantic_ai", "CallDeferred"),
    ("pydantic_ai", "ApprovalRequired"),
}


def ended(error: BaseException, control: tuple[type[BaseException], ...]) -> dict[str, Any]:
    """What is told of a run that raised: it failed, or it was left by control flow."""
    ancestors = {(str(kind.__module__).partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    if not isinstance(error, Exception) or isinstance(error, control) or ancestors & _CONTROL:
        return {"left": True}
    told: dict[str, Any] = {"type": type(error).__name__, "module": str(type(error).__module__), "text": ""}
    with contextlib.suppress(Exception):
        told["text"] = str(error).encode("utf-8", "replace").decode()
    with contextlib.suppress(Exception):
        plain = [args for args in _makings(error) if _is_plain(args)]
        told["args"] = next(filter(functools.partial(_makes, error), plain), plain[0])
    return {"error": told}


def _makings(error: Exception) -> Iterator[list[Any]]:
    """What may have made it: its `args`, or its attributes that are named as the parameters of its class."""
    if isinstance(error, OSError) and error.filename is not None:
        yield [error.errno, error.strerror, error.filename]
    yield list(error.args)
    with contextlib.suppress(Exception):
        made: list[Any] = []
        for name, parameter in inspect.signature(type(error)).parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                made += vars(error)[name]
            elif parameter.kind is not parameter.KEYWORD_ONLY and name in vars(error):
                made.append(vars(error)[name])
        yield made


def _is_plain(args: list[Any]) -> bool:
    with contextlib.suppress(Exception):
        return json.dumps(encode(args)) == json.dumps(args)
    return False


def _makes(error: Exception, args: list[Any]) -> bool:
    with contextlib.suppress(Exception):
        made = type(error)(*args)
        return str(made) == str(error) and alike(vars(made), vars(error))
    return False


def played(told: dict[str, Any], names: dict[str, Any]) -> Exception:
    """The recorded exception: of a class that is loaded, with the recorded text, or a `ToolError` of that name."""
    name, module, text, args = told["type"], told.get("module"), told["text"], told.get("args")
    kind = _loaded(name, module, names)
    for given in ([args] if isinstance(args, list) else []) + [[text], []] if kind else []:
        try:
            error: Exception = kind(*given)
            if type(error) is kind and str(error) == text:
                return error
        except Exception:
            continue
    return _stand_in(name, module if isinstance(module, str) else "mcptest")(text)


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
