"""Values as JSON and back, so that what is played is what was recorded."""

from __future__ import annotations

import base64
import collections.abc
import contextlib
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import math
import os
import typing
import uuid
from typing import Any, Callable, Optional, Union

_DEPTH = 100
_FRAMEWORKS = ("agno", "dspy", "langchain", "langchain_core", "langgraph", "pydantic_ai", "smolagents")
# Of openai-agents, whose package has a name that is anybody's.
_CONTEXTS = ("agents.run_context", "agents.tool_context")
_NOTHINGS = (Any, object, None, type(None))
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


def _moment(value: Any) -> str:
    return str(value.isoformat().replace("+00:00", "Z"))


# What is a text in JSON: how it is written, and how it is read.
_TEXTS: dict[Any, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    bytes: (lambda value: base64.b64encode(value).decode(), functools.partial(base64.b64decode, validate=True)),
    datetime.datetime: (_moment, lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))),
    datetime.date: (_moment, datetime.date.fromisoformat),
    datetime.time: (_moment, datetime.time.fromisoformat),
    decimal.Decimal: (str, decimal.Decimal),
    uuid.UUID: (str, uuid.UUID),
}
# What JSON has for a type.
_SHAPES: dict[Any, Any] = {
    **dict.fromkeys([*_LISTS, tuple], list),
    **dict.fromkeys([*_TEXTS, str], str),
    **dict.fromkeys([dict, collections.abc.Mapping, collections.abc.MutableMapping], dict),
    bool: bool,
    int: int,
    float: (int, float),
}


class UnkeptError(Exception):
    """Why a value cannot be given back."""


def is_of_a_framework(value: Any) -> bool:
    """Whether this is injected: no model gives such an object."""
    module = str(type(value).__module__)
    return module in _CONTEXTS or module.partition(".")[0] in _FRAMEWORKS


def _is_model(kind: Any) -> Any:
    return hasattr(kind, "model_validate") and hasattr(kind, "model_dump")


def encode(value: Any, is_argument: bool = False, depth: int = 0, seen: Optional[list[Any]] = None) -> Any:
    """The JSON of a value; `UnkeptError` where it has none. Of an argument's model, only what was given.

    `seen` is told the types of all that is in the value. What pydantic makes is told itself, as it can be compared.
    """
    inner = functools.partial(encode, is_argument=is_argument, depth=depth + 1, seen=seen)
    if seen is not None:
        seen.append(value if _is_model(type(value)) else type_of(value))
    if depth > _DEPTH:
        raise UnkeptError(f"it is nested more than {_DEPTH} deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return inner(value.value)
    if isinstance(value, str):
        value.encode()  # Half of a character is no JSON.
        return str.__str__(value)
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {inner(key): inner(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [inner(item) for item in value]
    for kind, (write, _) in _TEXTS.items():
        if isinstance(value, kind):
            return write(value)
    if not (is_argument and is_of_a_framework(value)):
        if _is_model(type(value)):
            return inner(value.model_dump(mode="json", by_alias=True, exclude_unset=is_argument))
        if dataclasses.is_dataclass(value):
            return {field.name: inner(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if is_argument and isinstance(value, (os.PathLike, int, float)):
        return str(value)
    if is_argument and isinstance(value, (set, frozenset)):
        return sorted(map(inner, value), key=json.dumps)
    what = {dict: "a `dict` with keys that are no texts", int: "a number of more than 64 bits", float: "`nan` or `inf`"}
    raise UnkeptError(f"{what.get(type(value)) or a(type(value))} has no form as JSON")


def decode(wanted: Any, data: Any) -> Any:
    """The value that an annotation wants; an exception where the data is none."""
    while hasattr(wanted, "__supertype__") or name_of(type(wanted)) == "TypeAliasType":
        wanted = getattr(wanted, "__supertype__", None) or wanted.__value__
    kind, inner = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    if kind is Union or name_of(kind) == "UnionType":
        for each in inner:
            with contextlib.suppress(Exception):
                return decode(each, data)
        raise ValueError("none of the annotated types")
    if kind is typing.Literal and data not in inner:
        raise ValueError(f"none of {inner}")
    if data is None or kind in (Any, object) or not isinstance(kind, type):
        return data
    if not isinstance(data, _SHAPES.get(kind, dict if dataclasses.is_dataclass(kind) else object)):
        raise ValueError(f"no `{name_of(kind)}`")
    if kind in _TEXTS:
        return _TEXTS[kind][1](data)
    if kind in _LISTS and inner:
        return [decode(inner[0], item) for item in data]
    if kind is tuple:
        kinds = (inner[:1] if inner[1:] == (...,) else ()) * len(data) or inner or (Any,) * len(data)
        if len(kinds) != len(data):
            raise ValueError("a tuple of another length")
        return tuple(map(decode, kinds, data))
    if _SHAPES.get(kind) is dict and inner:
        return {key: decode(inner[1], item) for key, item in data.items()}
    if _is_model(kind):
        return getattr(kind, "model_validate")(data)  # noqa: B009
    if dataclasses.is_dataclass(kind):
        hints, unset = {}, {field.name for field in dataclasses.fields(kind) if not field.init}
        with contextlib.suppress(Exception):
            hints = typing.get_type_hints(kind)
        return kind(**{key: decode(hints.get(key, Any), item) for key, item in data.items() if key not in unset})
    if issubclass(kind, enum.Enum):
        return kind(data)
    if kind in _SHAPES or (hasattr(kind, "__total__") and isinstance(data, dict)):
        return data
    raise ValueError(f"no `{name_of(kind)}`")


def a(kind: Any) -> str:
    """A class in a sentence."""
    return f"{'an' if name_of(kind)[:1] in 'aeiouAEIO' else 'a'} `{name_of(kind)}`"


def name_of(kind: Any) -> str:
    """How a class is called."""
    return getattr(kind, "__name__", str(kind))


def type_of(value: Any) -> Any:
    """The type of a value. A tuple counts as a list."""
    return list if type(value) is tuple else type(value)


class Values:
    """How a tool's values are written and read: by its annotation, or by what its owner says."""

    def __init__(self, wanted: Any, encoder: Any = None, decoder: Any = None) -> None:
        self.wanted, self.encoder, self.decoder = wanted, encoder, decoder

    def read(self, data: Any, told: bool = False, is_answer: bool = False) -> Any:
        """What is played. A text that the model was told, and what a suite answers, must be such a value."""
        read = self.decoder or functools.partial(decode, self.wanted)
        if told and self.wanted is type(None):
            return None
        if told and isinstance(data, str) and (self.decoder or self.wanted not in (Any, object, str)):
            with contextlib.suppress(Exception):
                return read(json.loads(data))
        try:
            value = read(data)
            if (
                is_answer
                and value is None
                and self.wanted not in _NOTHINGS
                and type(None) not in typing.get_args(self.wanted)
            ):
                raise ValueError("it may not be `None`")
            return value
        except Exception:
            if told or is_answer or self.decoder:
                raise
            return data  # The tool has returned something else than its annotation says.

    def write(self, value: Any) -> Any:
        """The JSON of a value that can be given back; `UnkeptError` says why it cannot."""
        was: list[Any] = []
        now: list[Any] = []
        try:
            data = self._encoded(value, was)
            back = self.read(json.loads(json.dumps(data)))
            is_same = json.dumps(self._encoded(back, now)) == json.dumps(data) and was == now
        except UnkeptError:
            raise
        except Exception as error:
            raise UnkeptError(f"{name_of(type(error))}: {error}") from error
        if not is_same:
            is_other = type(value) is not type(back)
            how = f"as {a(type(back))}" if is_other else "with another content, or with other types inside"
            what = "the tool needs a return annotation" if self.wanted is Any else f"the annotation is `{self.wanted}`"
            raise UnkeptError(f"{a(type(value))} would come back {how}: {what}")
        return data

    def _encoded(self, value: Any, seen: list[Any]) -> Any:
        if self.encoder is None:
            return encode(value, seen=seen)
        seen.append(type_of(value))
        return encode(self.encoder(value))
