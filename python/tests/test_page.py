"""The programs of docs/own-tools.md do what the page says."""

from __future__ import annotations

import os
import re
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from door import needed, playing, recording

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-tools.md"


def program(name: str) -> dict[str, Any]:
    """The names of a program that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- file: {name} -->\n```python\n(.*?)```", text, re.DOTALL)
    assert found is not None, name
    names: dict[str, Any] = {"__name__": name}
    exec(found[1], names)
    return names


@needed
@unittest.skipUnless(PAGE.exists(), "the page is not beside this folder")
class Page(unittest.TestCase):
    def setUp(self) -> None:
        self.paid: list[int] = []

    def refund(self, order: int) -> str:
        self.paid.append(order)
        if order == 9:
            raise ValueError("no order 9")
        return f"Order {order} is paid back."

    def test_a_client_by_hand(self) -> None:
        tool = program("by_hand.py")["tool"]

        def act() -> str:
            return str(tool("refund", self.refund, order=7))

        def fails() -> None:
            tool("refund", self.refund, order=9)

        self.assertEqual(act(), "Order 7 is paid back.")
        with recording() as door:
            self.assertEqual(act(), "Order 7 is paid back.")
            self.assertRaisesRegex(ValueError, "no order 9", fails)
        self.assertEqual(self.paid, [7, 7, 9])
        with playing(door.notes()) as door:
            self.assertEqual(act(), "Order 7 is paid back.")
            self.assertRaisesRegex(RuntimeError, "no order 9", fails)
            self.assertRaisesRegex(RuntimeError, "refund", lambda: tool("refund", self.refund, order=8))
        for variables in ({"MCPTEST_TOOLS": door.address}, {"MCPTEST_MODE": "play"}, {"MCPTEST_TOOLS": "http://a:1/b"}):
            with mock.patch.dict(os.environ, variables), self.assertRaises((OSError, KeyError, ValueError)):
                act()
        self.assertEqual(self.paid, [7, 7, 9])

    def test_the_tool(self) -> None:
        refund = program("refund.py")["refund"]
        here = os.getcwd()
        with recording() as door:
            os.chdir(door.folder.name)
            try:
                self.assertEqual(refund(7), "Order 7 is paid back.")
                self.assertEqual(Path("paid.txt").read_text(), "7\n")
            finally:
                os.chdir(here)
        with playing(door.notes()):
            self.assertEqual(refund(7), "Order 7 is paid back.")
        self.assertFalse(Path("paid.txt").exists())


if __name__ == "__main__":
    unittest.main()
