import sys

import mcptest
from shop import changed, effect
from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
@changed
@mcptest.tool
def refund(order: int) -> str:
    """Pays an order back.

    Args:
        order: The order.
    """
    effect(f"refund {order}")
    return f"Order {order} is paid back."


agent = ToolCallingAgent(tools=[refund], model=OpenAIServerModel("gpt-4.1"), verbosity_level=0)
print(agent.run(sys.stdin.read()))
