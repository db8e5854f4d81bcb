"""The order desk over Ollama's own chat; `--stream` prints the words as they come."""

import json
import os
import sys
import time

from ollama import Client, Message, ResponseError

import orders

client = Client()
tools = [
    {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": orders.SCHEMAS[name]},
    }
    for name, text in orders.DESCRIPTIONS.items()
]


def said(messages):
    request = {"model": orders.model("qwen3"), "messages": messages, "tools": tools}
    if "--stream" not in sys.argv:
        return client.chat(**request).message
    whole = Message(role="assistant", content="", tool_calls=[])
    for chunk in client.chat(**request, stream=True):
        piece = chunk.message
        whole.content += piece.content or ""
        whole.tool_calls += piece.tool_calls or []
        print(piece.content or "", end="", flush=True)
    return whole


def ask(messages):
    """The library asks nothing again by itself."""
    for wait in [0.1, 0.2, None]:
        try:
            return said(messages)
        except ResponseError as error:
            if wait is None or error.status_code != 429:
                raise
            time.sleep(wait)


def run(call):
    try:
        return json.dumps(orders.TOOLS[call.function.name](**call.function.arguments))
    except ValueError as error:
        return f"Error: {error}"


messages = [
    {"role": "system", "content": orders.SYSTEM},
    {"role": "user", "content": os.environ["MCPTEST_PROMPT"]},
]
for _ in range(orders.MOST):
    answer = ask(messages)
    messages.append(answer)
    if not answer.tool_calls:
        break
    calls = answer.tool_calls
    # The results have no identifiers: the model knows them by their order.
    results = {id(call): run(call) for call in orders.in_order(calls)}
    for call in calls:
        result = {"role": "tool", "tool_name": call.function.name, "content": results[id(call)]}
        messages.append(result)
if orders.changed("a call too many"):
    ask([*messages, {"role": "user", "content": "Is that so?"}])
print(answer.content)
