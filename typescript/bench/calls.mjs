// What a call costs over the tool itself: `MCPTEST_DOOR=… npm run bench`, with the program of mcptest-session/examples/door.rs.
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { tool } from "mcptest-harness";

const CALLS = 10_000;

function told(name, times, unit, scale) {
  times.sort((one, other) => one - other);
  const at = (share) => ((times[Math.floor(times.length * share)] ?? 0) / scale).toFixed(2);
  console.log(`${name}: median ${at(0.5)} ${unit}, 99 of 100 below ${at(0.99)} ${unit}`);
}

const plain = ({ order }) => order;
const own = tool("refund", plain);
const rounds = [];
for (let round = 0; round < 100; round += 1) {
  const began = process.hrtime.bigint();
  for (let call = 0; call < CALLS; call += 1) own({ order: call });
  rounds.push(Number(process.hrtime.bigint() - began) / CALLS);
}
told("without MCPTEST_TOOLS", rounds, "µs", 1000);

const door = spawn(process.env.MCPTEST_DOOR, ["record", join(tmpdir(), "mcptest-bench.json")], { stdio: ["pipe", "pipe", "inherit"] });
for await (const line of createInterface(door.stdout)) {
  process.env.MCPTEST_TOOLS = line;
  break;
}
const later = tool("refund", async ({ order }) => order);
for (const [name, call] of [["a function", own], ["an async function", later]]) {
  const times = [];
  for (let order = 0; order < CALLS; order += 1) {
    const began = process.hrtime.bigint();
    await call({ order });
    times.push(Number(process.hrtime.bigint() - began));
  }
  told(name, times, "ms", 1e6);
}
const began = performance.now();
await Promise.all(Array.from({ length: CALLS }, (_, order) => later({ order })));
console.log(`${CALLS} at once: ${((performance.now() - began) / CALLS).toFixed(2)} ms each`);
door.stdin.end();
