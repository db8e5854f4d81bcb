"""The order desk as a graph of LangGraph, with a model of Bedrock by `langchain-aws`."""

import sys

from langchain_core.tools import tool
from langchain_aws import ChatBedrockConverse
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

import orders


@tool
def get_order(order: int) -> dict:
    """Looks an order up."""
    return orders.get_order(order)


@tool
def refund(order: int, amount: str) -> dict:
    """Pays an order back."""
    return orders.refund(order, amount)


tools = orders.offered([get_order, refund])
model = ChatBedrockConverse(model="us.anthropic.claude-sonnet-4-5-20250929-v1:0").bind_tools(tools)


def ask(state: MessagesState) -> dict:
    return {"messages": [model.invoke([("system", orders.SYSTEM), *state["messages"]])]}


graph = StateGraph(MessagesState)
graph.add_node("ask", ask)
graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
graph.add_edge(START, "ask")
graph.add_conditional_edges("ask", tools_condition)
graph.add_edge("tools", "ask")
desk = graph.compile()
prompt = {"messages": [("user", sys.stdin.read())]}
# Each answer and its calls are a step each.
limit = {"recursion_limit": 2 * orders.MOST}


def answer():
    if "--stream" not in sys.argv:
        print(desk.invoke(prompt, limit)["messages"][-1].content)
        return
    # In this mode the model's words come as they are written.
    for message, _ in desk.stream(prompt, limit, stream_mode="messages"):
        if message.type == "AIMessageChunk":
            print(message.content, end="", flush=True)
    print()


for _ in range(orders.RUNS):
    try:
        answer()
    except GraphRecursionError as error:
        print(error)
