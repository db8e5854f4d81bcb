/** Bodies that the session refuses before they are sent whole. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { tool, ToolError } from "mcptest-harness";

import { noDoor, recorded } from "./support/door.js";
import { thrownBy } from "./support/odd.js";

/** More than a session takes. */
const HUGE = 80_000_000;

const real = { skip: noDoor };

test("a value that is too large goes on unchanged, and nothing is recorded", real, async () => {
  const now = tool("now", () => "x".repeat(HUGE));
  const later = tool("later", async () => "x".repeat(HUGE));
  for (const [name, big] of [["now", now], ["later", later]] as const) {
    const failed = await thrownBy(() => recorded(async () => assert.equal((await big()).length, HUGE)));
    assert.match(String(failed), new RegExp(`\`${name}\`: a value that the session did not take`));
  }
});

test("a call with arguments that are too large does not run", real, async () => {
  let ran = 0;
  const now = tool("now", (_: { text: string }) => (ran += 1));
  const later = tool("later", async (_: { text: string }) => (ran += 1));
  await recorded(async () => {
    for (const big of [now, later]) {
      const failed = await thrownBy(() => big({ text: "x".repeat(HUGE) }));
      assert.ok(failed instanceof ToolError, String(failed));
    }
    assert.equal(await later({ text: "" }), 1);
  });
  assert.equal(ran, 1);
});
