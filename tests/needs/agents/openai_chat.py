"""The order desk over OpenAI's Chat Completions; `--stream` prints the words as they come."""

import json
import os
import sys

from openai import OpenAI

import orders

client = OpenAI()
model = orders.model("gpt-5")
tools = [
    {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": orders.SCHEMAS[name]},
    }
    for name, text in orders.DESCRIPTIONS.items()
]


def ask(messages):
    if "--stream" not in sys.argv:
        answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
        return answer.choices[0].message
    with client.chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
        for event in stream:
            if event.type == "content.delta":
                print(event.delta, end="", flush=True)
        return stream.get_final_completion().choices[0].message


def run(call):
    try:
        result = orders.TOOLS[call.function.name](**json.loads(call.function.arguments))
        return json.dumps(result)
    except ValueError as error:
        return f"Error: {error}"


messages = [
    {"role": "system", "content": orders.SYSTEM},
    {"role": "user", "content": os.environ["MCPTEST_PROMPT"]},
]
for _ in range(orders.MOST):
    message = ask(messages)
    messages.append(message)
    if not message.tool_calls:
        break
    for call in orders.in_order(message.tool_calls):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": run(call)})
if orders.changed("a call too many"):
    ask([*messages, {"role": "user", "content": "Is that so?"}])
print(message.content)
