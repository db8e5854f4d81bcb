/** Calls inside other calls. What the session is told, as its recordings say it in another form. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { tool } from "mcptest-harness";

import { odd } from "./support/odd.js";

interface Told {
  run: string;
  name: string;
  args: { outer: string };
  inside?: string;
}

/** The calls that the session is told, with the names of their runs. */
async function calls(code: () => unknown): Promise<Told[]> {
  const asked = await odd([{ body: '{"run":"$run"}' }], code);
  const all = asked.map(({ path, body }, index) => ({ path, run: `t${index + 1}`, ...body }));
  return all.filter(({ path }) => path.endsWith("/call")) as unknown as Told[];
}

test("a call inside another one says so, also over what waits", async () => {
  const later = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
  const inner = tool("inner", async (of: { outer: string }) => {
    await later(1);
    return of.outer;
  });
  const innerNow = tool("inner_now", (of: { outer: string }) => of.outer);
  const outer = tool("outer", async ({ outer }: { outer: string }) => {
    await later(1);
    innerNow({ outer });
    return Promise.all([inner({ outer }), inner({ outer })]);
  });
  const items = tool("items", async function* ({ outer }: { outer: string }) {
    yield await inner({ outer });
    await later(1);
    yield innerNow({ outer });
  });
  const between = tool("between", async () => 1);
  const entries = await calls(async () => {
    await Promise.all([outer({ outer: "outer a" }), outer({ outer: "outer b" })]);
    for await (const _ of items({ outer: "items" })) await between();
    await between();
  });
  for (const { name, args, inside } of entries) {
    if (name.startsWith("inner")) {
      const around = entries.find(({ run }) => run === inside);
      assert.equal(around?.name, args.outer.split(" ")[0]);
      assert.deepEqual(around?.args, args);
    }
  }
  assert.equal(entries.filter(({ name }) => name.startsWith("inner")).length, 8);
  assert.equal(entries.filter(({ name, inside }) => name === "between" && inside === undefined).length, 3);
});


test("also over two copies of the library", async () => {
  const { tool: imported } = (await import("mcptest-harness" as string)) as { tool: typeof tool };
  assert.notEqual(imported, tool);
  const inner = imported("inner", async (of: { outer: string }) => of.outer);
  const outer = tool("outer", async ({ outer }: { outer: string }) => inner({ outer }));
  const entries = await calls(() => outer({ outer: "outer" }));
  assert.deepEqual(
    entries.map(({ name, inside }) => [name, inside]),
    [
      ["outer", undefined],
      ["inner", "t1"],
    ],
  );
});
