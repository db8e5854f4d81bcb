"""An agent that acts in a shell."""

import os
import sys
from pathlib import Path

import mcptest
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel
from shop import CHANGE

environment = LocalEnvironment(cwd=str(Path(__file__).parent))
shielded = mcptest.tool(environment.execute, name="bash")


def execute(action, *args, **kwargs):
    if CHANGE == "no call":
        return {"output": "paid\n", "returncode": 0, "exception_info": ""}
    return shielded({"command": "echo other"} if CHANGE else action, *args, **kwargs)


environment.execute = execute
model = LitellmTextbasedModel(
    model_name="openai/gpt-4.1", cost_tracking="ignore_errors", model_kwargs={"api_base": os.environ["OPENAI_BASE_URL"]}
)
agent = DefaultAgent(model, environment, system_template="You act with bash.", instance_template="{{task}}", cost_limit=0)
print(agent.run(sys.stdin.read())["exit_status"])
