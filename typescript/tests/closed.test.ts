/** When nothing may run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { tool, ToolError } from "mcptest-harness";

import { kinds } from "./support/kinds.js";
import { odd, set, thrownBy, type Odd } from "./support/odd.js";

async function nothingRuns(): Promise<void> {
  for (const { kind, call, runs } of kinds()) {
    const thrown = await thrownBy(() => call(7));
    assert.ok(thrown instanceof ToolError, `${kind}: ${String(thrown)}`);
    assert.equal(thrown.name, "ToolError");
    assert.match(thrown.message, /^mcptest: the tool `refund` did not run: /, kind);
    assert.equal(runs(), 0, kind);
  }
}

/** A port at which nobody listens. */
async function closed(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test("played without an address", () => set({ MCPTEST_MODE: "play" }, nothingRuns));

test("an address at which nobody is", async () => {
  await set({ MCPTEST_TOOLS: `http://127.0.0.1:${await closed()}/secret/tools` }, nothingRuns);
});

test("an address that is not this machine's", async () => {
  const refused = [
    "https://127.0.0.1:8000/s/tools",
    "http://localhost:8000/s/tools",
    "http://[::1]:8000/s/tools",
    "http://127.0.0.2:8000/s/tools",
    "http://127.1:8000/s/tools",
    "http://127.0.0.1.example.com:8000/s/tools",
    "http://127.0.0.1:8000@example.com/s/tools",
    "http://me@127.0.0.1:8000/s/tools",
    "http://127.0.0.1:8000",
    "http://127.0.0.1:99999/s/tools",
    "127.0.0.1:8000/s/tools",
    "file:///s/tools",
    " ",
    "",
  ];
  for (const address of refused) await set({ MCPTEST_TOOLS: address }, nothingRuns);
});

test("an answer that is none", async () => {
  const run = '{"run":"t1"}';
  const answers: Odd[] = [
    null,
    { body: "" },
    { body: "run" },
    { body: "null" },
    { body: "[]" },
    { body: "{}" },
    { body: '"run"' },
    { body: '{"run":1}' },
    { body: '{"run":null}' },
    { body: '{"run":"t1","result":1}' },
    { body: '{"result":1,"error":{"type":"Error","text":"it failed"}}' },
    { body: '{"error":"it failed"}' },
    { body: '{"error":{"type":"Error"}}' },
    { body: '{"error":{"type":"Error","text":"it failed","args":"x"}}' },
    { body: '{"result":1,"text":"{"}' },
    { body: '{"message":"mcptest: no"}' },
    { body: '{"__proto__":{"run":"t1"}}' },
    { status: 201, body: run },
    { status: 204 },
    { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: run },
    { status: 400, body: run },
    { status: 409, body: run },
    { status: 410, body: run },
    { status: 413, body: run },
    { status: 429, body: run },
    { status: 500, body: run },
  ];
  for (const answer of answers) {
    const asked = await odd([answer], nothingRuns);
    assert.ok(asked.length >= 4, JSON.stringify(answer));
  }
});

test("the message says what is wrong", async () => {
  const tried = tool("refund", async () => "paid");
  const message = async (): Promise<string> => String(await thrownBy(tried));
  await odd([{ status: 410, body: '{"message":"mcptest: the session has ended"}' }], async () => {
    assert.match(await message(), /answered 410 .*the session has ended/);
  });
  await set({ MCPTEST_TOOLS: "http://example.com/tools" }, async () => {
    assert.match(await message(), /MCPTEST_TOOLS is no address http:\/\/127\.0\.0\.1:PORT/);
  });
  await set({ MCPTEST_MODE: "play" }, async () => {
    assert.match(await message(), /MCPTEST_MODE is `play`, and MCPTEST_TOOLS is not set/);
  });
});

test("a proxy of the environment is not used", async () => {
  const nobody = `http://127.0.0.1:${await closed()}`;
  const proxies = { HTTP_PROXY: nobody, http_proxy: nobody, ALL_PROXY: nobody, NO_PROXY: "", NODE_USE_ENV_PROXY: "1" };
  await set(proxies, async () => {
    const given = await odd([{ body: '{"result":["from the session"]}' }], async () => {
      for (const { call, runs } of kinds()) {
        assert.deepEqual(await call(7), ["from the session"]);
        assert.equal(runs(), 0);
      }
    });
    assert.equal(given.length, 4);
  });
});

test("a connection that was closed in between is opened anew", async () => {
  const given = await odd([{ body: '{"result":["kept"]}', close: true }], async () => {
    for (let turn = 0; turn < 20; turn += 1) for (const { call } of kinds()) assert.deepEqual(await call(7), ["kept"]);
  });
  assert.equal(given.length, 80);
});

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

test("a program that may start no thread", { skip: major < 20 && "Node has no permission model" }, () => {
  const permission = major > 22 || (major === 22 && minor >= 13) ? "--permission" : "--experimental-permission";
  const code = `
    const refund = require("mcptest-harness").tool("refund", () => console.log("ran"));
    try { refund() } catch (thrown) { console.log(thrown.name, thrown.message) }`;
  const env = { ...process.env, MCPTEST_TOOLS: "http://127.0.0.1:9/s/tools" };
  const args = [permission, "--allow-fs-read=*", "-e", code];
  const said = execFileSync(process.execPath, args, { env, cwd: __dirname, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  assert.match(said, /^ToolError mcptest: the tool `refund` did not run: .*ERR_ACCESS_DENIED|^ToolError .*[Aa]ccess/);
});

test("the variable is read at each call", async () => {
  const refund = tool("refund", () => "paid");
  assert.equal(refund(), "paid");
  await odd([{ body: '{"result":"recorded"}' }], () => assert.equal(refund(), "recorded"));
  assert.equal(refund(), "paid");
});

test("a session that is gone before the end is told leaves what the tool gave", async () => {
  for (const [index, { kind, call, runs }] of kinds().entries()) {
    const warned = new Promise<Error>((told) => process.once("warning", told));
    const asked = await odd([{ body: '{"run":"t1"}' }, null], async () => {
      assert.deepEqual(await call(7), index < 2 ? { refunded: 7 } : [{ refunded: 7 }], kind);
    });
    assert.equal(runs(), 1, kind);
    assert.ok(asked.some(({ body }) => "unkept" in body), kind);
    assert.match((await warned).message, /was not told how `refund` ended/);
  }
});

test("a value that the session does not take is told as such", async () => {
  const asked = await odd([{ body: '{"run":"t1"}' }, { status: 413 }, { body: "{}" }], async () => {
    assert.deepEqual(await kinds()[1]?.call(7), { refunded: 7 });
  });
  assert.deepEqual(
    asked.map(({ path, body }) => [path, body]),
    [
      ["/secret/tools/call", { name: "refund", args: { order: 7 } }],
      ["/secret/tools/done", { run: "t1", result: { refunded: 7 }, text: '{"refunded":7}' }],
      ["/secret/tools/done", { run: "t1", unkept: "a value that the session did not take" }],
    ],
  );
});
