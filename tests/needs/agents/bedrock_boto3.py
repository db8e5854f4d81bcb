"""The order desk over Bedrock's Converse with boto3; `--stream` prints the words as they come."""

import json
import sys

import boto3

import orders

client = boto3.client("bedrock-runtime")
tools = [
    {"toolSpec": {"name": name, "description": text, "inputSchema": {"json": orders.SCHEMAS[name]}}}
    for name, text in orders.DESCRIPTIONS.items()
]


def streamed(stream):
    """The message that the events of a stream make, and why it stopped."""
    content, inputs, reason = {}, {}, None
    for event in stream:
        for kind, data in event.items():
            place = data.get("contentBlockIndex")
            if kind == "contentBlockStart":
                content[place] = {"toolUse": dict(data["start"]["toolUse"])}
            elif kind == "contentBlockDelta" and "text" in data["delta"]:
                block = content.setdefault(place, {"text": ""})
                block["text"] += data["delta"]["text"]
                print(data["delta"]["text"], end="", flush=True)
            elif kind == "contentBlockDelta":
                inputs[place] = inputs.get(place, "") + data["delta"]["toolUse"]["input"]
            elif kind == "messageStop":
                reason = data["stopReason"]
    for place, text in inputs.items():
        content[place]["toolUse"]["input"] = json.loads(text or "{}")
    return {"role": "assistant", "content": [content[place] for place in sorted(content)]}, reason


def ask(messages):
    request = {
        "modelId": orders.model("us.amazon.nova-pro-v1:0"),
        "system": [{"text": orders.SYSTEM}],
        "messages": messages,
        "toolConfig": {"tools": tools},
        "inferenceConfig": {"maxTokens": 500},
    }
    if "--stream" in sys.argv:
        return streamed(client.converse_stream(**request)["stream"])
    answer = client.converse(**request)
    return answer["output"]["message"], answer["stopReason"]


def run(call):
    result = {"toolUseId": call["toolUseId"]}
    try:
        given = orders.TOOLS[call["name"]](**call["input"])
        return {"toolResult": {**result, "content": [{"json": given}]}}
    except ValueError as error:
        return {"toolResult": {**result, "content": [{"text": str(error)}], "status": "error"}}


messages = [{"role": "user", "content": [{"text": sys.stdin.read()}]}]
for _ in range(orders.MOST):
    answer, reason = ask(messages)
    messages.append(answer)
    if reason != "tool_use":
        break
    calls = [block["toolUse"] for block in answer["content"] if "toolUse" in block]
    messages.append({"role": "user", "content": [run(call) for call in orders.in_order(calls)]})
if orders.changed("a call too many"):
    ask([*messages, {"role": "user", "content": [{"text": "Is that so?"}]}])
print("".join(block["text"] for block in answer["content"] if "text" in block))
