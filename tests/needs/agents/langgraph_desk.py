"""The order desk as a graph of LangGraph, with the model of `langchain-openai`."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
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


model = ChatOpenAI(model="gpt-5").bind_tools([get_order, refund])


def ask(state: MessagesState) -> dict:
    return {"messages": [model.invoke([("system", orders.SYSTEM), *state["messages"]])]}


graph = StateGraph(MessagesState)
graph.add_node("ask", ask)
graph.add_node("tools", ToolNode([get_order, refund], handle_tool_errors=True))
graph.add_edge(START, "ask")
graph.add_conditional_edges("ask", tools_condition)
graph.add_edge("tools", "ask")
desk = graph.compile()
prompt = {"messages": [("user", sys.stdin.read())]}
if "--stream" in sys.argv:
    # In this mode the model's words come as they are written.
    for message, _ in desk.stream(prompt, stream_mode="messages"):
        if message.type == "AIMessageChunk":
            print(message.content, end="", flush=True)
    print()
else:
    print(desk.invoke(prompt)["messages"][-1].content)
