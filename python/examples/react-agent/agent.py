"""A ReAct agent: it calls its tools from the model's text, so no request of it offers a tool.

Only the standard library, and `mcptest-harness` for the tools.
"""

import json
import os
import re
import sys
import urllib.request

import mcptest

ORDERS = {7: {"status": "paid", "total": "18.00 EUR"}, 8: {"status": "refunded", "total": "25.00 EUR"}}

SYSTEM = """You work at the refund desk. Think step by step, in this form:

Thought: what you need to know or do
Action: find_order or refund
Action Input: a JSON object, such as {"order": 7}

You are then told an Observation. When you are done, write:

Thought: I am done.
Final Answer: what you did, for the customer"""


@mcptest.tool
def find_order(order: int) -> dict:
    if order not in ORDERS:
        raise LookupError(f"there is no order {order}")
    return ORDERS[order]


@mcptest.tool
def refund(order: int) -> str:
    if ORDERS[order]["status"] == "refunded":
        raise ValueError(f"order {order} was refunded before")
    # Here the money moves. It does when a run is recorded, and never when it is played.
    with open(os.environ.get("LEDGER", os.devnull), "a") as ledger:
        ledger.write(f"{order}\n")
    return f"{ORDERS[order]['total']} of order {order} is refunded"


TOOLS = {"find_order": find_order, "refund": refund}


def ask(messages):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps({"model": "gpt-5", "messages": messages, "stop": ["Observation:"]}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def observe(text):
    name = re.search(r"^Action: *(\w+)", text, re.MULTILINE)
    given = re.search(r"^Action Input: *(.*)", text, re.MULTILINE)
    if not name or not given or name[1] not in TOOLS:
        return "Error: write an Action that is find_order or refund, and an Action Input"
    try:
        return json.dumps(TOOLS[name[1]](**json.loads(given[1])))
    except (LookupError, ValueError) as error:
        return f"Error: {error}"


def main():
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.stdin.read()}]
    for _ in range(8):
        text = ask(messages)
        answer = re.search(r"^Final Answer: *(.*)", text, re.MULTILINE | re.DOTALL)
        if answer:
            print(answer[1].strip())
            return
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": "Observation: " + observe(text)})
    sys.exit("the agent did not end after 8 steps")


main()
