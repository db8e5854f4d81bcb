"""Arguments that are coerced, a tool that wants another try, and an agent as a tool."""

import sys

import mcptest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext
from shop import changed, effect

agent = Agent("openai-chat:gpt-4.1")
clerk = Agent("openai-chat:gpt-4.1")


class Item(BaseModel):
    name: str
    count: int = 1


@agent.tool_plain(retries=2)
@changed
@mcptest.tool
def refund(order: int, item: Item) -> Item:
    """Pays an order back."""
    effect(f"refund {order}")
    if order == 6:
        raise ModelRetry("order 6 is not yours")
    return Item(name=item.name, count=item.count + 1)


@agent.tool
@mcptest.tool
async def ask(ctx: RunContext, question: str) -> str:
    """Asks the clerk."""
    effect(f"ask {question}")
    return (await clerk.run(question)).output


@clerk.tool_plain
@mcptest.tool
def stock(name: str) -> int:
    """How many there are."""
    effect(f"stock {name}")
    return 3


print(agent.run_sync(sys.stdin.read()).output)
