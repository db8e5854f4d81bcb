/** Where nothing is set, nothing is done. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { tool } from "mcptest-harness";

import { kinds } from "./support/kinds.js";
import { set } from "./support/odd.js";

test("the function runs as it is written", async () => {
  const gave: unknown[] = [];
  for (const { call } of kinds()) gave.push(await call(7));
  assert.deepEqual(gave, [{ refunded: 7 }, { refunded: 7 }, [{ refunded: 7 }], [{ refunded: 7 }]]);
});

test("also where it is recorded without an address", () =>
  set({ MCPTEST_MODE: "record" }, async () => {
    for (const { call, runs } of kinds()) {
      await call(7);
      assert.ok(runs() > 0);
    }
  }));

test("what it gives is the very same, whatever it is", async () => {
  const value = new Map([[1, 2]]);
  const promise = Promise.resolve(value);
  const generator = (function* () {
    yield 1;
  })();
  assert.equal(tool("a", () => value)(), value);
  assert.equal(tool("b", () => promise)(), promise);
  assert.equal(tool("c", () => generator)(), generator);
  const failure = new Error("no");
  assert.throws(
    tool("d", () => {
      throw failure;
    }),
    (thrown) => thrown === failure,
  );
  // Generators take what is sent into them.
  const echo = tool("e", function* (): Generator<unknown, string, unknown> {
    return String(yield 1);
  })();
  echo.next();
  assert.deepEqual(echo.next("sent"), { value: "sent", done: true });
});

test("it keeps its name, its parameters, its kind and what hangs on it", () => {
  async function refund(order: number, reason: string): Promise<string> {
    return `${order} ${reason}`;
  }
  const own = tool("pay_back", Object.assign(refund, { schema: { type: "object" } }));
  assert.equal(own.name, "refund");
  assert.equal(own.length, 2);
  assert.deepEqual(own.schema, { type: "object" });
  assert.equal(own.constructor.name, "AsyncFunction");
  assert.ok(own instanceof Function);
});

test("a method knows its object", async () => {
  class Shop {
    #till = 100;
    refund = tool("refund", async (order: number) => (this.#till -= order));
    count = tool("count", function (this: Shop) {
      return this.#till;
    });
  }
  const shop = new Shop();
  await shop.refund(7);
  assert.equal(shop.count(), 93);
});
