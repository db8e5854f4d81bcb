/** Tools of your own agent, seen, shielded and answered by mcptest. */
export { ToolError } from "./errors.js";
export { tool, type ToolOptions } from "./tool.js";
