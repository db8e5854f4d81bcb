"""The door of a session: where a call is asked for, and where its end is told."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
import threading
from typing import Any, Optional

TOOLS = "MCPTEST_TOOLS"
MODE = "MCPTEST_MODE"
PATIENCE = 60.0

_ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]{1,5})(/[A-Za-z0-9._~/-]+?)/?")
# The names as `os.environ` keeps them: one look-up there costs a twentieth of `os.environ.get`.
_TOOLS_KEY: Any = os.environ.encodekey(TOOLS)
_MODE_KEY: Any = os.environ.encodekey(MODE)
_PLAY: Any = os.environ.encodevalue("play")


class ToolError(Exception):
    """The tool did not run: nothing said that it may, or it is played and its own error's class is not there."""


ToolError.__module__ = "mcptest"


def idle() -> bool:
    """Whether this is production: no session, and nothing is played."""
    kept = getattr(os.environ, "_data", None)
    if type(kept) is dict:
        return _TOOLS_KEY not in kept and kept.get(_MODE_KEY) != _PLAY
    return TOOLS not in os.environ and os.environ.get(MODE) != "play"


class _Connection(socket.socket):
    """A connection of one thread of one process."""

    def __init__(self, process: int, port: int) -> None:
        super().__init__()
        self.of = (process, port)
        self.settimeout(PATIENCE)
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connect(("127.0.0.1", port))

    def ended(self) -> bool:
        """Whether the other side has closed it, or has sent what nobody asked for."""
        with contextlib.suppress(OSError):
            self.settimeout(0)
            try:
                self.recv(1)
            except BlockingIOError:
                self.settimeout(PATIENCE)
                return False
        return True

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


_kept = threading.local()


def _post(request: str, body: dict[str, Any]) -> tuple[int, Any]:
    said = os.environ.get(TOOLS)
    if said is None:
        raise ToolError(f"{MODE} is `play`, and {TOOLS} is not set")
    address = _ADDRESS.fullmatch(said)
    if address is None or int(address[1]) > 65535:
        raise ToolError(f"{TOOLS} is no address of this machine's loopback, http://127.0.0.1:PORT/…")
    of = (os.getpid(), int(address[1]))
    # It is taken out while it is used: a generator that is collected meanwhile reports over another one.
    connection: Optional[_Connection] = vars(_kept).pop("connection", None)
    if connection is None or connection.of != of or connection.ended():
        connection = _Connection(*of)
    told = json.dumps(body).encode()
    head = f"POST {address[2]}/{request} HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\nContent-Length: {len(told)}\r\n"
    # In one packet: two would wake the session twice.
    connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + told)
    response = http.client.HTTPResponse(connection, method="POST")
    response.begin()
    text = response.read()
    if not response.will_close:
        _kept.connection = connection
    return response.status, json.loads(text)


def ask(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What to do with a call: `run`, `result` or `error`. Everything else is a `ToolError`."""
    try:
        status, answer = _post("call", {"name": name, **asked})
        if status == 200 and _is_answer(answer):
            text = answer.get("text")
            return {**answer, "result": json.loads(text)} if isinstance(text, str) else dict(answer)
        said = answer.get("message") if isinstance(answer, dict) else None
        why = f"the session answered {status}: {said or 'something that is no answer'}"
    except Exception as error:
        why = f"the session at {TOOLS} cannot be asked: {error or type(error).__name__}"
    raise ToolError(f"mcptest: the tool `{name}` did not run: {why}")


def _is_answer(answer: Any) -> bool:
    if not isinstance(answer, dict) or len({"run", "result", "error"} & answer.keys()) != 1:
        return False
    error = answer.get("error", {"type": "", "text": ""})
    texts = [error.get("type"), error.get("text")] if isinstance(error, dict) else [None]
    return all(isinstance(text, str) for text in [*texts, answer.get("run", ""), answer.get("given", "")])


def tell(run: str, end: dict[str, Any]) -> None:
    """How a run ended. The tool has run, so a session that is gone or refuses must not make it fail: the agent would
    try again. A run without a report is told in the recording.
    """
    with contextlib.suppress(Exception):
        status, _ = _post("done", {"run": run, **end})
        if status == 413 and "unkept" not in end:
            tell(run, {"unkept": "it is larger than what a session takes"})
