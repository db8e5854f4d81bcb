"""The order desk by Pydantic AI; it reads the tools off the functions."""

import asyncio
import os
import sys

from pydantic_ai import Agent, ModelRetry, UsageLimitExceeded, UsageLimits

import orders

agent = Agent("openai-chat:gpt-5", system_prompt=orders.SYSTEM)


@agent.tool_plain(retries=2)
def get_order(order: int) -> dict:
    """Looks an order up."""
    try:
        return orders.get_order(order)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


def refund(order: int, amount: str) -> dict:
    """Pays an order back."""
    return orders.refund(order, amount)


for tool in orders.offered([get_order, refund])[1:]:
    agent.tool_plain(tool)

limits = UsageLimits(request_limit=orders.MOST)


async def main():
    for _ in range(orders.RUNS):
        try:
            await run(os.environ["MCPTEST_PROMPT"])
        except UsageLimitExceeded as error:
            print(error)


async def run(prompt):
    if "--stream" not in sys.argv:
        print((await agent.run(prompt, usage_limits=limits)).output)
        return
    # `run_stream` would stop at the first words; this one goes on to the end.
    async with agent.iter(prompt, usage_limits=limits) as steps:
        async for node in steps:
            if Agent.is_model_request_node(node):
                async with node.stream(steps.ctx) as stream:
                    async for text in stream.stream_text(delta=True):
                        print(text, end="", flush=True)
    print(steps.result.output)


asyncio.run(main())
