"""What the tools of the order desk do, and how tests change the code of the agents: `AGENT_CHANGE` names the changes."""

import json
import os
import sys
import time

CHANGES = os.environ.get("AGENT_CHANGE", "").split(", ")


def changed(name: str) -> bool:
    return name in CHANGES


ORDERS = {7: {"order": 7, "status": "delivered", "total": "18.00 EUR"}}
if changed("another order of keys"):
    ORDERS = {number: dict(reversed(order.items())) for number, order in ORDERS.items()}


def get_order(order: int) -> dict:
    if changed("calls in another order") and order == 7:
        # Where a library runs calls at once, this one ends after the other.
        time.sleep(0.2)
    if changed("an argument changed"):
        order += 1
    if order not in ORDERS:
        if changed("an error swallowed"):
            return {"order": order, "status": "ok"}
        raise ValueError(f"there is no order {order}")
    return ORDERS[order]


def refund(order: int, amount: str) -> dict:
    return {"order": order, "refunded": amount}


TOOLS = {"get_order": get_order, "refund": refund}

SYSTEM = "You work at the order desk."
if changed("another system prompt"):
    SYSTEM = "You work at the quick order desk."

# How often a loop asks the model at most, and how often an agent is run.
MOST = 2 if changed("a call too few") else 9
RUNS = 2 if changed("a call too many") else 1

# What a model is told of the tools, for clients that do not read it off the functions.
DESCRIPTIONS = {"get_order": "Looks an order up.", "refund": "Pays an order back."}
SCHEMAS = {
    "get_order": {
        "type": "object",
        "properties": {"order": {"type": "integer", "description": "The number of the order."}},
        "required": ["order"],
    },
    "refund": {
        "type": "object",
        "properties": {"order": {"type": "integer"}, "amount": {"type": "string"}},
        "required": ["order", "amount"],
    },
}
if changed("a tool removed"):
    del DESCRIPTIONS["refund"]


def offered(tools: list) -> list:
    """The tools of an agent, for clients that read them off the functions."""
    return tools[:1] if changed("a tool removed") else tools


def in_order(calls: list) -> list:
    """The calls of an answer, for clients that run them one by one."""
    return calls[::-1] if changed("calls in another order") else calls


def model(usual: str) -> str:
    """The model that is asked, which a recording of another client may have named otherwise."""
    return os.environ.get("AGENT_MODEL", usual)


if changed("a log line"):
    print("at the desk")
    print("at the desk", file=sys.stderr)

if changed("the environment written down"):
    with open("environment.json", "w", encoding="utf-8") as file:
        json.dump(dict(os.environ), file)
