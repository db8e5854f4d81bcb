"""A graph with a state that is injected, a node that is tried again, and the id of the call in an argument."""

import sys
from typing import Annotated

import mcptest
from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import RetryPolicy
from shop import changed, effect

tries = []


@tool
@changed
@mcptest.tool
def refund(
    order: int,
    state: Annotated[dict, InjectedState],
    tool_call_id: Annotated[str, InjectedToolCallId],
    config: RunnableConfig,
    note: str = "none",
) -> str:
    """Pays an order back."""
    effect(f"refund {order} {note} {len(state['messages'])}")
    return f"Order {order} is paid back."


@tool
@mcptest.tool
async def ship(order: int, runtime: ToolRuntime) -> dict:
    """Sends an order."""
    effect(f"ship {order} {len(runtime.state['messages'])}")
    return {"order": order, "by": "post", "at": 18.369999999999997}


@tool
@mcptest.tool
def check(order: int) -> str:
    """Checks an order, which fails the first time."""
    effect(f"check {order}")
    tries.append(order)
    if len(tries) == 1:
        raise ConnectionError("the shop is busy")
    return "checked"


async def main():
    model = ChatOpenAI(model="gpt-4.1").bind_tools([refund, ship, check])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    tools = ToolNode([refund, ship, check], handle_tool_errors=False)
    graph.add_node("tools", tools, retry_policy=RetryPolicy(max_attempts=2, initial_interval=0.01))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, ["tools", END])
    graph.add_edge("tools", "model")
    ended = await graph.compile().ainvoke({"messages": [("user", sys.stdin.read())]})
    print(ended["messages"][-1].content)


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
