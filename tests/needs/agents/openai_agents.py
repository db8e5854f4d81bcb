"""The order desk by OpenAI's Agents SDK; it reads the tools off the functions."""

import asyncio
import json
import sys

from agents import Agent, MaxTurnsExceeded, Runner, function_tool, set_tracing_disabled

import orders

# Traces would go to another address, which no session is given.
set_tracing_disabled(True)


@function_tool
def get_order(order: int) -> str:
    """Looks an order up."""
    return json.dumps(orders.get_order(order))


@function_tool
def refund(order: int, amount: str) -> str:
    """Pays an order back."""
    return json.dumps(orders.refund(order, amount))


async def main():
    agent = Agent(
        name="Order desk",
        model="gpt-5",
        instructions=orders.SYSTEM,
        tools=orders.offered([get_order, refund]),
    )
    prompt = sys.stdin.read()
    for _ in range(orders.RUNS):
        try:
            await run(agent, prompt)
        except MaxTurnsExceeded as error:
            print(error)


async def run(agent, prompt):
    if "--stream" not in sys.argv:
        answer = await Runner.run(agent, prompt, max_turns=orders.MOST)
    else:
        answer = Runner.run_streamed(agent, prompt, max_turns=orders.MOST)
        async for event in answer.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                print(event.data.delta, end="", flush=True)
    print(answer.final_output)


asyncio.run(main())
