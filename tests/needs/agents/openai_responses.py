"""The order desk over OpenAI's Responses; the provider keeps the talk, and each request names the answer before it."""

import json
import sys

from openai import OpenAI

import orders

client = OpenAI()
tools = [
    {"type": "function", "name": name, "description": text, "parameters": orders.SCHEMAS[name]}
    for name, text in orders.DESCRIPTIONS.items()
]


def ask(new, before):
    request = {"model": orders.model("gpt-5"), "instructions": orders.SYSTEM, "tools": tools, "input": new}
    if before is not None:
        request["previous_response_id"] = before.id
    if "--stream" not in sys.argv:
        return client.responses.create(**request)
    with client.responses.stream(**request) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                print(event.delta, end="", flush=True)
        return stream.get_final_response()


def run(call):
    try:
        result = json.dumps(orders.TOOLS[call.name](**json.loads(call.arguments)))
    except ValueError as error:
        result = f"Error: {error}"
    return {"type": "function_call_output", "call_id": call.call_id, "output": result}


answer = ask([{"role": "user", "content": sys.stdin.read()}], None)
asked = 1
while calls := [item for item in answer.output if item.type == "function_call"]:
    results = [run(call) for call in orders.in_order(calls)]
    if asked == orders.MOST:
        break
    answer = ask(results, answer)
    asked += 1
if orders.changed("a call too many"):
    ask([{"role": "user", "content": "Is that so?"}], answer)
print(answer.output_text)
