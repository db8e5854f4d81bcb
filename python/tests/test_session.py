"""Tools at the door of a session: recorded, and given back without being run."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import functools
import gc
import http.client
import multiprocessing
import os
import pathlib
import threading
import unittest
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any, Callable, Optional
from unittest import mock

import mcptest
from door import Door, answering, needed, playing, recording, watched

ran: list[str] = []
LEFT = {"$left": True}


@dataclasses.dataclass
class Receipt:
    order: int
    on: datetime.date


class Declined(Exception):
    def __init__(self, amount: int) -> None:
        super().__init__(f"{amount} declined")
        self.amount = amount


class Bubble(Exception):
    pass


@mcptest.tool
def refund(order: int, *more: int, note: Optional[str] = None, **rest: Any) -> Optional[Receipt]:
    ran.append("refund")
    return Receipt(order, datetime.date(2026, 1, 2)) if order else None


@mcptest.tool
def charge(amount: int) -> None:
    ran.append("charge")
    raise Declined(amount)


@mcptest.tool
async def asked(order: int) -> list[Receipt]:
    await asyncio.sleep(0)
    ran.append("asked")
    return [Receipt(order, datetime.date(2026, 1, 2))]


@mcptest.tool
def counted(to: int, fails: bool = False) -> Iterator[int]:
    ran.append("counted")
    yield from range(to)
    if fails:
        raise Declined(to)


@mcptest.tool
async def counted_later(to: int) -> AsyncIterator[Receipt]:
    ran.append("counted_later")
    for number in range(to):
        await asyncio.sleep(0)
        yield Receipt(number, datetime.date(2026, 1, 2))


@mcptest.tool
def promised(order: int) -> Awaitable[Receipt]:
    ran.append("promised")

    async def later() -> Receipt:
        return Receipt(order, datetime.date(2026, 1, 2))

    return asyncio.ensure_future(later())


class Desk:
    def __init__(self) -> None:
        self.limit = 3

    @mcptest.tool
    def method(self, order: int) -> int:
        ran.append("method")
        return order + self.limit

    @mcptest.tool
    @classmethod
    def class_below(cls, order: int) -> int:
        ran.append("class_below")
        return order

    @classmethod
    @mcptest.tool
    def class_above(cls, order: int) -> int:
        ran.append("class_above")
        return order

    @mcptest.tool
    @staticmethod
    def static_below(order: int) -> int:
        ran.append("static_below")
        return order

    @staticmethod
    @mcptest.tool
    def static_above(order: int) -> int:
        ran.append("static_above")
        return order


async def items(steps: Any) -> list[Any]:
    return [item async for item in steps]


def outcome(act: Callable[[], Any]) -> Any:
    """What a call gives, or raises."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error), vars(error)


@needed
class Session(unittest.TestCase):
    def setUp(self) -> None:
        ran.clear()

    def twice(self, act: Callable[[], Any]) -> Any:
        """Records what is done, and plays it: the same comes of it, and nothing runs. The notes."""
        with recording() as door:
            first = outcome(act)
        did = list(ran)
        self.assertNotEqual(did, [])
        notes = door.notes()
        with playing(notes) as door:
            again = outcome(act)
        self.assertEqual(again, first)
        self.assertEqual(repr(again), repr(first))
        self.assertEqual(door.divergences(), [])
        self.assertEqual(ran, did)
        return [{key: value for key, value in note.items() if key != "ms"} for note in notes]

    def test_a_function(self) -> None:
        notes = self.twice(lambda: [refund(7, 8, note="late", by="me"), refund(0), refund(order=7)])
        told = {"result": {"order": 7, "on": "2026-01-02"}, "text": '{"order":7,"on":"2026-01-02"}'}
        self.assertEqual(
            notes,
            [
                {"name": "refund", "args": {"order": 7, "more": [8], "note": "late", "by": "me"}, **told},
                {"name": "refund", "args": {"order": 0}, "result": None},
                {"name": "refund", "args": {"order": 7}, **told},
            ],
        )

    def test_one_that_raises(self) -> None:
        notes = self.twice(lambda: charge(7))
        error: dict[str, Any] = {"type": "Declined", "module": __name__, "text": "7 declined"}
        error["args"] = ["7 declined", {"$attributes": {"amount": 7}}]
        self.assertEqual(notes, [{"name": "charge", "args": {"amount": 7}, "error": error}])

    def test_one_that_is_called_with_something_else(self) -> None:
        act: Any = functools.partial(refund, 7, order=8)
        with recording() as door:
            first = outcome(act)
        self.assertEqual(first[0], TypeError)
        notes = door.notes()
        self.assertEqual(notes[0]["error"]["type"], "TypeError")
        with playing(notes):
            self.assertEqual(outcome(act), first)

    def test_a_coroutine(self) -> None:
        async def both() -> Any:
            return await asyncio.gather(asked(7), asked(8))

        notes = self.twice(lambda: asyncio.run(both()))
        self.assertEqual(sorted(note["args"]["order"] for note in notes), [7, 8])

    def test_methods_in_both_orders(self) -> None:
        def act() -> list[int]:
            desk = Desk()
            return [
                desk.method(1),
                desk.class_below(1),
                Desk.class_above(1),
                desk.static_below(1),
                Desk.static_above(1),
                mcptest.tool(len, name="length")("ab"),
            ]

        notes = self.twice(act)
        self.assertEqual([note["args"] for note in notes], [{"order": 1}] * 5 + [{"obj": "ab"}])

    def test_what_a_plain_function_promises(self) -> None:
        async def act() -> Receipt:
            return await promised(7)

        notes = self.twice(lambda: asyncio.run(act()))
        self.assertEqual(notes[0]["result"], {"order": 7, "on": "2026-01-02"})

    def test_generators(self) -> None:
        self.assertEqual(self.twice(lambda: list(counted(3)))[0]["result"], [0, 1, 2])
        ran.clear()
        notes = self.twice(lambda: asyncio.run(items(counted_later(2))))
        self.assertEqual([item["order"] for item in notes[0]["result"]], [0, 1])

    def test_a_generator_that_is_left(self) -> None:
        def act() -> list[int]:
            steps = counted(9)
            taken = [next(steps), next(steps)]
            del steps
            gc.collect()
            return taken

        notes = self.twice(act)
        self.assertEqual(notes[0]["result"], [0, 1, LEFT])
        with playing(notes) as door, self.assertRaisesRegex(mcptest.ToolError, "there are 2 items"):
            list(counted(9))
        self.assertIn("the code took no more", str(door.divergences()))
        self.assertEqual(ran, ["counted"])

    def test_an_async_generator_that_is_left(self) -> None:
        async def first(of: int) -> Receipt:
            steps: Any = counted_later(of)
            item: Receipt = await steps.__anext__()
            await steps.aclose()
            return item

        notes = self.twice(lambda: asyncio.run(first(9)))
        self.assertEqual(notes[0]["result"][1:], [LEFT])
        with playing(notes) as door, self.assertRaisesRegex(mcptest.ToolError, "there are 1 items"):
            asyncio.run(items(counted_later(9)))
        self.assertEqual(len(door.divergences()), 1)

    def test_what_is_thrown_into_a_generator_reaches_it(self) -> None:
        @mcptest.tool
        def patient() -> Iterator[int]:
            ran.append("patient")
            try:
                yield 1
            except KeyError:
                yield 2

        with recording() as door:
            steps: Any = patient()
            self.assertEqual([next(steps), steps.throw(KeyError()), *steps], [1, 2])
        self.assertEqual(door.notes()[0]["result"], [1, 2])

    def test_a_generator_that_fails(self) -> None:
        def act() -> Any:
            taken: list[int] = []
            return taken, outcome(lambda: taken.extend(counted(2, fails=True)))

        notes = self.twice(act)
        self.assertEqual((notes[0]["error"]["type"], notes[0]["error"]["items"]), ("Declined", [0, 1]))

    def test_a_generator_to_which_is_sent(self) -> None:
        with recording() as door:
            steps: Any = counted(3)
            next(steps)
            with self.assertRaisesRegex(TypeError, "takes no `send`"):
                steps.send(1)
        self.assertEqual(door.notes()[0]["result"], [0, LEFT])

    def test_the_order_of_keys_and_all_digits_come_back(self) -> None:
        @mcptest.tool
        def rates() -> dict[str, Any]:
            ran.append("rates")
            return {"b": 18.369999999999997, "a": [{"d": 1e-7, "c": 0.1 + 0.2}], "\u00fc": "\U0001f600"}

        self.twice(lambda: str(rates()))

    def test_what_is_inside(self) -> None:
        @mcptest.tool
        def inner(order: int) -> int:
            return order

        @mcptest.tool
        async def outer(order: int) -> list[int]:
            ran.append("outer")
            return [inner(order), *await asyncio.gather(asyncio.to_thread(inner, 8), twice(9))]

        @mcptest.tool
        async def twice(order: int) -> int:
            return inner(order) * 2

        @mcptest.tool
        def steps() -> Iterator[int]:
            yield inner(1)
            yield inner(2)

        def taken() -> list[int]:
            return [inner(step + 10) for step in steps()]

        with recording(), watched() as asked:
            self.assertEqual(asyncio.run(outer(7)), [7, 8, 18])
        runs = {(each["name"], each["args"]["order"]): each["run"] for each in asked}
        inside = {run: next(each.get("inside") for each in asked if each["run"] == run) for run in runs.values()}
        expected = {("outer", 7): None, ("inner", 7): ("outer", 7), ("inner", 8): ("outer", 7)}
        expected.update({("twice", 9): ("outer", 7), ("inner", 9): ("twice", 9)})
        self.assertEqual(inside, {runs[call]: of and runs[of] for call, of in expected.items()})
        with recording(), watched() as asked:
            self.assertEqual(taken(), [11, 12])
        of_steps = asked[0]["run"]
        self.assertEqual([each.get("inside") for each in asked], [None, of_steps, None, of_steps, None])

    def test_one_that_goes_on_in_another_context(self) -> None:
        with recording() as door:
            steps = asked(7)
            with self.assertRaises(StopIteration):
                contextvars.Context().run(steps.send, None)
                while True:
                    contextvars.Context().run(steps.send, None)
        self.assertEqual(len(door.notes()[0]["result"]), 1)


@needed
class Untold(unittest.TestCase):
    def setUp(self) -> None:
        ran.clear()

    def test_what_is_no_json_is_not_told(self) -> None:
        @mcptest.tool(ignore=["state", "extra"])
        def pay(order: int, client: object, state: int, rows: list[object], receipt: Receipt, **rest: object) -> None:
            pass

        with recording() as door:
            pay(7, object(), 3, [object()], Receipt(7, datetime.date(2026, 1, 2)), extra=1, other="x", half="\ud800")
        told = {"order": 7, "receipt": {"order": 7, "on": "2026-01-02"}, "other": "x"}
        self.assertEqual(door.notes()[0]["args"], told)

    def test_arguments_that_are_no_json_are_told_where_a_text_says_them(self) -> None:
        @mcptest.tool
        def take(where: object, many: int, rate: float, names: set[str]) -> None:
            pass

        with recording() as door:
            take(pathlib.PurePosixPath("/srv/a"), 2**70, float("inf"), {"b", "a"})
        told = {"where": "/srv/a", "many": str(2**70), "rate": "inf", "names": ["a", "b"]}
        self.assertEqual(door.notes()[0]["args"], told)

    def test_what_a_framework_injects_is_not_told_but_for_its_id(self) -> None:
        context: Any = type("RunContext", (), {"__module__": "pydantic_ai._run_context", "tool_call_id": "call_1"})

        @mcptest.tool
        def pay(ctx: object, order: int) -> None:
            pass

        @mcptest.tool
        def pay_later(state: "InjectedState", id: "Annotated[str, InjectedToolCallId]", order: int) -> None:  # noqa
            pass

        with recording(), watched() as asked:
            pay(context(), 7)
            pay_later({"messages": []}, "call_2", 8)
        self.assertEqual([each["args"] for each in asked], [{"order": 7}, {"order": 8}])
        self.assertEqual([each["call_id"] for each in asked], ["call_1", "call_2"])

    def test_a_package_of_ones_own_may_be_called_agents(self) -> None:
        own = dataclasses.make_dataclass("Order", ["number"], namespace={"__module__": "agents.orders"})
        own.__module__ = "agents.orders"

        @mcptest.tool
        def pay(order: Any) -> None:
            pass

        with recording() as door:
            pay(own(7))
        self.assertEqual(door.notes()[0]["args"], {"order": {"number": 7}})

    def test_a_value_that_cannot_be_given_back(self) -> None:
        socket = object()

        @mcptest.tool
        def connect() -> object:
            return socket

        @mcptest.tool
        def mapped() -> Any:
            return map(str, [1])

        @mcptest.tool
        def surprise() -> Any:
            return asyncio.sleep(0, 7)

        @mcptest.tool
        def ending() -> Iterator[int]:
            yield 1
            return 2

        @mcptest.tool
        def waited() -> Awaitable[int]:
            return 7  # type: ignore[return-value]

        @mcptest.tool
        def odd() -> Iterator[Any]:
            yield {"$left": True}

        def exhaust() -> list[int]:
            return list(ending())

        async def awaited() -> Any:
            return await surprise()

        for act, value, why in (
            (connect, socket, "connect`: an `object` has no form as JSON"),
            (lambda: list(mapped()), ["1"], "mapped`: a `map` has no form as JSON"),
            (lambda: asyncio.run(awaited()), 7, "surprise`: its value is awaited, and its annotation says otherwise"),
            (waited, 7, "waited`: its value is not awaited, and its annotation says otherwise"),
            (lambda: list(odd()), [{"$left": True}], "odd`: an item {'$left': True} would be taken for the end"),
            (exhaust, [1], "ending`: it returns a value at its end"),
        ):
            with self.subTest(why=why):
                with recording() as door:
                    self.assertEqual(act(), value)  # type: ignore[operator]
                self.assertEqual(door.code, 1)
                self.assertIn(why, door.errors)

    def test_a_value_that_cannot_be_shown(self) -> None:
        @dataclasses.dataclass
        class Shy:
            number: int

            def __repr__(self) -> str:
                raise RuntimeError

        @mcptest.tool(encode=lambda shy: shy.number, decode=Shy)
        def hidden() -> Any:
            return Shy(7)

        with recording() as door:
            self.assertEqual(hidden().number, 7)
        self.assertEqual(door.notes()[0]["result"], 7)

    def test_own_codecs(self) -> None:
        @mcptest.tool(encode=lambda value: sorted(value), decode=set)
        def tags() -> set[str]:
            ran.append("tags")
            return {"b", "a"}

        with recording() as door:
            self.assertEqual(tags(), {"a", "b"})
        with playing(door.notes()):
            self.assertEqual(tags(), {"a", "b"})
        self.assertEqual((door.notes()[0]["result"], ran), (["a", "b"], ["tags"]))

    def test_control_flow_is_no_failure(self) -> None:
        @mcptest.tool(control=[Bubble])
        def bubbles() -> None:
            raise Bubble

        @mcptest.tool
        def stops() -> None:
            raise KeyboardInterrupt

        @mcptest.tool
        async def waits() -> None:
            await asyncio.sleep(60)

        async def cancelled() -> None:
            task = asyncio.ensure_future(waits())
            await asyncio.sleep(0.01)
            task.cancel()
            await task

        with recording() as door:
            for act, error in (
                (bubbles, Bubble),
                (stops, KeyboardInterrupt),
                (lambda: asyncio.run(cancelled()), asyncio.CancelledError),
            ):
                with self.assertRaises(error):
                    act()
        self.assertEqual([note.get("left") for note in door.notes()], [True] * 3)


@needed
class Played(unittest.TestCase):
    def setUp(self) -> None:
        ran.clear()

    def test_an_answer_of_the_suite_that_is_no_such_value(self) -> None:
        @mcptest.tool
        def price(order: int) -> float:
            raise AssertionError

        def act(order: int) -> Any:
            return list(counted(order)) if order < 4 else price(order)

        expected = {1: [1, 2], 2: "no `int`", 3: "no list of items", 4: 1.5, 5: "no `float`", 6: "may not be `None`"}
        results = {1: [1, 2], 2: [1, "b"], 3: "items", 4: 1.5, 5: "cheap", 6: None}
        answers: list[Any] = [
            {"tool": name, "when": {key: order}, "result": result}
            for order, result in results.items()
            for name, key in (("counted", "to"), ("price", "order"))
        ]
        with answering(answers), mock.patch.dict(os.environ, {"MCPTEST_MODE": "record"}):
            for order, value in expected.items():
                with self.subTest(order=order):
                    if isinstance(value, str):
                        with self.assertRaisesRegex(mcptest.ToolError, f"`answers:` has of it is .*{value}"):
                            act(order)
                    else:
                        self.assertEqual(act(order), value)
        self.assertEqual(ran, [])

    def test_another_call_than_was_recorded(self) -> None:
        with recording() as door:
            refund(7)
        with playing(door.notes()) as door, self.assertRaisesRegex(mcptest.ToolError, "mcptest: "):
            refund(8)
        self.assertEqual(ran, ["refund"])
        self.assertTrue(any("refund" in each for each in door.divergences()), door.divergences())

    def test_what_a_recording_names_does_not_run(self) -> None:
        target = os.path.join(os.getcwd(), "effect-of-a-recording")
        error = {"type": "getoutput", "module": "subprocess", "text": f"touch {target}", "args": [f"touch {target}"]}
        note = {"name": "refund", "args": {"order": 7}, "error": error}
        with playing([note]), self.assertRaises(mcptest.ToolError) as raised:
            refund(7)
        self.assertEqual((type(raised.exception).__name__, str(raised.exception)), ("getoutput", f"touch {target}"))
        self.assertFalse(os.path.exists(target))

    def test_the_door_is_gone_in_the_middle(self) -> None:
        with recording() as door:
            refund(7)
            door.process.kill()
            door.process.wait()
            for act in (lambda: refund(8), lambda: asyncio.run(asked(8)), lambda: next(counted(8))):
                with self.assertRaisesRegex(mcptest.ToolError, "cannot be asked"):
                    act()
        self.assertEqual(ran, ["refund"])

    def test_the_door_is_gone_while_a_tool_runs(self) -> None:
        @mcptest.tool
        def kills(door: Door) -> int:
            door.process.kill()
            door.process.wait()
            return 7

        with recording() as door:
            self.assertEqual(kills(door), 7)


def in_a_child(order: int) -> None:
    refund(order)


@needed
class Apart(unittest.TestCase):
    """Connections are of one thread of one process."""

    def setUp(self) -> None:
        ran.clear()

    def test_threads(self) -> None:
        def many(first: int) -> None:
            for order in range(first, first + 50):
                assert refund(order) == Receipt(order, datetime.date(2026, 1, 2))

        with recording() as door:
            threads = [threading.Thread(target=many, args=[1 + 50 * number]) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        notes = door.notes()
        self.assertEqual(
            {note["args"]["order"]: note["result"]["order"] for note in notes}, {n: n for n in range(1, 401)}
        )

    def test_forks(self) -> None:
        with recording() as door:
            refund(1)
            processes = [
                multiprocessing.get_context(kind).Process(target=in_a_child, args=[order])
                for order, kind in ((2, "fork"), (3, "fork"), (4, "spawn"))
            ]
            for process in processes:
                process.start()
            for order in range(5, 30):
                refund(order)
            for process in processes:
                process.join()
        self.assertEqual([process.exitcode for process in processes], [0, 0, 0])
        self.assertEqual(sorted(note["args"]["order"] for note in door.notes()), list(range(1, 30)))

    def test_a_report_while_a_request_is_on_its_way(self) -> None:
        """As when a generator is collected in the middle of another call's request."""
        original = http.client.HTTPResponse.begin
        steps = [counted(3)]

        def interrupted(response: Any) -> Any:
            while steps:
                steps.pop().close()
            return original(response)

        with recording() as door:
            next(steps[0])
            http.client.HTTPResponse.begin = interrupted  # type: ignore[method-assign]
            try:
                refund(7)
            finally:
                http.client.HTTPResponse.begin = original  # type: ignore[method-assign]
        self.assertEqual([note["name"] for note in door.notes()], ["counted", "refund"])
        self.assertEqual(door.notes()[0]["result"], [0, LEFT])

    def test_one_connection_serves_many_calls(self) -> None:
        made: list[int] = []

        class Counted(mcptest._door._Connection):
            def __init__(self, *of: int) -> None:
                super().__init__(*of)
                made.append(1)

        with recording() as door, mock.patch.object(mcptest._door, "_Connection", Counted):
            for order in range(20):
                refund(order)
        self.assertEqual((len(door.notes()), len(made)), (20, 1))


if __name__ == "__main__":
    unittest.main()
