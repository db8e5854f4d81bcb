"""The order desk over Gemini on Vertex AI; the client reads the tools off the functions and calls them by itself."""

import os
import sys

from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

import orders


def get_order(order: int) -> dict:
    """Looks an order up."""
    return orders.get_order(order)


def refund(order: int, amount: str) -> dict:
    """Pays an order back."""
    return orders.refund(order, amount)


# It asks nothing again unless it is told to.
again = types.HttpRetryOptions(attempts=3, initial_delay=0.1)
# Where it is played there is no login: a token that is given is not renewed.
token = os.environ.get("DESK_TOKEN", "played")
client = genai.Client(
    vertexai=True,
    project="desk",
    location="europe-west4",
    credentials=Credentials(token=token),
    http_options=types.HttpOptions(retry_options=again),
)
config = types.GenerateContentConfig(
    system_instruction=orders.SYSTEM,
    tools=orders.offered([get_order, refund]),
    automatic_function_calling=types.AutomaticFunctionCallingConfig(
        maximum_remote_calls=orders.MOST
    ),
)
chat = client.chats.create(model=orders.model("gemini-2.5-pro"), config=config)
prompt = os.environ["MCPTEST_PROMPT"]
if "--stream" in sys.argv:
    for chunk in chat.send_message_stream(prompt):
        print(chunk.text or "", end="", flush=True)
    print()
else:
    print(chat.send_message(prompt).text)
if orders.changed("a call too many"):
    chat.send_message("Is that so?")
