/** `tool(name, fn)`. */
import { types } from "node:util";

import { Asked, isOn, type Answer, type Call, type Ending } from "./door.js";
import { failure, isControl, raised, ToolError, type ErrorClass } from "./errors.js";
import { given, isPlain, kept, LEFT, told, Unkept, wellFormed, type Json } from "./values.js";

type AnyFunction = (...args: any[]) => unknown;

/** What a function gives, or what a generator gives one after the other. */
type Given<F extends AnyFunction> =
  ReturnType<F> extends Generator<infer T> | AsyncGenerator<infer T> ? T : Awaited<ReturnType<F>>;

/** What a tool needs that is not as most are. */
export interface ToolOptions<F extends AnyFunction = AnyFunction> {
  /** The names of the parameters, for a function that does not take one object: `["order", "reason"]`, `["...notes"]`. */
  params?: readonly string[];
  /** Arguments that are not recorded, by their names. */
  ignore?: readonly string[];
  /** The value as plain JSON, for a function that gives something else. */
  encode?: (value: Given<F>) => unknown;
  /** The value again, from what `encode` gave. */
  decode?: (json: any) => Given<F>;
  /** The classes of the errors it throws, so that they are thrown again as such. */
  errors?: readonly ErrorClass[];
  /** What it throws that is no failure, as classes or by their names: a framework's own way to end or to pause a run. */
  control?: readonly (ErrorClass | string)[];
  /** Whether it gives a promise; needed where it is not declared as `async`. */
  async?: boolean;
}

/**
 * The same function. While a session of mcptest records or plays, the session is asked first: it lets the function run
 * and keeps what it gave, or gives back what was recorded. In production nothing is done.
 *
 * ```ts
 * const refund = tool("refund", async ({ order }: { order: number }) => shop.refund(order));
 * ```
 */
export function tool<F extends AnyFunction>(name: string, fn: F, options: ToolOptions<F> = {}): F {
  const own = new Tool(name, options as ToolOptions);
  const kind = Object.prototype.toString.call(fn).slice("[object ".length, -1);
  return new Proxy(fn, {
    apply(target, self: unknown, args: unknown[]) {
      const run = (): unknown => Reflect.apply(target, self, args);
      if (!isOn()) return run();
      if (kind === "GeneratorFunction") return own.items(args, run as () => Generator);
      if (kind === "AsyncGeneratorFunction") return own.itemsLater(args, run as () => AsyncGenerator);
      return kind === "AsyncFunction" || options.async ? own.later(args, run) : own.now(args, run);
    },
  });
}

/** What frameworks give to a tool beside its arguments, with the id of the model's call where it has one. */
function contextOf(arg: unknown): { id: unknown } | undefined {
  if (typeof arg !== "object" || arg === null) return undefined;
  const { toolCallId, toolCall, recursionLimit } = arg as { [key: string]: unknown };
  const { callId, id: itsId } = (toolCall ?? {}) as { [key: string]: unknown };
  const id = [toolCallId, callId, itsId].find((id) => typeof id === "string");
  // A call of LangChain that no model asked for has no id.
  return id !== undefined || recursionLimit !== undefined ? { id } : undefined;
}

class Tool {
  private warned = false;

  constructor(
    private readonly name: string,
    private readonly options: ToolOptions,
  ) {}

  /** A function that gives its value at once. */
  now(args: unknown[], run: () => unknown): unknown {
    const asked = new Asked(this.name);
    const answer = asked.askNow(this.#call(args));
    if (!("run" in answer)) return this.#given(answer);
    let value: unknown;
    try {
      value = asked.inside(run);
    } catch (thrown) {
      asked.doneNow(this.#failed(thrown));
      throw thrown;
    }
    if (types.isPromise(value)) {
      const unkept = "a promise of a function that is not declared as async: write `async`, or give `{ async: true }`";
      return value.finally(() => asked.done({ unkept }));
    }
    asked.doneNow(this.#kept(value));
    return value;
  }

  /** A function that gives a promise. */
  async later(args: unknown[], run: () => unknown): Promise<unknown> {
    const asked = new Asked(this.name);
    const answer = await asked.ask(this.#call(args));
    if (!("run" in answer)) return this.#given(answer);
    let value: unknown;
    try {
      value = await asked.inside(run);
    } catch (thrown) {
      await asked.done(this.#failed(thrown));
      throw thrown;
    }
    await asked.done(this.#kept(value));
    return value;
  }

  /** A generator: its items pass through as they come. */
  *items(args: unknown[], run: () => Generator): Generator {
    const asked = new Asked(this.name);
    const answer = asked.askNow(this.#call(args));
    if (!("run" in answer)) return yield* this.#givenItems(answer);
    const taken = new Taken();
    const whole = function* (): Generator {
      taken.end = { returned: yield* run() };
    };
    try {
      for (const item of asked.steps(whole())) notSent(yield taken.add(item, this.#kept(item)));
      return taken.end?.returned;
    } catch (thrown) {
      taken.failure = { thrown };
      throw thrown;
    } finally {
      asked.doneNow(this.#taken(taken));
    }
  }

  /** The same for a generator that waits. */
  async *itemsLater(args: unknown[], run: () => AsyncGenerator): AsyncGenerator {
    const asked = new Asked(this.name);
    const answer = await asked.ask(this.#call(args));
    if (!("run" in answer)) return yield* this.#givenItems(answer);
    const taken = new Taken();
    const whole = async function* (): AsyncGenerator {
      taken.end = { returned: yield* run() };
    };
    try {
      for await (const item of asked.steps(whole())) notSent(yield taken.add(item, this.#kept(item)));
      return taken.end?.returned;
    } catch (thrown) {
      taken.failure = { thrown };
      throw thrown;
    } finally {
      await asked.done(this.#taken(taken));
    }
  }

  /** The call by the names of its arguments. What is no JSON, and what a framework adds, is not told. */
  #call(args: unknown[]): Call {
    const { params, ignore = [] } = this.options;
    const context = args.slice(1).map(contextOf).find((context) => context !== undefined);
    const rest = params?.findIndex((name) => name.startsWith("...")) ?? -1;
    const positions = args.map((value, index): [string, unknown] => [params?.[index] ?? String(index), value]);
    if (params && rest >= 0) positions.splice(rest, Infinity, [params[rest]?.slice(3) ?? "", args.slice(rest)]);
    // Beside it stands nothing but what the framework gives.
    else if (context !== undefined) positions.splice(params?.length ?? 1);
    const wanted = ([name, value]: [string, unknown]): boolean => value !== undefined && !ignore.includes(name);
    let parts = positions.filter(wanted);
    const [first, ...more] = parts;
    if (!params && first?.[0] === "0" && isPlain(first[1]) && Object.keys(told(more, true)).length === 0) {
      parts = Object.entries(first[1]).filter(wanted);
    } else if (!params && parts.length > 0 && !this.warned) {
      this.warned = true;
      process.emitWarning(`mcptest: the arguments of \`${this.name}\` have no names: give \`{ params: ["…"] }\``);
    }
    return { name: wellFormed(this.name), args: told(parts, true), ...(typeof context?.id === "string" && { call_id: context.id }) };
  }

  #given(answer: Exclude<Answer, { run: string }>): unknown {
    if ("error" in answer) throw raised(answer.error, this.options.errors ?? []);
    try {
      return given(answer.result, this.options, answer.told);
    } catch (thrown) {
      throw this.#unfit(answer, `cannot be decoded (${String(thrown)})`);
    }
  }

  *#givenItems(answer: Exclude<Answer, { run: string }>): Generator {
    const items = "error" in answer ? (answer.error.items ?? []) : answer.result;
    if (!Array.isArray(items)) throw this.#unfit(answer, "is no list of items");
    for (const item of items) {
      if (isPlain(item) && Object.hasOwn(item, LEFT)) {
        throw this.#unfit(answer, `has ${items.length - 1} items, and the code took no more then`);
      }
      notSent(yield this.#given({ result: item, ...("given" in answer && { given: answer.given }) }));
    }
    if ("error" in answer) this.#given(answer);
  }

  /** Why what is given back is not what the tool gives. The session knows of it too, if the code goes on. */
  #unfit(answer: Exclude<Answer, { run: string }>, why: string): Error {
    if ("given" in answer && answer.given !== undefined) new Asked(this.name).refuseNow(answer.given, why);
    const what = `what the recording, or \`answers:\`, has of \`${this.name}\` ${why}`;
    return new ToolError(`mcptest: ${what}: record again, change the answer, or let it run: \`run:\``);
  }

  #failed(thrown: unknown, items?: Json[]): Ending {
    return ended(() => (isControl(thrown, this.options.control) ? { left: true } : { error: failure(thrown, items) }));
  }

  #kept(value: unknown): Ending {
    return ended(() => whole(kept(value, this.options)));
  }

  #taken(taken: Taken): Ending {
    if (taken.end?.returned !== undefined) return { unkept: "what a generator returns at its end: yield it as an item" };
    if (taken.unkept !== undefined) return { unkept: taken.unkept };
    return taken.failure ? this.#failed(taken.failure.thrown, taken.items) : whole(taken.end ? taken.items : [...taken.items, { [LEFT]: true }]);
  }
}

/** What was taken of a generator, and how it ended. */
class Taken {
  readonly items: Json[] = [];
  unkept: string | undefined;
  /** Nothing where the code left it before. */
  end: { returned: unknown } | undefined;
  failure: { thrown: unknown } | undefined;

  add(item: unknown, kept: Ending): unknown {
    if ("result" in kept) this.items.push(kept.result);
    else if ("unkept" in kept) this.unkept ??= kept.unkept;
    return item;
  }
}

/** A result, also as the text that it is: the session reads it into a value that has its keys in another order. */
const whole = (result: Json): Ending => ({ result, ...(typeof result !== "string" && { text: JSON.stringify(result) }) });

function ended(ending: () => Ending): Ending {
  try {
    return ending();
  } catch (thrown) {
    const refused = `a value that \`encode\` or \`decode\` refuses: ${String(thrown)}`;
    return { unkept: wellFormed(thrown instanceof Unkept ? thrown.message : refused) };
  }
}

function notSent(value: unknown): void {
  if (value !== undefined) throw new ToolError("what is sent into a generator cannot be recorded");
}
