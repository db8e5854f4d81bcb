"""The order desk by Pydantic AI; it reads the tools off the functions."""

import asyncio
import os
import sys

from pydantic_ai import Agent, ModelRetry

import orders

agent = Agent("openai-chat:gpt-5", system_prompt=orders.SYSTEM)


@agent.tool_plain(retries=2)
def get_order(order: int) -> dict:
    """Looks an order up."""
    try:
        return orders.get_order(order)
    except ValueError as error:
        raise ModelRetry(str(error)) from error


@agent.tool_plain
def refund(order: int, amount: str) -> dict:
    """Pays an order back."""
    return orders.refund(order, amount)


async def main():
    prompt = os.environ["MCPTEST_PROMPT"]
    if "--stream" not in sys.argv:
        print((await agent.run(prompt)).output)
        return
    # `run_stream` would stop at the first words; this one goes on to the end.
    async with agent.iter(prompt) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for text in stream.stream_text(delta=True):
                        print(text, end="", flush=True)
    print(run.result.output)


asyncio.run(main())
