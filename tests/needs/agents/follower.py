"""Follows a recorded run, over OpenAI's Chat Completions and nothing but the standard library. It makes the calls that
it is told to make, and takes each result from the recording that `FOLLOWED` names."""

import json
import os
import sys
import urllib.request

with open(os.environ["FOLLOWED"], encoding="utf-8") as file:
    run = json.load(file)
trace = run["trace"]
left = list(enumerate(trace["tool_calls"]))
results = {result["call_index"]: result["result"] for result in trace["tool_results"]}
messages = []
if "system_prompt" in run:
    messages.append({"role": "system", "content": run["system_prompt"]})


def ask():
    request = {"model": run["model"], "messages": messages}
    tools = [
        {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "parameters": tool.get("input_schema", {"type": "object"}),
        }
        for tool in run.get("tools", [])
    ]
    if tools:
        request["tools"] = [{"type": "function", "function": tool} for tool in tools]
    asked = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(request).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)["choices"][0]["message"]


def result(call):
    """What the first recorded call was answered that is this one and was not made yet."""
    name, args = call["name"], json.loads(call["arguments"])
    for place, (number, recorded) in enumerate(left):
        if (recorded["name"], recorded["args"]) == (name, args):
            del left[place]
            return text(results[number])
    raise SystemExit(f"no recorded call is left of {name} with {args}")


def text(value):
    if isinstance(value, dict) and "content" in value:
        value = value["content"]
    if isinstance(value, list):
        return "\n".join(block["text"] for block in value)
    return value if isinstance(value, str) else json.dumps(value)


def answer(user):
    messages.append({"role": "user", "content": user})
    while True:
        message = ask()
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            content = result(call["function"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


if "turns" in sys.argv:
    for line in sys.stdin:
        print(json.dumps({"said": answer(json.loads(line)["user"])}), flush=True)
else:
    print(answer(sys.stdin.read()))
if left:
    raise SystemExit(f"calls that nobody asked for: {left}")
