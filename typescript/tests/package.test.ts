/** The package as it is installed: both ways to load it, and its types for both. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const library = join(__dirname, "..");

function npm(folder: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32", stdio: ["ignore", "pipe", "ignore"] });
}

test("an installed package is loaded both ways, with types, and needs nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "mcptest-"));
  try {
    // It is built already, and building would take it away from the tests that run beside this one.
    npm(library, "pack", "--ignore-scripts", "--pack-destination", folder);
    const [packed = ""] = readdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    npm(folder, "install", "--offline", "--no-audit", "--no-fund", `./${packed}`);
    const installed = join(folder, "node_modules");
    assert.deepEqual(readdirSync(installed).filter((name) => !name.startsWith(".")), ["mcptest-harness"]);
    const files = readdirSync(join(installed, "mcptest-harness"), { recursive: true } as never) as unknown as string[];
    assert.ok(files.includes("README.md") && files.includes("LICENSE-MIT") && files.includes("LICENSE-APACHE"), String(files));
    assert.ok(!files.some((file) => /test|support|^src/.test(file)), String(files));

    const code = `
      const own = tool("refund", async ({ order }: { order: number }): Promise<string> => \`paid \${order}\`);
      const paid: Promise<string> = own({ order: 7 });
      void paid.then((text) => console.log(text, new ToolError("no") instanceof Error));
      // @ts-expect-error: it takes an order.
      if (Math.random() > 2) void own({});`;
    writeFileSync(join(folder, "a.mts"), `import { tool, ToolError, type ToolOptions } from "mcptest-harness";${code}`);
    writeFileSync(join(folder, "b.cts"), `import { tool, ToolError, type ToolOptions } from "mcptest-harness";${code}`);
    const both = `
      import { createRequire } from "node:module";
      import { tool, ToolError } from "mcptest-harness";
      const required = createRequire(import.meta.url)("mcptest-harness");
      // Each has its own functions, and both have one error and know of one another's calls.
      const outer = required.tool("outer", async () => tool("inner", async () => { throw new ToolError("no") })());
      console.log(required.ToolError === ToolError, await outer().catch((thrown) => thrown instanceof required.ToolError));`;
    writeFileSync(join(folder, "c.mjs"), both);
    mkdirSync(join(folder, "out"));
    const config = { compilerOptions: { module: "nodenext", target: "es2022", strict: true, outDir: "out", types: [] as string[], lib: ["es2022", "dom"] }, include: ["*.mts", "*.cts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(library, "node_modules", "typescript", JSON.parse(readFileSync(join(library, "node_modules/typescript/package.json"), "utf8")).bin.tsc as string);
    execFileSync(process.execPath, [tsc, "-p", folder], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
    const run = (file: string): string => execFileSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });
    assert.equal(run("out/a.mjs"), "paid 7 true\n");
    assert.equal(run("out/b.cjs"), "paid 7 true\n");
    assert.equal(run("c.mjs"), "true true\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the library has at most 500 lines of code", () => {
  const source = join(library, "src");
  const lines = readdirSync(source).flatMap((file) => readFileSync(join(source, file), "utf8").split("\n"));
  const code = lines.filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line));
  assert.ok(code.length <= 500, `${code.length}`);
});
