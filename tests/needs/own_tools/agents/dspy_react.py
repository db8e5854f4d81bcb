"""ReAct, whose tools are called from text, and one of them raises."""

import os
import sys

import dspy
import mcptest
from shop import changed, effect


@changed
@mcptest.tool
def refund(order: int) -> dict:
    """Pays an order back."""
    effect(f"refund {order}")
    if order == 6:
        raise ValueError("order 6 is not yours")
    return {"order": order, "amount": 18.37}


model = dspy.LM("openai/gpt-4.1", api_base=os.environ["OPENAI_BASE_URL"], cache=False)
dspy.configure(lm=model, adapter=dspy.ChatAdapter())
print(dspy.ReAct("question -> answer", tools=[refund], max_iters=5)(question=sys.stdin.read()).answer)
