"""A function, one that is given a context, a generator, and a tool that was there."""

import sys
from collections.abc import Iterator

import mcptest
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.run import RunContext
from agno.tools import tool
from shop import changed, effect


@changed
@mcptest.tool
def refund(order: int) -> dict:
    """Pays an order back."""
    effect(f"refund {order}")
    return {"order": order, "amount": 18.37}


@tool
@mcptest.tool
def ship(run_context: RunContext, order: int) -> str:
    """Sends an order."""
    effect(f"ship {order}")
    raise KeyError(f"no order {order}")


@mcptest.tool
def track(order: int) -> Iterator[str]:
    """Follows an order."""
    effect(f"track {order}")
    yield "sent, "
    yield "arrived"


@tool
def check(order: int) -> str:
    """Checks an order."""
    effect(f"check {order}")
    return "checked"


check.entrypoint = mcptest.tool(check.entrypoint, name=check.name)
agent = Agent(model=OpenAIChat(id="gpt-4.1"), tools=[refund, ship, track, check], telemetry=False)
print(agent.run(sys.stdin.read()).content)
