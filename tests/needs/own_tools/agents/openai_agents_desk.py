"""Two functions, of which one is given a context and fails, and a tool that was there."""

import sys

import mcptest
from agents import Agent, OpenAIChatCompletionsModel, RunContextWrapper, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from shop import changed, effect

set_tracing_disabled(True)


@function_tool
@changed
@mcptest.tool
def refund(order: int) -> dict:
    """Pays an order back."""
    effect(f"refund {order}")
    return {"order": order, "amount": 18.369999999999997}


@function_tool
@mcptest.tool
async def ship(ctx: RunContextWrapper, order: int) -> str:
    """Sends an order."""
    effect(f"ship {order}")
    raise KeyError(f"no order {order}")


@function_tool
def check(order: int) -> str:
    """Checks an order."""
    effect(f"check {order}")
    return "checked"


check.on_invoke_tool = mcptest.tool(check.on_invoke_tool, name=check.name)
model = OpenAIChatCompletionsModel("gpt-4.1", AsyncOpenAI())
agent = Agent(name="desk", tools=[refund, ship, check], model=model)
print(Runner.run_sync(agent, sys.stdin.read()).final_output)
