"""The order desk with Strands, whose model is on Bedrock unless it is told otherwise."""

import json
import sys

from strands import Agent, tool
from strands.models import BedrockModel

import orders


@tool
def get_order(order: int) -> str:
    """Looks an order up."""
    return json.dumps(orders.get_order(order))


@tool
def refund(order: int, amount: str) -> str:
    """Pays an order back."""
    return json.dumps(orders.refund(order, amount))


prompt = sys.stdin.read()
limits = {"turns": orders.MOST}
for _ in range(orders.RUNS):
    desk = Agent(
        model=BedrockModel(
            model_id=orders.model("global.anthropic.claude-sonnet-4-6"),
            streaming="--stream" in sys.argv,
        ),
        system_prompt=orders.SYSTEM,
        tools=orders.offered([get_order, refund]),
        callback_handler=None,
    )
    print(desk(prompt, limits=limits))
