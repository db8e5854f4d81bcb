"""One start for all runs that are played: the program imports once, and is forked for each run.

The harness says by a variable that it would like this, and decides when it has heard what stands in the way. The
process that was started stays, without a run of its own. Each run is a child that goes on where `serve` was called.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import stat
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable, Optional, TypeVar

T = TypeVar("T")
SERVE = "MCPTEST_SERVE"
# What differs between runs of one program. All else of the environment is the same.
_OF_A_RUN = "MCPTEST_RECORDED_AT"
_read: set[str] = set()


class _Environ(type(os.environ)):  # type: ignore[misc]
    """Sees whether the program has read before `serve` what only a run can know."""

    def __getitem__(self, key: Any) -> Any:
        # Clients of HTTP go through all variables to find proxies.
        if key == _OF_A_RUN and sys._getframe(1).f_code.co_name not in ("__iter__", "copy"):
            _read.add(key)
        return super().__getitem__(key)


if SERVE in os.environ:
    os.environ.__class__ = _Environ


def serve(main: Callable[[], T]) -> T:
    """Calls `main`, and returns what it returns. Write it at the end of the program in place of `main()`.

    If mcptest plays recordings to the program, what stands above this line runs once for all of them, and `main` runs
    in a process of its own for each. This needs Linux.
    """
    name = os.environ.pop(SERVE, None)
    if isinstance(os.environ, _Environ):
        os.environ.__class__ = _Environ.__base__
    if name is not None and sys.platform == "linux":
        with contextlib.suppress(OSError):
            import fcntl
            import termios

            hindrance, count = _hindrance(), fcntl.ioctl(0, termios.FIONREAD, bytes(4))
            harness = socket.socket(socket.AF_UNIX)
            harness.connect(f"\0{name}")
            told = {"unread": int.from_bytes(count, sys.byteorder), "hindrance": hindrance}
            harness.sendall(json.dumps(told).encode() + b"\n")
            if harness.recv(1) == b"f":
                _fork(harness)
            harness.close()
    return main()


def _hindrance() -> Optional[str]:
    """What a child would not have, or would share with the next one."""
    if _read:
        return f"it reads {_OF_A_RUN}"
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        return f"it has {threads} threads"
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return "it has started another program"
    for fd in os.listdir("/proc/self/fd"):
        # What was there when the program started can be inherited. Devices have no state.
        with contextlib.suppress(OSError):
            if not os.get_inheritable(int(fd)) and not stat.S_ISCHR(os.fstat(int(fd)).st_mode):
                return f"it has opened {os.readlink(f'/proc/self/fd/{fd}')}"
    return None


def _fork(harness: socket.socket) -> None:
    """Returns in each child. The process itself ends when the harness is gone."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()  # type: ignore[union-attr]
    with open(os.devnull, "r+b", 0) as null:
        for fd in range(3):
            os.dup2(null.fileno(), fd)
    import random  # Not in production, where `serve` only calls `main`.

    chance = random.getstate()
    sys.modules["mcptest._end"] = _End()  # type: ignore[assignment]
    gc.freeze()
    try:
        while True:
            told, fds, *_ = socket.recv_fds(harness, 1 << 16, 4)
            if len(fds) < 4:
                os._exit(0)
            child = os.fork()
            if child == 0:
                break
            with contextlib.suppress(OSError):
                os.setpgid(child, child)
            for fd in fds:
                os.close(fd)
            harness.sendall(f"{child}\n".encode())
            # It is not collected before its group has ended, so nobody else has its number.
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            with contextlib.suppress(OSError):
                os.killpg(child, signal.SIGKILL)
            harness.sendall(f"{os.waitpid(child, 0)[1]}\n".encode())
    except BaseException:
        os._exit(1)
    for place, fd in enumerate(fds[:3]):
        os.dup2(fd, place)
    # The harness watches over the group from now on, or it is gone.
    if os.read(fds[3], 1) != b"g":
        os._exit(1)
    for fd in fds:
        os.close(fd)
    os.environ.pop(_OF_A_RUN, None)
    os.environ.update(json.loads(told))
    # As it was at `serve`: a program that sets a seed has its numbers.
    random.setstate(chance)


class _End:
    """Ends what the program's own modules hold, as Python does at its end. The frozen rest of the heap stays: taking
    it down in each child costs as much as a part of the imports.
    """

    def __init__(self) -> None:
        modules = list(sys.modules.values())
        self.names = [vars(module) for module in modules if isinstance(module, ModuleType) and _is_own(module)]

    def __del__(self) -> None:
        for names in self.names:
            for name, value in list(names.items()):
                if not name.startswith("__") and not isinstance(value, (ModuleType, FunctionType, type)):
                    names[name] = None


def _is_own(module: ModuleType) -> bool:
    file = str(getattr(module, "__file__", None) or os.__file__)
    is_library = file.startswith(os.path.dirname(os.__file__)) or "-packages" in file
    return module.__name__ == "__main__" or not is_library
