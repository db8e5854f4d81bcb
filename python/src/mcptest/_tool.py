"""The decorator: a wrapper for each kind of function, and one way through the door."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import json
import os
import re
import sys
import typing
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional, TypedDict, TypeVar, cast, overload

from ._door import MODE, ToolError, ask, idle, tell
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
# The last item of a generator that was left before its end. What would have come next is not known.
_LEFT = {"$left": True}
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
        self.untold = {"self", "cls", *([ignore] if isinstance(ignore, str) else ignore)}
        self.name = name or getattr(fn, "__name__", "")
        if not self.name or self.name == "<lambda>":
            raise TypeError(f"mcptest.tool needs `name=` for what has no name: {fn!r}")
        if (encode is None) != (decode is None):
            raise TypeError("mcptest.tool takes `encode=` and `decode=` together")
        while isinstance(fn, functools.partial):
            fn = fn.func
        bare = fn if inspect.isroutine(fn) else type(fn).__call__
        # The names of the file that it stands in.
        self.names: dict[str, Any] = getattr(inspect.unwrap(bare), "__globals__", {})
        kinds = {
            inspect.isasyncgenfunction: (_async_generator, _given_items_later),
            inspect.isgeneratorfunction: (_generator, _given_items),
            inspect.iscoroutinefunction: (_coroutine, _given_later),
        }
        found = (kind for is_one, kind in kinds.items() if is_one(bare))
        self.kind, self.given = cast("tuple[Any, Any]", next(found, (_plain, _given)))
        self.is_generator = self.kind in (_generator, _async_generator)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        try:
            return inspect.signature(self.fn, **_FORWARD)
        except Exception:  # Annotations may be evaluated here, since Python 3.14.
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
        one = inner[-1] if self.gives_awaitable else self.returns
        return Values(inner[0] if self.is_generator else one, *self.codec)

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What the door is told of a call."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:  # As the function will say.
            bound = _ANY_SIGNATURE.bind(*args, **kwargs)
        inside = _INSIDE.get()
        asked: dict[str, Any] = {"args": {}} if inside is None else {"args": {}, "inside": inside}
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
        return asked


class _Call:
    """A call in a session: its function is called, or what gives back something in its place.

    Of a generator it is the steps: what `yield from` needs, and the same to be awaited.
    """

    def __init__(self, own: _Own, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.own, self.asked = own, own.asked(args, kwargs)
        self.answer = ask(own.name, self.asked)
        self.run: Optional[str] = self.answer.get("run")
        self.items: list[Any] = []
        self.unkept: Optional[str] = None
        with self.running():
            self.value: Any = own.given(self) if self.run is None else own.fn(*args, **kwargs)

    def read(self, data: Any) -> Any:
        try:
            return self.own.values.read(
                data, self.answer.get("told") is True, is_answer=os.environ.get(MODE) == "record"
            )
        except Exception as error:
            raise self.unfit(f"no value of its annotation: {error}") from error

    def unfit(self, why: str) -> ToolError:
        """What the suite answers, or what a recording has, is not what the tool gives."""
        if "given" in self.answer:
            # So that the session knows of it too, if the code goes on.
            tell(self.answer["given"], {"unkept": why})
        ways = "`answers:` has", "Change the answer", "the recording has", "Record again, or let it run: `run:`"
        what, way = ways[:2] if os.environ.get(MODE) == "record" else ways[2:]
        return ToolError(f"mcptest: the tool `{self.own.name}` did not run: what {what} of it is {why}. {way}")

    def result(self) -> Any:
        if "error" in self.answer:
            raise played(self.answer["error"], self.own.names)
        return self.read(self.answer["result"])

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """What happens here is inside of the run, and an exception is its end."""
        token = _INSIDE.set(self.run)
        try:
            yield
        except BaseException as error:
            if self.own.is_generator and isinstance(error, (StopIteration, StopAsyncIteration)):
                self.exhausted(getattr(error, "value", None))
            else:
                told = ended(error, self.own.control)
                if self.items and "error" in told:
                    told["error"]["items"] = self.items
                self.end(told)
            raise
        finally:
            with contextlib.suppress(ValueError):  # It goes on in another context than it began in.
                _INSIDE.reset(token)

    def took(self, value: Any) -> Any:
        if self.run is not None:
            try:
                self.items.append(self.own.values.write(value))
                if self.items[-1] == _LEFT and self.own.is_generator:
                    raise UnkeptError(f"an item {_LEFT} would be taken for the end of the items")
            except UnkeptError as why:
                self.unkept = self.unkept or str(why)
        return value

    def end(self, told: dict[str, Any]) -> None:
        """Tells how it ended, once."""
        run, self.run = self.run, None
        if "result" in told and not isinstance(told["result"], str):
            # What reads JSON into a value may lose the order of keys, or a last digit.
            told["text"] = json.dumps(told["result"], ensure_ascii=False, separators=(",", ":"))
        if run is not None:
            tell(run, {"unkept": self.unkept} if self.unkept else told)

    def returned(self, value: Any) -> Any:
        self.took(value)
        self.end({"result": self.items[0] if self.items else None})
        return value

    async def awaited(self) -> Any:
        with self.running():
            value = await self.value
        return self.returned(value)

    def exhausted(self, value: Any) -> None:
        if value is not None:
            self.unkept = "it returns a value at its end, and only what a generator yields is played"
        self.end({"result": self.items})

    def left(self) -> None:
        self.end({"result": [*self.items, _LEFT]})

    def __iter__(self) -> _Call:
        return self

    def __next__(self) -> Any:
        with self.running():
            return self.took(next(self.value))

    def send(self, sent: Any) -> Any:
        self.close()
        raise TypeError(_SENT)

    def throw(self, *error: Any) -> Any:
        with self.running():
            return self.took(self.value.throw(*error))

    def close(self) -> None:
        with self.running():
            self.value.close()
        self.left()

    async def asend(self, sent: Any) -> Any:
        if sent is not None:
            raise TypeError(_SENT)
        with self.running():
            return self.took(await self.value.__anext__())

    async def athrow(self, error: Exception) -> Any:
        with self.running():
            return self.took(await self.value.athrow(error))

    async def aclose(self) -> None:
        with self.running():
            await self.value.aclose()
        self.left()


def _given(call: _Call) -> Any:
    return _given_later(call) if call.own.gives_awaitable else call.result()


async def _given_later(call: _Call) -> Any:
    return call.result()


def _given_items(call: _Call) -> Iterator[Any]:
    error = call.answer.get("error")
    items = error.get("items", []) if error else call.answer["result"]
    if not isinstance(items, list):
        raise call.unfit("no list of items")
    yield from map(call.read, items[:-1] if items[-1:] == [_LEFT] else items)
    if error:
        raise played(error, call.own.names)
    if items[-1:] == [_LEFT]:
        raise call.unfit(f"only the first items: there are {len(items) - 1} items, and the code took no more")


async def _given_items_later(call: _Call) -> AsyncIterator[Any]:
    for item in _given_items(call):
        yield item


def _plain(own: _Own, fn: Any) -> Callable[..., Any]:
    def plain(*args: Any, **kwargs: Any) -> Any:
        if idle():
            return fn(*args, **kwargs)
        call = _Call(own, args, kwargs)
        is_awaitable = inspect.isawaitable(call.value)
        if is_awaitable is not own.gives_awaitable:
            what = "its value is awaited" if is_awaitable else "its value is not awaited"
            call.unkept = f"{what}, and its annotation says otherwise: change `-> {own.signature.return_annotation}`"
        return call.awaited() if is_awaitable else call.returned(call.value)

    return plain


def _coroutine(own: _Own, fn: Any) -> Callable[..., Any]:
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        return await (fn(*args, **kwargs) if idle() else _Call(own, args, kwargs).awaited())

    return coroutine


def _generator(own: _Own, fn: Any) -> Callable[..., Any]:
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        return (yield from (fn(*args, **kwargs) if idle() else _Call(own, args, kwargs)))

    return generator


def _async_generator(own: _Own, fn: Any) -> Callable[..., Any]:
    async def generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        # There is no `yield from` here: the same by hand.
        steps = fn(*args, **kwargs) if idle() else _Call(own, args, kwargs)
        step = steps.asend(None)
        try:
            while True:
                item = await step
                try:
                    step = steps.asend((yield item))
                except Exception as error:
                    step = steps.athrow(error)
        except StopAsyncIteration:
            return
        finally:
            await steps.aclose()

    return generator
