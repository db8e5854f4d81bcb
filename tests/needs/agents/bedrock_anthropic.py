"""The order desk over Claude on Bedrock, with the client of Anthropic; `--stream` prints the words as they come."""

import json
import sys

from anthropic import AnthropicBedrock

import orders

client = AnthropicBedrock()
tools = [
    {"name": name, "description": text, "input_schema": orders.SCHEMAS[name]}
    for name, text in orders.DESCRIPTIONS.items()
]


def ask(messages):
    request = {
        "model": orders.model("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
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
