"""What the tools of the order desk do."""

ORDERS = {7: {"order": 7, "status": "delivered", "total": "18.00 EUR"}}


def get_order(order: int) -> dict:
    if order not in ORDERS:
        raise ValueError(f"there is no order {order}")
    return ORDERS[order]


def refund(order: int, amount: str) -> dict:
    return {"order": order, "refunded": amount}


TOOLS = {"get_order": get_order, "refund": refund}

SYSTEM = "You work at the order desk."

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
