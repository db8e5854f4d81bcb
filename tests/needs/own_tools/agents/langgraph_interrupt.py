"""A tool that asks a person in the middle: the graph is left, and goes on with the answer."""

import sys

import mcptest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from shop import effect


@tool
@mcptest.tool
def refund(order: int) -> str:
    """Pays an order back, if a person agrees."""
    answer = interrupt(f"Pay order {order} back?")
    effect(f"refund {order} {answer}")
    return f"Order {order} is paid back."


model = ChatOpenAI(model="gpt-4.1").bind_tools([refund])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([refund]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition, ["tools", END])
graph.add_edge("tools", "model")
desk = graph.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
assert "__interrupt__" in desk.invoke({"messages": [("user", sys.stdin.read())]}, thread)
print(desk.invoke(Command(resume="yes"), thread)["messages"][-1].content)
