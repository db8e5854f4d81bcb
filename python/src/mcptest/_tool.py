"""The decorator: a wrapper for each kind of function, and one way through the door."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import json
import re
import sys
import typing
from collections.abc import AsyncGenerator, Awaitable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional, TypedDict, TypeVar, overload

from ._door import ToolError, ask, idle, tell
from ._errors import ended, played
from ._values import UnkeptError, Values, encode, is_of_a_framework

if sys.version_info >= (3, 14):
    import annotationlib

    _FORWARD: Any = {"annotation_format": annotationlib.Format.FORWARDREF}
else:
    _FORWARD: Any = {}
if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
_SENT = "mcptest: a generator that is a tool takes no `send` while it is recorded or played"
_ANY_SIGNATURE = inspect.signature(lambda *args, **kwargs: None)
# What langchain fills in, by its annotations.
_INJECTED = re.compile("Injected(State|Store|Tool(Arg|CallId))|RunnableConfig")
_INSIDE: contextvars.ContextVar[Optional[str]] = contextvars.ContextVar("mcptest_inside", default=None)


class Options(TypedDict, total=False):
    """What `tool` takes beside the function."""

    name: str
    ignore: Iterable[str]
    control: Iterable[type[BaseException]]
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


@overload
def tool(fn: F, /, **options: Unpack[Options]) -> F: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[F], F]: ...
def tool(fn: Any = None, /, **options: Any) -> Any:
    """Shows a tool of the agent's own code to the session that records or plays it. Without a session, it does nothing.

    `name`: what the model calls the tool, if not by the function's name. `ignore`: parameters that are not told.
    `control`: exceptions that end the tool although nothing has failed. `encode`, `decode`: its value, or each item of
    a generator, as JSON and back.
    """
    if fn is None:
        return lambda fn: tool(fn, **options)
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(tool(fn.__func__, **options))
    if not callable(fn) or isinstance(fn, type):
        raise TypeError(f"mcptest.tool takes a function, and this is none: {fn!r}")
    own = _Own(fn, **options)
    wrapper = own.kind(own, fn)
    functools.update_wrapper(wrapper, fn)
    if not hasattr(fn, "__name__"):
        wrapper.__name__ = wrapper.__qualname__ = own.name
    return wrapper


class _Own:
    """A function that is a tool, and what is known of it."""

    def __init__(
        self, fn: Any, name: str = "", ignore: Any = (), control: Any = (), encode: Any = None, decode: Any = None
    ) -> None:
        self.fn, self.control, self.codec = fn, tuple(control), (encode, decode)
        self.name = name or getattr(fn, "__name__", "")
        if not self.name or self.name == "<lambda>":
            raise TypeError(f"mcptest.tool needs `name=` for what has no name: {fn!r}")
        if (encode is None) != (decode is None):
            raise TypeError("mcptest.tool takes `encode=` and `decode=` together")
        bare = fn
        while isinstance(bare, functools.partial):
            bare = bare.func
        bare = bare if inspect.isroutine(bare) else type(bare).__call__
        # The names of the file that it stands in.
        self.names: dict[str, Any] = getattr(inspect.unwrap(bare), "__globals__", {})
        if inspect.isasyncgenfunction(bare):
            self.kind: Any = _async_generator
        elif inspect.isgeneratorfunction(bare):
            self.kind = _generator
        else:
            is_coroutine = inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(bare)
            self.kind = _coroutine if is_coroutine else _plain
        self.untold = {"self", "cls", *([ignore] if isinstance(ignore, str) else ignore)}

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        try:
            return inspect.signature(self.fn, **_FORWARD)
        except (TypeError, ValueError):
            return _ANY_SIGNATURE

    @functools.cached_property
    def returns(self) -> Any:
        """What its annotation says that it returns. One that cannot be resolved counts as none."""

        def stand_in() -> None: ...

        stand_in.__annotations__ = {"return": self.signature.return_annotation}
        with contextlib.suppress(Exception):
            hint = typing.get_type_hints(stand_in, self.names)["return"]
            return Any if hint is inspect.Signature.empty else hint
        return Any

    @functools.cached_property
    def gives_awaitable(self) -> bool:
        """Whether a plain function returns what is awaited."""
        kind = typing.get_origin(self.returns) or self.returns
        return self.kind is _plain and isinstance(kind, type) and issubclass(kind, Awaitable)

    @functools.cached_property
    def values(self) -> Values:
        inner = typing.get_args(self.returns) or (Any,)
        if self.kind in (_generator, _async_generator):
            return Values(inner[0], *self.codec)
        return Values(inner[-1] if self.gives_awaitable else self.returns, *self.codec)

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:  # As the function will say.
            bound = _ANY_SIGNATURE.bind(*args, **kwargs)
        asked: dict[str, Any] = {"args": {}}
        for name, value in bound.arguments.items():
            parameter = bound.signature.parameters[name]
            hint = str(parameter.annotation)
            call_id = getattr(value, "tool_call_id", None) if is_of_a_framework(value) else value
            if isinstance(call_id, str) and (call_id is not value or "InjectedToolCallId" in hint):
                asked["call_id"] = call_id
            given = value if parameter.kind is parameter.VAR_KEYWORD else {name: value}
            for key, item in given.items():
                if not (key in self.untold or _INJECTED.search(hint)):
                    with contextlib.suppress(Exception):
                        asked["args"][encode(key)] = encode(item, is_argument=True)
        inside = _INSIDE.get()
        return _Call(self, ask(self.name, asked if inside is None else {**asked, "inside": inside}))


class _Call:
    """A call that the door has answered: it runs, or something is given back in its place."""

    def __init__(self, own: _Own, answer: dict[str, Any]) -> None:
        self.own, self.answer = own, answer
        self.runs = "run" in answer
        self.items: list[Any] = []
        self.unkept: Optional[str] = None
        self.is_more = False

    def given(self) -> Any:
        if "error" in self.answer:
            raise played(self.answer["error"], self.own.names)
        return self.read(self.answer["result"])

    async def given_later(self) -> Any:
        return self.given()

    def given_items(self) -> Iterator[Any]:
        error = self.answer.get("error")
        items = error.get("items", []) if error else self.answer["result"]
        yield from map(self.read, items if isinstance(items, list) else [items])
        if error:
            raise played(error, self.own.names)

    def read(self, data: Any) -> Any:
        try:
            return self.own.values.read(data, self.answer.get("told") is True)
        except Exception as error:
            why = f"what the recording has is no value of it now ({error}). Record again, or let it run: `run:`"
            raise ToolError(f"mcptest: the tool `{self.own.name}` did not run: {why}") from error

    def took(self, value: Any) -> None:
        try:
            self.items.append(self.own.values.write(value))
        except UnkeptError as why:
            self.unkept = self.unkept or str(why)
        with contextlib.suppress(Exception):  # Nothing may fail here: the tool has run.
            self.is_more = self.is_more or self.own.values.is_more_than_json(self.items[-1])

    def end(self, told: dict[str, Any]) -> None:
        if self.is_more and "result" in told:
            told["text"] = json.dumps(told["result"], ensure_ascii=False, separators=(",", ":"))
        if self.runs:
            tell(self.answer["run"], {"unkept": self.unkept} if self.unkept else told)
        self.runs = False

    def returned(self, value: Any) -> Any:
        self.took(value)
        self.end({"result": self.items[0] if self.items else None})
        return value

    def exhausted(self, value: Any = None) -> Any:
        if value is not None:
            self.unkept = "what a generator returns at its end is not played"
        self.end({"result": self.items})
        return value

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """What happens here is inside of the run, and an exception is its end."""
        token = _INSIDE.set(self.answer["run"])
        try:
            yield
        except BaseException as error:
            is_generator = self.own.kind in (_generator, _async_generator)
            if not (is_generator and isinstance(error, (StopIteration, StopAsyncIteration))):
                told = ended(error, self.own.control)
                if self.items and "error" in told:
                    told["error"]["items"] = self.items
                self.end(told)
            raise
        finally:
            with contextlib.suppress(ValueError):  # It goes on in another context than it began in.
                _INSIDE.reset(token)

    async def awaited(self, start: Callable[[], Awaitable[Any]]) -> Any:
        with self.running():
            value = await start()
        return self.returned(value)


def _plain(own: _Own, fn: Any) -> Callable[..., Any]:
    def plain(*args: Any, **kwargs: Any) -> Any:
        if idle():
            return fn(*args, **kwargs)
        call = own.begin(args, kwargs)
        if not call.runs:
            return call.given_later() if own.gives_awaitable else call.given()
        with call.running():
            value = fn(*args, **kwargs)
        is_awaitable = inspect.isawaitable(value)
        if is_awaitable is not own.gives_awaitable:
            call.unkept = "its value is awaited, or its annotation says so, and not both: `-> Awaitable[...]`"
        return call.awaited(lambda: value) if is_awaitable else call.returned(value)

    return plain


def _coroutine(own: _Own, fn: Any) -> Callable[..., Any]:
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        if idle():
            return await fn(*args, **kwargs)
        call = own.begin(args, kwargs)
        return await call.awaited(lambda: fn(*args, **kwargs)) if call.runs else call.given()

    return coroutine


def _generator(own: _Own, fn: Any) -> Callable[..., Any]:
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        if idle():
            return (yield from fn(*args, **kwargs))
        call = own.begin(args, kwargs)
        if not call.runs:
            return (yield from call.given_items())
        with call.running():
            steps = fn(*args, **kwargs)
        try:
            while True:
                with call.running():
                    item = next(steps)
                call.took(item)
                if (yield item) is not None:
                    raise TypeError(_SENT)
        except StopIteration as end:
            return call.exhausted(end.value)
        finally:
            with call.running():
                steps.close()
            call.exhausted()

    return generator


def _async_generator(own: _Own, fn: Any) -> Callable[..., Any]:
    async def generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call = None if idle() else own.begin(args, kwargs)
        if call and not call.runs:
            for item in call.given_items():
                yield item
            return
        running = call.running if call else contextlib.nullcontext
        thrown: Optional[BaseException] = None
        with running():
            steps, sent = fn(*args, **kwargs), None
        try:
            while True:
                with running():
                    item = await (steps.asend(sent) if thrown is None else steps.athrow(thrown))
                if call:
                    call.took(item)
                try:
                    sent, thrown = (yield item), None
                except Exception as error:  # There is no `yield from` here.
                    thrown = error
                if call and sent is not None:
                    raise TypeError(_SENT)
        except StopAsyncIteration:
            return
        finally:
            with running():
                await steps.aclose()
            if call:
                call.exhausted()

    return generator
