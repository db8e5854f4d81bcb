/** The two requests to the session. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Agent, request } from "node:http";
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from "node:worker_threads";

import { ToolError, type Told } from "./errors.js";
import { isPlain, type Json } from "./values.js";

/** What the session says to a call. */
export type Answer = { run: string } | { result: Json; told?: boolean; text?: string; given?: string | undefined } | { error: Told };

/** How a call ended, for the session. */
export type Ending = { result: Json; text?: string } | { error: Told } | { left: true } | { unkept: string };

/** The session never waits, so this is a machine that stands still. */
const PATIENCE_MS = 60_000;

type Post = { port: number; path: string; body: string };

/** A status with a body; the status is 0 where there is none, and the body says why. */
type Reply = { status: number; body: string };

/** Whether a session is to be asked. Read anew for each call. */
export function isOn(): boolean {
  return process.env["MCPTEST_TOOLS"] !== undefined || process.env["MCPTEST_MODE"] === "play";
}

function address(tool: string): string {
  const text = process.env["MCPTEST_TOOLS"];
  const port = /^http:\/\/127\.0\.0\.1:(\d{1,5})\/[\w./~%-]*$/.exec(text ?? "")?.[1];
  if (text !== undefined && Number(port) < 65536) return text;
  const not = "MCPTEST_MODE is `play`, and MCPTEST_TOOLS is not set";
  throw unasked(tool, text === undefined ? not : "MCPTEST_TOOLS is no address http://127.0.0.1:PORT/… of this machine");
}

function unasked(tool: string, why: string): ToolError {
  return new ToolError(`mcptest: the tool \`${tool}\` did not run: ${why}`);
}

function to(address: string, what: "call" | "done", body: object): Post {
  const [, port = "", path = ""] = /:(\d+)(\/.*?)\/?$/.exec(address) ?? [];
  return { port: Number(port), path: `${path}/${what}`, body: JSON.stringify(body) };
}

// An agent of its own: the global one may use the proxies of the environment.
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** A body that is refused before it is sent whole fails once more after the answer, when nobody listens. */
const ignored = (): void => undefined;

function post({ port, path, body }: Post): Promise<Reply> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const options = { agent, host: "127.0.0.1", port, path, method: "POST", headers, timeout: PATIENCE_MS };
    const asked = request(options, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
      response.on("error", (error) => resolve({ status: 0, body: error.message }));
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("socket", (socket) => socket.listeners("error").includes(ignored) || socket.on("error", ignored));
    asked.on("error", (error: NodeJS.ErrnoException) => {
      // The other end closed a connection that was kept, and has not read the request.
      const again = asked.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code ?? "");
      resolve(again ? post({ port, path, body }) : { status: 0, body: error.message });
    });
    asked.end(body);
  });
}

/**
 * The same for a thread that may wait for it. As text: a file of its own would not be found where a bundler has put the
 * library into another one.
 */
const THREAD = `
const { Agent, request } = require("node:http");
const { workerData: { port: main, flag, patience } } = require("node:worker_threads");
const agent = new Agent({ keepAlive: true });
const ignored = () => undefined;
const post = ({ port, path, body }) => {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const asked = request({ agent, host: "127.0.0.1", port, path, method: "POST", headers, timeout: patience }, (response) => {
    const parts = [];
    response.on("data", (part) => parts.push(part));
    response.on("end", () => reply({ status: response.statusCode, body: Buffer.concat(parts).toString() }));
    response.on("error", (error) => reply({ status: 0, body: error.message }));
  });
  asked.on("timeout", () => asked.destroy(new Error("no answer")));
  asked.on("socket", (socket) => socket.listeners("error").includes(ignored) || socket.on("error", ignored));
  asked.on("error", (error) => {
    if (asked.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code)) post({ port, path, body });
    else reply({ status: 0, body: error.message });
  });
  asked.end(body);
};
const reply = (what) => {
  main.postMessage(JSON.stringify(what));
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
};
main.on("message", (text) => post(JSON.parse(text)));
`;

let thread: ReturnType<typeof started> | undefined;

function started(): { port: MessagePort; flag: Int32Array; worker: Worker } {
  const { port1: port, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: port2, flag, patience: PATIENCE_MS };
  // Without the options and hooks of the program, which are not for this thread.
  const worker = new Worker(THREAD, { eval: true, workerData, transferList: [port2], execArgv: [], env: {} });
  worker.unref();
  worker.on("error", () => (thread = undefined));
  return { port, flag, worker };
}

/** Asks in a thread of its own, and stands still until the answer is there: for functions that do not wait. */
function postNow(post: Post): Reply {
  try {
    thread ??= started();
  } catch (error) {
    return { status: 0, body: String(error) };
  }
  const { port, flag, worker } = thread;
  Atomics.store(flag, 0, 0);
  port.postMessage(JSON.stringify(post));
  Atomics.wait(flag, 0, 0, 2 * PATIENCE_MS);
  const reply = receiveMessageOnPort(port) as { message: string } | undefined;
  if (reply) return JSON.parse(reply.message) as Reply;
  // An answer that comes later must not be taken for that of another call.
  thread = undefined;
  void worker.terminate();
  return { status: 0, body: "no answer" };
}

function isAnswer(said: unknown): said is Answer {
  if (!isPlain(said) || ["run", "result", "error"].filter((form) => Object.hasOwn(said, form)).length !== 1) return false;
  if ("result" in said) return true;
  if ("run" in said) return typeof said["run"] === "string";
  if (!isPlain(said["error"])) return false;
  const { type, text, args = [], items = [] } = said["error"];
  return typeof type === "string" && typeof text === "string" && Array.isArray(args) && Array.isArray(items);
}

function answer(tool: string, reply: Reply): Answer {
  if (reply.status === 0) throw unasked(tool, `the session at MCPTEST_TOOLS cannot be asked (${reply.body})`);
  try {
    const said: unknown = JSON.parse(reply.body);
    if (reply.status === 200 && isAnswer(said)) {
      // The text is the result as it was told: a value in between may have its keys in another order.
      return "result" in said && said.text !== undefined ? { ...said, result: JSON.parse(said.text) as Json } : said;
    }
  } catch {
    // It is said below what was answered.
  }
  throw unasked(tool, `the session answered ${reply.status} ${reply.body.slice(0, 300)}`);
}

/** The runs that are open around the code that runs. One for all copies of this library. */
type Open = { address: string; run: string };
const shared = globalThis as { [key: symbol]: AsyncLocalStorage<Open> | undefined };
const open = (shared[Symbol.for("mcptest-harness.open")] ??= new AsyncLocalStorage<Open>());

/** A call as the session is asked about it. */
export type Call = { name: string; args: Json; call_id?: string };

/** One call: it is asked about, and where it is to run, it runs and its end is told. The same for both ways to wait. */
export class Asked {
  readonly #address: string;
  #run = "";

  constructor(private readonly name: string) {
    this.#address = address(name);
  }

  #question(call: Call): Post {
    const around = open.getStore();
    return to(this.#address, "call", { ...call, ...(around?.address === this.#address && { inside: around.run }) });
  }

  #taken(reply: Reply): Answer {
    const said = answer(this.name, reply);
    if ("run" in said) this.#run = said.run;
    return said;
  }

  async ask(call: Call): Promise<Answer> {
    return this.#taken(await post(this.#question(call)));
  }

  askNow(call: Call): Answer {
    return this.#taken(postNow(this.#question(call)));
  }

  /** Runs a part of the tool, so that calls inside it say so. */
  inside<T>(part: () => T): T {
    return open.run({ address: this.#address, run: this.#run }, part);
  }

  /** The steps of a generator, each run so, and not what happens between them. */
  steps(inner: Generator | AsyncGenerator): Iterable<unknown> & AsyncIterable<unknown> {
    const next = (): unknown => this.inside(() => inner.next());
    const steps = { next, return: (): unknown => this.inside(() => inner.return(undefined)) };
    return { [Symbol.iterator]: () => steps, [Symbol.asyncIterator]: () => steps } as never;
  }

  /**
   * Tells the end. The tool has run: what it gave goes to the agent whatever happens here, as an error would make it
   * run again.
   */
  async done(ending: Ending): Promise<void> {
    for (const end of this.#endings(ending)) if ((await post(end)).status === 200) return;
  }

  /** Tells that the code cannot use what it was given under this number. */
  refuseNow(given: string, unkept: string): void {
    postNow(to(this.#address, "done", { run: given, unkept }));
  }

  doneNow(ending: Ending): void {
    for (const end of this.#endings(ending)) if (postNow(end).status === 200) return;
  }

  *#endings(ending: Ending): Generator<Post> {
    const told = (end: Ending): Post => to(this.#address, "done", { run: this.#run, ...end });
    yield told(ending);
    yield told({ unkept: "a value that the session did not take" });
    process.emitWarning(`mcptest: the session was not told how \`${this.name}\` ended`);
  }
}
