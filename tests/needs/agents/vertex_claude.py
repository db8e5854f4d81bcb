"""The order desk over Claude on Vertex AI; `--stream` prints the words as they come."""

import json
import os
import sys

from anthropic import AnthropicVertex

import orders

# Where it is played there is no login.
token = os.environ.get("DESK_TOKEN", "played")
client = AnthropicVertex(project_id="desk", region="europe-west1", access_token=token)
tools = [
    {"name": name, "description": text, "input_schema": orders.SCHEMAS[name]}
    for name, text in orders.DESCRIPTIONS.items()
]


def ask(messages):
    request = {
        "model": orders.model("claude-sonnet-4-5"),
        "max_tokens": 500,
        "system": orders.SYSTEM,
        "messages": messages,
        "tools": tools,
    }
    if "--stream" not in sys.argv:
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        for text in stream.text_stream:
            print(text, end="", flush=True)
        return stream.get_final_message()


def run(call):
    result = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return {**result, "content": json.dumps(orders.TOOLS[call.name](**call.input))}
    except ValueError as error:
        return {**result, "content": str(error), "is_error": True}


messages = [{"role": "user", "content": sys.stdin.read()}]
for _ in range(orders.MOST):
    answer = ask(messages)
    messages.append({"role": "assistant", "content": answer.content})
    if answer.stop_reason != "tool_use":
        break
    calls = [block for block in answer.content if block.type == "tool_use"]
    messages.append({"role": "user", "content": [run(call) for call in orders.in_order(calls)]})
if orders.changed("a call too many"):
    ask([*messages, {"role": "user", "content": "Is that so?"}])
print("".join(block.text for block in answer.content if block.type == "text"))
