"""What is no answer of a session: the tool does not run."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import unittest
from collections.abc import Iterator
from typing import Any
from unittest import mock

import mcptest

ran: list[str] = []


@mcptest.tool
def refund(order: int) -> str:
    ran.append("refund")
    return f"{order} paid"


@mcptest.tool
async def asked(order: int) -> str:
    ran.append("asked")
    return f"{order} paid"


@mcptest.tool
def counted(order: int) -> Iterator[int]:
    ran.append("counted")
    yield order


class Server:
    """Answers each request with the same bytes: what a session never does."""

    def __init__(self, answer: bytes) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.answer = answer
        self.requests = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def address(self) -> str:
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/secret/tools"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as read:
                headers = b"".join(iter(read.readline, b"\r\n")).decode().lower()
                read.read(int(headers.partition("content-length:")[2].split()[0]))
                self.requests += 1
                connection.sendall(self.answer)


def http(body: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body.encode())}\r\nConnection: close\r\n\r\n{body}".encode()


class Refused(unittest.TestCase):
    def setUp(self) -> None:
        ran.clear()

    def environment(self, **variables: str) -> Any:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MCPTEST")}
        return mock.patch.dict(os.environ, {**kept, **variables}, clear=True)

    def no_tool_runs(self, why: str, **variables: str) -> None:
        async def anext_of_nothing() -> None:
            await asked(7)

        with self.environment(**variables):
            for call in (lambda: refund(7), lambda: asyncio.run(anext_of_nothing()), lambda: next(counted(7))):
                with self.assertRaisesRegex(mcptest.ToolError, "mcptest: the tool `.*` did not run: .*" + why):
                    call()
        self.assertEqual(ran, [])

    def test_playing_without_an_address(self) -> None:
        self.no_tool_runs("MCPTEST_TOOLS is not set", MCPTEST_MODE="play")
        with self.environment(MCPTEST_MODE="record"):
            self.assertEqual(refund(7), "7 paid")

    def test_another_address_than_loopbacks(self) -> None:
        for address in (
            "",
            "http://localhost:80/a/tools",
            "https://127.0.0.1:80/a/tools",
            "http://127.0.0.1.example.com:80/a/tools",
            "http://127.0.0.1:80@example.com/a/tools",
            "http://user@127.0.0.1:80/a/tools",
            "http://127.0.0.1/a/tools",
            "http://127.0.0.1:99999/a/tools",
            "http://127.0.0.1:80/a/tools\r\nHost: b",
            "http://[::1]:80/a/tools",
            "file:///etc/passwd",
        ):
            self.no_tool_runs("no address of this machine's loopback", MCPTEST_TOOLS=address)

    def test_nobody_is_there(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.no_tool_runs("cannot be asked", MCPTEST_TOOLS=f"http://127.0.0.1:{port}/secret/tools")

    def test_answers_that_are_none(self) -> None:
        for answer, why in (
            (http("{}"), "answered 200: something that is no answer"),
            (http("[]"), "no answer"),
            (http("null"), "no answer"),
            (http('"run"'), "no answer"),
            (http('{"run": 4}'), "no answer"),
            (http('{"run": null}'), "no answer"),
            (http('{"ran": "t4"}'), "no answer"),
            (http('{"run": "t4", "result": 1}'), "no answer"),
            (http('{"result": 1, "error": {"type": "E", "text": ""}}'), "no answer"),
            (http('{"error": null}'), "no answer"),
            (http('{"error": "no"}'), "no answer"),
            (http('{"error": {"type": "E"}}'), "no answer"),
            (http('{"error": {"type": 1, "text": ""}}'), "no answer"),
            (http('{"run": "t4"'), "cannot be asked"),
            (http("\xff"), "cannot be asked"),
            (http("[" * 200_000), "cannot be asked"),
            (http('{"run": "t4"}', "201 Created"), "answered 201"),
            (http('{"run": "t4"}', "500 Oops"), "answered 500"),
            (
                http('{"message": "mcptest: this session has ended"}', "410 Gone"),
                "410: mcptest: this session has ended",
            ),
            (http("", "302 Found\r\nLocation: http://127.0.0.1:1/x"), "cannot be asked"),
            (b"nonsense\r\n\r\n", "cannot be asked"),
            (b"", "cannot be asked"),
            (b'HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"run": "t4"}', "cannot be asked"),
        ):
            with self.subTest(answer=answer[:120]):
                server = Server(answer)
                self.no_tool_runs(why, MCPTEST_TOOLS=server.address())
                self.assertEqual(server.requests, 3)
                server.socket.close()

    def test_proxies_of_the_environment_are_not_used(self) -> None:
        proxy, server = Server(http('{"run": "t4"}')), Server(http('{"result": "given"}'))
        proxies = {name: proxy.address() for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy")}
        with self.environment(MCPTEST_TOOLS=server.address(), **proxies):
            self.assertEqual(refund(7), "given")
        self.assertEqual((proxy.requests, ran), (0, []))

    def test_the_variable_is_read_at_each_call(self) -> None:
        server = Server(http('{"result": "given"}'))
        with self.environment():
            self.assertEqual(refund(7), "7 paid")
            os.environ["MCPTEST_TOOLS"] = server.address()
            self.assertEqual(refund(7), "given")
            del os.environ["MCPTEST_TOOLS"]
            self.assertEqual(refund(7), "7 paid")


if __name__ == "__main__":
    unittest.main()
