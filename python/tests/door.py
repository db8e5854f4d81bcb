"""The door of a session that this folder's tests speak to: the program `door` of mcptest-session, not a stand-in."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any, Optional
from unittest import mock

from mcptest import _tool
from mcptest._door import ask

PROGRAM = os.environ.get("MCPTEST_DOOR", "")
needed = unittest.skipUnless(PROGRAM, "MCPTEST_DOOR does not name the program `door` of mcptest-session")


class Door:
    """A door, open inside of `with`."""

    def __init__(self, *arguments: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.file = os.path.join(self.folder.name, "calls.json")
        self.answers = os.path.join(self.folder.name, "answers.json")
        self.arguments = [{"FILE": self.file, "ANSWERS": self.answers}.get(each, each) for each in arguments]
        self.code: Optional[int] = None

    def __enter__(self) -> Door:
        pipe = subprocess.PIPE
        command = [PROGRAM, *self.arguments]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        variables = {"MCPTEST_TOOLS": self.address}
        self.patched = mock.patch.dict(os.environ, variables)
        self.patched.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.patched.stop()
        self.output, self.errors = self.process.communicate("")
        self.code = self.process.returncode
        if os.path.exists(self.file):
            with open(self.file, encoding="utf-8") as file:
                self.written = json.load(file)
        self.folder.cleanup()

    def notes(self) -> Any:
        """What was written down."""
        assert self.code == 0, self.errors
        return self.written

    def divergences(self) -> list[str]:
        """What was done otherwise than it is recorded."""
        assert self.code == 0, self.errors
        return [json.loads(line)["message"] for line in self.output.splitlines()]


def recording() -> Door:
    """A door behind which tools run."""
    return Door("record", "FILE")


def answering(answers: Any) -> Door:
    """A door that answers in the place of tools."""
    door = Door("record", "FILE", "--answers", "ANSWERS")
    with open(door.answers, "w", encoding="utf-8") as file:
        json.dump(answers, file)
    return door


def playing(notes: Any) -> Door:
    """A door behind which nothing runs."""
    door = Door("play", "FILE")
    with open(door.file, "w", encoding="utf-8") as file:
        json.dump(notes, file)
    return door


@contextlib.contextmanager
def watched() -> Iterator[list[dict[str, Any]]]:
    """What is asked inside of `with`, each with the run that came of it."""
    asked: list[dict[str, Any]] = []

    def watch(name: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = ask(name, body)
        asked.append({"name": name, **body, **answer})
        return answer

    with mock.patch.object(_tool, "ask", watch):
        yield asked
