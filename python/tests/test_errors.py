"""Exceptions: told, and raised again without importing anything."""

from __future__ import annotations

import asyncio
import email.message
import io
import json
import os
import subprocess
import sys
import traceback
import types
import unittest
import urllib.error
from typing import Any
from unittest import mock

import mcptest
from mcptest._errors import ended, played


class CardDeclined(Exception):
    def __init__(self, amount: int, why: str = "limit") -> None:
        super().__init__(amount, why)
        self.amount = amount

    def __str__(self) -> str:
        return f"{self.amount} declined: {self.why()}"

    def why(self) -> str:
        return str(self.args[1])


class Strange(Exception):
    def __init__(self, *, code: int) -> None:
        super().__init__(f"code {code}")


class Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Broken(Exception):
    @property
    def args(self) -> Any:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


class Told(Exception):
    def __init__(self, *messages: dict[str, int], code: int = 0) -> None:
        self.messages, self.code = messages, code
        super().__init__(*messages)


class Limited(Exception):
    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__("the limit")


class Half(Exception):
    def __init__(self, of: object, *, code: int = 0) -> None:
        self.of = type(of)

    def __str__(self) -> str:
        return f"half of {self.of}"


class Left(Exception):
    pass


def again(error: Exception) -> Exception:
    told = json.loads(json.dumps(ended(error, ())["error"]))
    return played(told, globals())


class Again(unittest.TestCase):
    def test_they_are_raised_as_they_were(self) -> None:
        for error in (
            ValueError("no"),
            ValueError(),
            KeyError("order"),
            TimeoutError("slow"),
            OSError(2, "No such file"),
            FileNotFoundError(2, "No such file"),
            FileNotFoundError(2, "No such file", "/nope"),
            UnicodeError("half \U0001f600"),
            CardDeclined(7),
            CardDeclined(7, "stolen"),
            StopIteration(3),
            json.JSONDecodeError("no JSON", "{", 0),
            mcptest.ToolError("shielded"),
            asyncio.TimeoutError("later"),
        ):
            with self.subTest(error=repr(error)):
                back = again(error)
                if type(error) is not json.JSONDecodeError:
                    self.assertIs(type(back), type(error))
                    self.assertEqual(getattr(back, "amount", 0), getattr(error, "amount", 0))
                self.assertEqual((type(back).__name__, str(back)), (type(error).__name__, str(error)))

    def test_what_the_system_says_has_its_number_and_its_file(self) -> None:
        with self.assertRaises(FileNotFoundError) as raised:
            os.stat("/nope/nowhere")
        back = again(raised.exception)
        self.assertEqual((back.errno, back.filename), (raised.exception.errno, "/nope/nowhere"))

    def test_what_it_has_beside_its_arguments_comes_back(self) -> None:
        for error in (
            Told({"a": 1}, {"b": 2}),
            Limited(7),
            Strange(code=7),
            subprocess.TimeoutExpired("sleep", 3, output="so far"),
            urllib.error.URLError("no route"),
        ):
            with self.subTest(error=repr(error)):
                back = again(error)
                self.assertIs(type(back), type(error))
                self.assertEqual((str(back), vars(back)), (str(error), vars(error)))
        told = ended(Limited(7), ())["error"]["args"]
        self.assertEqual(told, ["the limit", {"$attributes": {"limit": 7}}])

    def test_an_error_inside_of_it_is_its_text(self) -> None:
        refused = urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))
        back = again(refused)
        self.assertIs(type(back), urllib.error.URLError)
        self.assertEqual((str(back), vars(back)), (str(refused), {"reason": "[Errno 111] Connection refused"}))

    def test_one_that_cannot_be_made_is_a_tool_error_of_its_name(self) -> None:
        for error in (
            Half(object()),
            urllib.error.HTTPError("http://a", 404, "Not Found", email.message.Message(), io.BytesIO()),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ):
            with self.subTest(error=repr(error)):
                back = again(error)
                self.assertIsInstance(back, mcptest.ToolError)
                self.assertNotIsInstance(back, type(error))
                names = type(error).__name__, type(error).__module__, str(error)
                self.assertEqual((type(back).__name__, type(back).__module__, str(back)), names)
                self.assertIs(type(again(error)), type(back))
                traceback.format_exception(type(back), back, None)
        self.assertEqual(ended(Silent(), ())["error"]["text"], "")

    def test_what_a_recording_says_of_one_that_is_no_such_object(self) -> None:
        for args in (7, "text", {"a": 1}, [{"$attributes": 7}], [{"$attributes": {"args": 7}}], [[]]):
            with self.subTest(args=args):
                back = played({"type": "Limited", "module": __name__, "text": "the limit", "args": args}, {})
                self.assertEqual((type(back).__name__, str(back)), ("Limited", "the limit"))

    def test_arguments_are_told_only_if_they_are_plain_json(self) -> None:
        self.assertEqual(ended(KeyError("a", 1, [None]), ())["error"]["args"], ["a", 1, [None]])
        for args in ((object(),), (b"a",), (float("nan"),), ({1: 2},), (2**70,), ("\ud800",)):
            with self.subTest(args=args):
                self.assertNotIn("args", ended(ValueError(*args), ())["error"])
        json.dumps(ended(ValueError("\ud800"), ())).encode()
        self.assertEqual(ended(Broken(), ())["error"], {"type": "Broken", "module": __name__, "text": ""})


class Nothing(unittest.TestCase):
    """What a recording names does not run."""

    def test_what_is_no_class_of_exceptions(self) -> None:
        for name, module in (
            ("getoutput", "subprocess"),
            ("Popen", "subprocess"),
            ("system", "os"),
            ("exit", "builtins"),
            ("SystemExit", "builtins"),
            ("KeyboardInterrupt", "builtins"),
            ("BaseException", "builtins"),
            ("print", "builtins"),
            ("eval", None),
            ("subprocess.getoutput", None),
            ("", ""),
            ("a\0b", "builtins"),
            ("\ud800", "builtins"),
        ):
            told = {"type": name, "module": module, "text": "touch /tmp/x", "args": ["touch /tmp/x"]}
            with self.subTest(name=name), mock.patch.object(subprocess, "Popen") as popen:
                back = played(told, {"eval": eval, "subprocess.getoutput": subprocess.getoutput})
                self.assertIsInstance(back, mcptest.ToolError)
                self.assertEqual(str(back), "touch /tmp/x")
                popen.assert_not_called()

    def test_nothing_is_imported(self) -> None:
        module = "wave"
        self.assertNotIn(module, sys.modules)
        back = played({"type": "Error", "module": module, "text": "no"}, {})
        self.assertIsInstance(back, mcptest.ToolError)
        self.assertNotIn(module, sys.modules)

    def test_no_attribute_of_a_module_is_asked_for(self) -> None:
        asked: list[str] = []
        lazy: Any = types.ModuleType("lazy_of_test")
        lazy.__getattr__ = asked.append
        with mock.patch.dict(sys.modules, {"lazy_of_test": lazy}):
            back = played({"type": "Declined", "module": "lazy_of_test", "text": "no"}, {})
        self.assertEqual((asked, type(back).__name__), ([], "Declined"))


class Named(unittest.TestCase):
    """A suite names a class without its module."""

    def test_that_of_the_tools_own_file_is_meant_first(self) -> None:
        told = {"type": "CardDeclined", "text": "7 declined: limit", "args": [7]}
        self.assertIs(type(played(told, globals())), CardDeclined)
        self.assertIs(type(played(told, {})), CardDeclined)
        other = type("CardDeclined", (Exception,), {"__module__": "other"})
        self.assertIsInstance(played(told, {}), mcptest.ToolError)
        self.assertIs(type(played({"type": "CardDeclined", "text": "no"}, {"CardDeclined": other})), other)

    def test_pythons_own_is_meant_next(self) -> None:
        other = type("TimeoutError", (Exception,), {"__module__": "other"})
        self.assertIs(type(played({"type": "TimeoutError", "text": "slow"}, {})), TimeoutError)
        self.assertIs(type(played({"type": "TimeoutError", "text": "slow", "module": "other"}, {})), other)
        self.assertIs(type(played({"type": "ToolError", "text": "no"}, {})), mcptest.ToolError)


class Control(unittest.TestCase):
    def test_what_is_no_failure(self) -> None:
        bubble = type("GraphBubbleUp", (Exception,), {"__module__": "langgraph.errors"})
        interrupt = type("GraphInterrupt", (bubble,), {"__module__": "langgraph.errors"})
        deferred = type("CallDeferred", (Exception,), {"__module__": "pydantic_ai.exceptions"})
        for error in (
            KeyboardInterrupt(),
            asyncio.CancelledError(),
            SystemExit(1),
            GeneratorExit(),
            interrupt(),
            deferred(),
            Left(),
        ):
            self.assertEqual(ended(error, (Left,)), {"left": True}, repr(error))
        others = type("CallDeferred", (Exception,), {"__module__": "pydantic_ai_like.exceptions"})
        self.assertIn("error", ended(others(), (Left,)))


if __name__ == "__main__":
    unittest.main()
