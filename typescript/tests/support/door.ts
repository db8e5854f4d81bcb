/** The real door: `mcptest-session/examples/door.rs`. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { Json } from "../../dist/values.js";
import { set } from "./odd.js";

/** A call as a cassette has it. */
export interface Entry {
  name: string;
  args: Record<string, Json>;
  result?: Json;
  error?: { type: string; text: string; args?: Json[]; items?: Json[] };
  left?: true;
  by?: "suite";
}

const built = join(__dirname, "../../../target/debug/examples/door");
const door = process.env["MCPTEST_DOOR"] ?? built;

/** Why its tests do not run: never where a door is named. */
export const noDoor: false | string =
  !process.env["MCPTEST_DOOR"] && !existsSync(built) && "cargo build -p mcptest-session --features play,record --example door";

interface Ended {
  status: number | null;
  printed: string[];
  errors: string;
}

/** Runs the code with the door in its environment; how the door's program ended. */
async function opened(args: string[], code: () => unknown): Promise<Ended> {
  const program = spawn(door, args);
  let errors = "";
  program.stderr.on("data", (part: Buffer) => (errors += part.toString()));
  const ended = new Promise<number | null>((done, failed) => program.on("close", done).on("error", failed));
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  const address = (await Promise.race([lines.next(), ended.then((status) => ({ value: `ended with ${status}` }))])).value as string;
  try {
    await set({ MCPTEST_TOOLS: address }, code);
  } finally {
    program.stdin.end();
  }
  const printed: string[] = [];
  for (let line = await lines.next(); !line.done; line = await lines.next()) printed.push(line.value);
  return { status: await ended, printed, errors };
}

function inFolder<T>(code: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "mcptest-"));
  return code(join(folder, "tools.json")).finally(() => rmSync(folder, { recursive: true }));
}

/** Records the calls of the code, with what a suite answers in the place of tools. */
export function recorded(code: () => unknown, answers: object[] = []): Promise<Entry[]> {
  return inFolder(async (file) => {
    writeFileSync(`${file}.answers`, JSON.stringify(answers));
    const { status, errors } = await opened(["record", file, "--answers", `${file}.answers`], code);
    if (status !== 0) throw new Error(errors);
    return JSON.parse(readFileSync(file, "utf8")) as Entry[];
  });
}

/** Plays these calls to the code; what it did otherwise. */
export function played(entries: Entry[], code: () => unknown): Promise<{ message: string }[]> {
  return inFolder(async (file) => {
    writeFileSync(file, JSON.stringify(entries));
    const { status, printed, errors } = await opened(["play", file], code);
    if (status !== 0) throw new Error(errors);
    return printed.map((line) => JSON.parse(line) as { message: string });
  });
}
