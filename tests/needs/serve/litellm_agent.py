"""An agent over litellm, whose import takes most of its time."""

import os
import sys

if os.environ.get("MCPTEST_MODE") == "play":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "starts.txt"), "a") as starts:
        starts.write(f"{os.getpid()}\n")

import litellm

import mcptest


@mcptest.tool
def refund(order: int) -> str:
    return f"Order {order} is paid back."


TOOL = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Pays an order back.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    },
}


def main():
    messages = [{"role": "user", "content": sys.stdin.read()}]
    while True:
        answer = litellm.completion("openai/gpt-5", messages, tools=[TOOL]).choices[0].message
        messages.append(answer.model_dump(exclude_none=True))
        if not answer.tool_calls:
            print(answer.content)
            return
        for call in answer.tool_calls:
            order = litellm.json.loads(call.function.arguments)["order"]
            result = refund(order + (os.environ.get("AGENT_CHANGE") == "argument"))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


mcptest.serve(main)
