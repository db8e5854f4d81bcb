// The CommonJS build, once more by its names: a program that loads both ways has one library, with one `ToolError`.
export { tool, ToolError, type ToolOptions } from "./index.js";
