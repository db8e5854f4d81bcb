/** A server that gives answers no session gives. Everything else is tested against a real one. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** In a thread, as a function that does not wait stops this one. */
const SERVER = `
const { createServer } = require("node:http");
const { parentPort, workerData } = require("node:worker_threads");
const asked = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    asked.push({ path: request.url, body: JSON.parse(body), connection: request.socket.remotePort });
    const answer = workerData[Math.min(asked.length, workerData.length) - 1];
    if (answer === null) return request.socket.destroy();
    response.writeHead(answer.status ?? 200, answer.headers ?? {});
    // Each run has a name of its own.
    response.end(answer.body?.replace("$run", "t" + asked.length));
    if (answer.close) response.on("finish", () => setTimeout(() => request.socket.destroy(), 0));
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
parentPort.on("message", () => parentPort.postMessage(asked));
`;

/** An answer; null closes the connection. */
export type Odd = { status?: number; body?: string; headers?: Record<string, string>; close?: boolean } | null;

export interface Request {
  path: string;
  body: Record<string, unknown>;
  connection: number;
}

/** Runs the code with a server that gives these answers, the last one again and again; what it was asked. */
export async function odd(answers: Odd[], code: () => unknown): Promise<Request[]> {
  const server = new Worker(SERVER, { eval: true, workerData: answers });
  const [port] = (await once(server, "message")) as [number];
  try {
    await set({ MCPTEST_TOOLS: `http://127.0.0.1:${port}/secret/tools` }, code);
    server.postMessage("asked?");
    return ((await once(server, "message")) as [Request[]])[0];
  } finally {
    await server.terminate();
  }
}

/** Runs the code with these variables, and takes them away again. */
export async function set(variables: Record<string, string>, code: () => unknown): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    await code();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** What the code throws. */
export async function thrownBy(code: () => unknown): Promise<unknown> {
  try {
    await code();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}
