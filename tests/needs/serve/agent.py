"""An agent that is started once for all runs that are played. Its argument says what it does beside asking its model."""

import atexit
import contextlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import mcptest

KIND = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
PLAYS = os.environ.get("MCPTEST_MODE") == "play"


def note(file, text):
    """Leaves a line that other processes add to."""
    with open(os.path.join(HERE, f"{file}-{KIND}.txt"), "a") as lines:
        lines.write(f"{text}\n")


class Client:
    """Takes its address when it is made."""

    def __init__(self):
        self.proxies = urllib.request.getproxies()
        self.url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"

    def ask(self, system, prompt):
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body = json.dumps({"model": "gpt-5", "messages": messages}).encode()
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
        with urllib.request.urlopen(urllib.request.Request(self.url, body, headers)) as response:
            return json.load(response)["choices"][0]["message"]["content"]


class Loud:
    """Leaves a line when nothing holds it any more."""

    def __init__(self, text):
        self.text, self.file = f"{text}\n".encode(), os.path.join(HERE, f"ended-{KIND}.txt")

    def __del__(self):
        # At its end, Python has no `open` any more.
        file = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, self.text)
        os.close(file)


@mcptest.tool
def refund(order: int) -> str:
    note("refunds", order)
    return f"order {order} is refunded"


if PLAYS:
    note("starts", os.getpid())
client = Client()
random.seed(7)
seen = []
loud = Loud("at import")
if KIND == "talks":
    print("what stands above the prompt")
    print("a warning of an import", file=sys.stderr)
    logging.basicConfig(level=logging.INFO)
if PLAYS:
    if KIND == "thread":
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    if KIND == "file":
        opened = open(__file__)
    if KIND == "program":
        started = subprocess.Popen(["sleep", "60"])
    if KIND == "time":
        AT = os.environ["MCPTEST_RECORDED_AT"]
    if KIND == "asks":
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(client.url.replace("/chat/completions", "/models"))
early = sys.stdin.read() if KIND == "reads" else None


def main():
    seen.append(1)
    prompt = sys.stdin.read() if early is None else early
    assert prompt == os.environ["MCPTEST_PROMPT"] == sys.argv[2], prompt
    assert os.getpgid(0) == os.getpid()
    # What another run left would be another system prompt.
    answer = client.ask(f"Runs: {len(seen)}, chance: {random.random()}", prompt)
    if KIND == "tool":
        answer += refund(7)
    if KIND == "large":
        print(("x" * 99 + "\n") * 5000)
        print(("y" * 99 + "\n") * 5000, file=sys.stderr)
    if KIND == "ends":
        global kept, loud_of_run
        atexit.register(note, "atexit", "done")
        kept = open(os.path.join(HERE, f"kept-{os.getpid()}.txt"), "w")
        kept.write("kept")
        loud_of_run = Loud("in main")
    if KIND == "time-in-main" and PLAYS:
        note("times", os.environ["MCPTEST_RECORDED_AT"])
    if KIND == "leaves":
        note("left", subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)
    print(answer, flush=True)
    if not PLAYS:
        return
    if KIND == "hangs":
        note("hanging", os.getpid())
        time.sleep(600)
    if KIND == "exits":
        os._exit(3)
    if KIND == "killed":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)
    if KIND == "raises":
        raise ValueError("no such order")
    if KIND == "says":
        sys.exit("the order is gone")
    if KIND == "differs":
        client.ask("Another one.", prompt)
    if KIND == "parent":
        os.kill(os.getppid(), signal.SIGKILL)


mcptest.serve(main)
