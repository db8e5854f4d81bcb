/** Recorded and played by the real door. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { tool, ToolError } from "mcptest-harness";

import { noDoor, played, recorded, type Entry } from "./support/door.js";
import { kinds } from "./support/kinds.js";
import { thrownBy } from "./support/odd.js";

const real = { skip: noDoor };

/** What the code saw, for values and for errors. */
async function seen(code: () => unknown): Promise<unknown> {
  try {
    return { value: await code() };
  } catch (thrown) {
    const { name, message } = thrown as Error;
    return { name, message, of: Object.getPrototypeOf(thrown) as unknown, ...(thrown as object) };
  }
}

/** Records the calls, plays them, and says that the code saw the same and that nothing ran. */
async function again(body: (order: number) => unknown, options: object = {}): Promise<Entry[]> {
  const saw: unknown[] = [];
  const all = async (of: ReturnType<typeof kinds>, into: unknown[]): Promise<void> => {
    for (const { call } of of) into.push(await seen(() => call(7)));
  };
  const entries = await recorded(() => all(kinds(body, options), saw));
  assert.equal(entries.length, 4);
  const replayed: unknown[] = [];
  const idle = kinds(body, options);
  assert.deepEqual(await played(entries, () => all(idle, replayed)), []);
  assert.deepEqual(replayed, saw);
  assert.equal(JSON.stringify(replayed), JSON.stringify(saw));
  for (const { kind, runs } of idle) assert.equal(runs(), 0, kind);
  return entries;
}

test("a value is recorded and given back, and the tool does not run", real, async () => {
  const entries = await again((order) => ({ refunded: order }));
  assert.deepEqual(
    entries.map(({ name, args, result }) => ({ name, args, result })),
    [{ refunded: 7 }, { refunded: 7 }, [{ refunded: 7 }], [{ refunded: 7 }]].map((result) => ({
      name: "refund",
      args: { order: 7 },
      result,
    })),
  );
});

test("nothing, and null, are given back as such", real, async () => {
  await again(() => undefined);
  await again(() => null);
});

test("numbers keep their last digit", real, async () => {
  let state = 1;
  const bits = new DataView(new ArrayBuffer(8));
  const numbers: number[] = [0.1 + 0.2, 5e-324, 2 ** 53 + 2, 2 ** 63, 1e21, 1.7976931348623157e308, -1e-7];
  while (numbers.length < 500) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bits.setUint32(numbers.length % 2 ? 0 : 4, state);
    const number = bits.getFloat64(0);
    // A long row of digits is taken for a number that would be rounded, which is told and never kept wrong.
    if (Number.isFinite(number) && !/^-?\d{20}/.test(String(number))) numbers.push(number);
  }
  await again(() => numbers);
});

// An agent that writes a result into a text says another one, if its keys stand in another order.
test("keys keep their order", real, () => again(() => ({ refunded: 7, by: "Ada", at: { z: 1, a: 2 } })));

test("whatever is JSON is given back, byte for byte", real, async () => {
  let state = 7;
  const upTo = (most: number): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % most;
  const texts = ["", "a", "z", "10", "2", "__proto__", "constructor", "run", "text", "ü", "🖋", "\u0000", "\u2028", "$", "a b"];
  const text = (): string => texts[upTo(texts.length)] ?? "";
  const value = (depth: number): unknown => {
    const kind = upTo(depth > 4 ? 5 : 9);
    if (kind < 2) return text() + text();
    if (kind < 5) return [null, true, false, upTo(9) / 7, -upTo(1e9)][upTo(5)];
    const items = Array.from({ length: upTo(5) }, () => value(depth + 1));
    return kind < 7 ? items : Object.fromEntries(items.map((item) => [text(), item]));
  };
  await again(() => Array.from({ length: 200 }, () => value(0)));
});

test("text of all kinds is given back", real, () => again(() => "naïve 🖋 \u0000 \u2028 \u001b[0m\r\n\t\"\\"));

test("dates are given back by encode and decode", real, async () => {
  const dates = { encode: (date: Date) => date.toISOString(), decode: (text: string) => new Date(text) };
  const [entry] = await again(() => new Date(0), dates);
  assert.equal(entry?.result, "1970-01-01T00:00:00.000Z");
});

class CardDeclined extends Error {
  readonly code = 402;
}

test("an error is recorded and thrown again", real, async () => {
  const fail = (): never => {
    throw new CardDeclined("the card is declined");
  };
  const [entry] = await again(fail, { errors: [CardDeclined] });
  assert.equal(entry?.error?.type, "CardDeclined");
  assert.equal(entry.error.text, "the card is declined");
  await again(() => {
    throw new TypeError("no");
  });
  await again(() => {
    throw "a text";
  });
  const idle = tool("refund", ({ order }: { order: number }) => order);
  await played([entry], () => assert.throws(() => idle({ order: 7 }), ToolError));
});

test("a suite answers in the place of a tool, also while it is recorded", real, async () => {
  const answers = [
    { tool: "refund", when: { order: 7 }, result: { refunded: "by the suite" } },
    { tool: "refund", when: { order: 8 }, error: { type: "CardDeclined", text: "declined" } },
    { tool: "items", result: [1, 2] },
    { tool: "looked_up", run: true },
  ];
  let ran = 0;
  const refund = tool("refund", async (of: { order: number }) => (ran += of.order), { errors: [CardDeclined] });
  const items = tool("items", function* () {
    yield (ran += 1);
  });
  const lookedUp = tool("looked_up", () => 1);
  const code = async (): Promise<void> => {
    assert.deepEqual(await refund({ order: 7 }), { refunded: "by the suite" });
    const declined = await thrownBy(() => refund({ order: 8 }));
    assert.ok(declined instanceof CardDeclined && declined.message === "declined");
    assert.match(String(await thrownBy(() => refund({ order: 9 }))), /^ToolError: mcptest: `answers:`/);
    assert.deepEqual([...items()], [1, 2]);
    assert.equal(lookedUp(), 1);
  };
  const entries = await recorded(code, answers);
  assert.deepEqual(
    entries.map(({ by }) => by),
    ["suite", "suite", "suite", "suite", undefined],
  );
  assert.deepEqual(await played(entries, code), []);
  assert.equal(ran, 0);
});

test("a value that cannot be kept goes on unchanged, and nothing is recorded", real, async () => {
  const value = new Map([[1, 2]]);
  for (const at of [0, 1, 2, 3]) {
    const { kind, call, runs } = kinds(() => value)[at]!;
    const failed = await thrownBy(() =>
      recorded(async () => {
        const gave = await call(7);
        assert.equal(Array.isArray(gave) ? gave[0] : gave, value);
      }),
    );
    assert.match(String(failed), /`refund`: a Map/, kind);
    assert.equal(runs(), 1);
  }
});

test("a promise of a function that is not async is awaited, and the way out is told", real, async () => {
  const plain = tool("refund", ({ order }: { order: number }) => Promise.resolve(order));
  const failed = await thrownBy(() => recorded(async () => assert.equal(await plain({ order: 7 }), 7)));
  assert.match(String(failed), /`refund`: a promise of a function .*\{ async: true \}/);
  const declared = tool("refund", ({ order }: { order: number }) => Promise.resolve(order), { async: true });
  const entries = await recorded(async () => assert.equal(await declared({ order: 7 }), 7));
  await played(entries, async () => {
    const promise = declared({ order: 7 });
    assert.ok(promise instanceof Promise);
    assert.equal(await promise, 7);
  });
});

test("another call than the recorded one is an error and a divergence", real, async () => {
  const [entry] = await recorded(() => kinds()[0]!.call(7));
  const { call, runs } = kinds()[0]!;
  const different = await played([entry!], () => assert.throws(() => call(8), ToolError));
  assert.ok(different.length > 0);
  assert.equal(runs(), 0);
  assert.ok((await played([entry!], () => undefined)).length > 0);
});

test("the arguments are those of one object, or have the names of params", real, async () => {
  const warned = new Promise<Error>((told) => process.once("warning", told));
  const options = (more: object): object => ({ messages: [], ...more });
  const [many] = [(...args: unknown[]) => args.length];
  const entries = await recorded(() => {
    const one = tool("one", many, { ignore: ["state"] });
    one();
    one({ order: 7, when: new Date(0), state: { big: 1 }, none: undefined, left: new Map() });
    one({ order: 7 }, options({ toolCallId: "call_1" }));
    one({ order: 7 }, new Map(), { toolCall: { type: "function_call", callId: "call_2" } });
    one({ order: 7 }, undefined, { metadata: {}, tags: [], recursionLimit: 25 });
    one({ order: 7 }, undefined, () => 1);
    const named = tool("named", many, { params: ["order", "reason", "state"], ignore: ["state"] });
    named(7, "late", {});
    named(7);
    named({ order: 7 }, "late", {}, options({ toolCallId: "call_3" }));
    const rest = tool("rest", many, { params: ["order", "...notes"] });
    rest(7, "a", "b");
    const unnamed = tool("unnamed", many);
    unnamed(7, "late");
    unnamed({ order: 7 }, "late");
    unnamed("late");
  });
  assert.deepEqual(
    entries.map(({ args }) => args),
    [
      {},
      { order: 7, when: "1970-01-01T00:00:00.000Z" },
      { order: 7 },
      { order: 7 },
      { order: 7 },
      { order: 7 },
      { order: 7, reason: "late" },
      { order: 7 },
      { order: { order: 7 }, reason: "late" },
      { order: 7, notes: ["a", "b"] },
      { "0": 7, "1": "late" },
      { "0": { order: 7 }, "1": "late" },
      { "0": "late" },
    ],
  );
  assert.match((await warned).message, /the arguments of `unnamed` have no names: give `\{ params/);
});

test("what the tool does to its arguments does not change the recorded ones", real, async () => {
  const greedy = tool("greedy", ({ items }: { items: number[] }) => items.splice(0).length);
  const entries = await recorded(() => greedy({ items: [1, 2] }));
  assert.deepEqual(entries[0]?.args, { items: [1, 2] });
});

test("a generator is recorded with what was taken of it, and its end", real, async () => {
  let closed = 0;
  const count = (): ((to: { to: number }) => Generator<number, void, undefined>) =>
    tool("count", function* ({ to }: { to: number }) {
      try {
        for (let at = 0; at < to; at += 1) yield at;
        throw new RangeError("too far");
      } finally {
        closed += 1;
      }
    });
  const firstTwo = (of: ReturnType<typeof count>): number[] => {
    const taken: number[] = [];
    for (const item of of({ to: 10 })) if (taken.push(item) === 2) break;
    return taken;
  };
  const all = (of: ReturnType<typeof count>): unknown[] => {
    const taken: unknown[] = [];
    const failed = ((): unknown => {
      try {
        for (const item of of({ to: 3 })) taken.push(item);
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    return [...taken, String(failed)];
  };
  const entries = await recorded(() => {
    const own = count();
    own({ to: 5 });
    assert.deepEqual(firstTwo(own), [0, 1]);
    assert.equal(closed, 1);
    assert.deepEqual(all(own), [0, 1, 2, "RangeError: too far"]);
    const sent = own({ to: 3 }) as Generator<number, void, unknown>;
    sent.next();
    assert.throws(() => sent.next("sent"), /what is sent into a generator/);
  });
  assert.equal(entries.length, 3, "one that nothing is taken of does not run");
  assert.deepEqual(entries[0]?.result, [0, 1, { $left: true }]);
  assert.equal(entries[1]?.error?.type, "RangeError");
  assert.deepEqual(entries[1].error.items, [0, 1, 2]);
  const before = closed;
  await played(entries.slice(0, 2), () => {
    assert.deepEqual(firstTwo(count()), [0, 1]);
    assert.deepEqual(all(count()), [0, 1, 2, "RangeError: too far"]);
  });
  assert.equal(closed, before);
});

test("a generator that was left has no item after the recorded ones", real, async () => {
  const now = tool("now", function* ({ to }: { to: number }) {
    for (let at = 0; at < to; at += 1) yield at;
  });
  const later = tool("later", async function* ({ to }: { to: number }) {
    for (let at = 0; at < to; at += 1) yield at;
  });
  const taken = async (most: number): Promise<number[]> => {
    const items: number[] = [];
    for (const item of now({ to: 9 })) if (items.push(item) === most) break;
    for await (const item of later({ to: 9 })) if (items.push(item) === 2 * most) break;
    return items;
  };
  const entries = await recorded(() => taken(2));
  assert.deepEqual(entries.map((entry) => entry.result), [[0, 1, { $left: true }], [0, 1, { $left: true }]]);
  assert.deepEqual(await played(entries, async () => assert.deepEqual(await taken(2), [0, 1, 0, 1])), []);
  const divergences = await played(entries, async () => {
    await assert.rejects(() => taken(3), /`now` has 2 items, and the code took no more then/);
    const items = later({ to: 9 });
    assert.deepEqual([await items.next(), await items.next()].map((step) => step.value), [0, 1]);
    await assert.rejects(() => items.next(), /`later` has 2 items/);
  });
  assert.equal(divergences.filter(({ message }) => message.includes("the code took no more")).length, 2);
});

test("what a generator returns cannot be kept", real, async () => {
  const own = tool("count", function* () {
    yield 1;
    return 2;
  });
  const failed = await thrownBy(() =>
    recorded(() => {
      const items = own();
      assert.deepEqual([items.next(), items.next()], [{ value: 1, done: false }, { value: 2, done: true }]);
    }),
  );
  assert.match(String(failed), /`count`: what a generator returns/);
});

test("control flow is passed on, and is no failure", real, async () => {
  class GraphInterrupt extends Error {}
  const thrown = new GraphInterrupt("ask a human");
  const ask = tool(
    "ask",
    async () => {
      throw thrown;
    },
    { control: [GraphInterrupt] },
  );
  const entries = await recorded(async () => assert.equal(await thrownBy(ask), thrown));
  assert.equal(entries[0]?.left, true);
  assert.equal(entries[0].error, undefined);
});

test("a call that never ends is recorded without a result", real, async () => {
  const never = tool("never", () => new Promise(() => undefined), { async: true });
  const [entry] = await recorded(async () => {
    void never();
    await tool("after", async () => 1)();
  });
  assert.equal(entry?.name, "never");
  assert.ok(!("result" in entry) && !("error" in entry));
});

test("a bare environment is no way round a session that ended", real, async () => {
  let address = "";
  await recorded(() => void (address = process.env["MCPTEST_TOOLS"] ?? ""));
  const { set } = await import("./support/odd.js");
  const { call, runs } = kinds()[0]!;
  await set({ MCPTEST_TOOLS: address }, () => assert.throws(() => call(7), ToolError));
  assert.equal(runs(), 0);
});
