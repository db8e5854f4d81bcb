"""Without a session the library does nothing."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import typing
import unittest
from collections.abc import AsyncIterator, Iterator
from typing import Any
from unittest import mock

import mcptest


class Desk:
    limit = 3

    @mcptest.tool
    def method(self, order: int) -> int:
        return order + self.limit

    @mcptest.tool
    @staticmethod
    def static_below(order: int) -> int:
        return order

    @staticmethod
    @mcptest.tool
    def static_above(order: int) -> int:
        return order

    @mcptest.tool
    @classmethod
    def class_below(cls, order: int) -> int:
        return order + cls.limit

    @classmethod
    @mcptest.tool
    def class_above(cls, order: int) -> int:
        return order + cls.limit


@mcptest.tool
def refund(order: int, *, note: str = "none") -> Paid:
    """Pays an order back."""
    return Paid(f"{order} {note}")


class Paid(str):
    pass


@mcptest.tool
async def asked(order: int) -> int:
    await asyncio.sleep(0)
    return order


@mcptest.tool
def counted(to: int) -> Iterator[int]:
    got = yield 0
    while got:
        got = yield got + to
    return "end"


@mcptest.tool
async def counted_later(to: int) -> AsyncIterator[int]:
    try:
        got = yield 0
        while got:
            got = yield got + to
    except KeyError:
        yield -1


class Production(unittest.TestCase):
    def setUp(self) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MCPTEST")}
        patched = mock.patch.dict(os.environ, environment, clear=True)
        patched.start()
        self.addCleanup(patched.stop)

    def test_functions_run_as_written(self) -> None:
        self.assertEqual(refund(7, note="late"), "7 late")
        self.assertIs(type(refund(7)), Paid)
        self.assertEqual(asyncio.run(asked(7)), 7)
        desk = Desk()
        self.assertEqual((desk.method(1), desk.static_below(1), desk.static_above(1)), (4, 1, 1))
        self.assertEqual((Desk.class_below(1), desk.class_above(1), Desk.static_below(2)), (4, 4, 2))
        with self.assertRaises(TypeError):
            refund()  # type: ignore[call-arg]

    def test_generators_are_passed_through_with_all_that_is_sent_and_thrown(self) -> None:
        steps: Any = counted(1)
        self.assertEqual([next(steps), steps.send(4)], [0, 5])
        with self.assertRaises(StopIteration) as end:
            next(steps)
        self.assertEqual(end.exception.value, "end")

        async def later() -> list[int]:
            steps: Any = counted_later(1)
            items = [await steps.__anext__(), await steps.asend(4), await steps.athrow(KeyError())]
            with self.assertRaises(StopAsyncIteration):
                await steps.__anext__()
            return items

        self.assertEqual(asyncio.run(later()), [0, 5, -1])

    def test_an_async_generator_is_closed_when_its_wrapper_is(self) -> None:
        closed = []

        @mcptest.tool
        async def items() -> AsyncIterator[int]:
            try:
                yield 1
                yield 2
            finally:
                closed.append(True)

        async def first() -> None:
            steps: Any = items()
            await steps.__anext__()
            await steps.aclose()
            self.assertEqual(closed, [True])

        asyncio.run(first())

    def test_what_frameworks_look_at_is_kept(self) -> None:
        self.assertEqual((refund.__name__, refund.__doc__), ("refund", "Pays an order back."))
        self.assertEqual(str(inspect.signature(refund)), "(order: 'int', *, note: 'str' = 'none') -> 'Paid'")
        self.assertEqual(typing.get_type_hints(refund), {"order": int, "note": str, "return": Paid})
        kinds = [refund, asked, counted, counted_later]
        self.assertEqual([inspect.iscoroutinefunction(kind) for kind in kinds], [False, True, False, False])
        self.assertEqual([inspect.isgeneratorfunction(kind) for kind in kinds], [False, False, True, False])
        self.assertEqual([inspect.isasyncgenfunction(kind) for kind in kinds], [False, False, False, True])
        self.assertEqual(str(inspect.signature(Desk().method)), "(order: 'int') -> 'int'")

    def test_what_has_no_name_needs_one(self) -> None:
        part = functools.partial(refund, note="part")
        for nameless in (part, lambda: 1, Called()):
            with self.assertRaisesRegex(TypeError, "needs `name=`"):
                mcptest.tool(nameless)
        self.assertEqual(mcptest.tool(part, name="part")(7), "7 part")
        self.assertEqual(mcptest.tool(part, name="part").__name__, "part")
        self.assertEqual(mcptest.tool(Called(), name="called")(7), 7)
        self.assertTrue(inspect.iscoroutinefunction(mcptest.tool(CalledLater(), name="called")))
        self.assertTrue(inspect.iscoroutinefunction(mcptest.tool(functools.partial(asked, 7), name="part")))

    def test_what_is_no_function_is_refused(self) -> None:
        for wrong in (7, "refund", Desk, None.__class__):
            with self.assertRaisesRegex(TypeError, "takes a function"):
                mcptest.tool(wrong)  # type: ignore[type-var]
        with self.assertRaisesRegex(TypeError, "together"):
            mcptest.tool(refund, encode=str)
        with self.assertRaises(TypeError):
            mcptest.tool(refund, names="x")  # type: ignore[call-overload]


class Called:
    def __call__(self, order: int) -> int:
        return order


class CalledLater:
    async def __call__(self, order: int) -> int:
        return order


if __name__ == "__main__":
    unittest.main()
