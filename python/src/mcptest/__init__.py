"""Tools of an agent's own code: seen while a run is recorded, and not run while it is played.

`tool` does nothing in production. In a session of mcptest (the variable `MCPTEST_TOOLS`) it asks the session
before each call whether the tool runs. docs/own-tools.md says how.

`serve` calls the program's `main`. While recordings are played, it lets the program start once for all of them.
"""

from ._door import ToolError
from ._serve import serve
from ._tool import tool

__all__ = ["ToolError", "serve", "tool"]
