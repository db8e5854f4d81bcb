/** Which errors are kept, and how they are raised again. */
import { types } from "node:util";

import { isPlain, told, wellFormed, type Json } from "./values.js";

/** A class of errors, however its objects are made. */
export type ErrorClass = abstract new (...args: never[]) => Error;

const shared = globalThis as { [key: symbol]: (new (message?: string) => Error) | undefined };

/**
 * The tool did not run: the session could not be asked, or its answer was a failure that no class of this program has.
 * One class for all copies of this library: one that is imported, one that is required, one in a bundle.
 */
export const ToolError = (shared[Symbol.for("mcptest-harness.ToolError")] ??= class ToolError extends Error {
  override name = "ToolError";
});
export type ToolError = Error;

/** An error as the session is told it, and as it tells it. */
export type Told = { type: string; module?: string; text: string; args?: Json[]; items?: Json[] };

/** What was thrown without being an error. */
const THROWN = "thrown value";
/** The name of the class, where it is not the type. */
const CLASS = "$class";
/** What every error has, and what only the engine may set. */
const OF_ALL = new Set([CLASS, "name", "message", "stack", "cause", "errors", "__proto__"]);

/** The names of an error's classes, the nearest first. */
function lineage(error: object): string[] {
  const names: string[] = [];
  for (let at: unknown = Object.getPrototypeOf(error); at; at = Object.getPrototypeOf(at)) {
    const made: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof made === "function") names.push(made.name);
  }
  return names;
}

/** What the session is told of what was thrown. `items` are those that a generator gave before. */
export function failure(thrown: unknown, items: Json[] = []): Told {
  if (!(thrown instanceof Error || types.isNativeError(thrown))) {
    return { type: THROWN, text: wellFormed(String(thrown)), args: Object.values(told([["", thrown]], false)) };
  }
  // Many classes do not set the name of their errors, and some set one that is not the class's.
  const [made = ""] = lineage(thrown);
  const type = thrown.name === "Error" ? made || "Error" : String(thrown.name);
  const own = Object.entries(thrown).filter(([key]) => !OF_ALL.has(key));
  if (type !== thrown.name) own.push(["name", thrown.name]);
  if (type !== made) own.push([CLASS, made]);
  const fields = told(own, false);
  const args = Object.keys(fields).length > 0 && { args: [fields] };
  return { type: wellFormed(type), text: wellFormed(String(thrown.message)), ...args, ...(items.length > 0 && { items }) };
}

/** The class of one of these names that is loaded. A recording may name anything: only a class of errors is taken. */
function loaded(names: string[], classes: readonly ErrorClass[]): ErrorClass | undefined {
  const global: unknown = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name)?.value).find(Boolean);
  const isError = (of: unknown): of is ErrorClass =>
    typeof of === "function" && (of === Error || (of.prototype as unknown) instanceof Error);
  return classes.find((of) => names.includes(of.name)) ?? (isError(global) ? global : undefined);
}

/** What to throw for an error of the session: never by running the code of a class. */
export function raised(error: Told, classes: readonly ErrorClass[]): unknown {
  if (error.type === THROWN && error.args?.length === 1) return error.args[0];
  const fields = isPlain(error.args?.[0]) ? error.args[0] : {};
  const made = loaded([fields[CLASS], error.type].filter((name) => typeof name === "string"), classes);
  const plain = made ?? (error.type === "TimeoutError" ? Error : undefined);
  const name = typeof fields["name"] === "string" ? fields["name"] : error.type;
  // This one's properties are refused by what it has not made itself.
  if (made === DOMException) return new DOMException(error.text, name);
  const raised = plain ? new Error(error.text) : new ToolError(error.text);
  if (made) Object.setPrototypeOf(raised, made.prototype as object);
  const set = (key: string, value: unknown): unknown =>
    Object.defineProperty(raised, key, { value, writable: true, configurable: true, enumerable: key !== "name" });
  if (!plain && error.module !== undefined) set("module", error.module);
  set("name", name);
  for (const [key, value] of Object.entries(fields)) if (!OF_ALL.has(key)) set(key, value);
  return raised;
}

/** What frameworks throw to end or to pause a run, known without being loaded. */
const CONTROL = ["GraphBubbleUp"];

/** Whether it was thrown to steer the framework, and is no failure of the tool. */
export function isControl(thrown: unknown, control: readonly (ErrorClass | string)[] = []): boolean {
  if (typeof thrown !== "object" || thrown === null) return false;
  const names = [...lineage(thrown), (thrown as { name?: unknown }).name];
  return [...CONTROL, ...control].some((of) => (typeof of === "string" ? names.includes(of) : thrown instanceof of));
}
