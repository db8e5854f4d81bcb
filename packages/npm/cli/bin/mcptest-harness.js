#!/usr/bin/env node
// Starts the program for this system, which npm installed as an optional package. Arguments, standard input and output,
// signals and the exit status are the program's own.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const platforms = require("../platforms.json");

/** The status of a command that could not run. */
const COULD_NOT_RUN = 2;

/** Packages whose program may run here, the best one first. A program for musl is static, and runs with any libc. */
function candidates() {
  const system = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") {
    return [system];
  }
  const { glibcVersionRuntime } = process.report.getReport().header;
  return glibcVersionRuntime ? [`${system}-gnu`, `${system}-musl`] : [`${system}-musl`];
}

function give_up(problem, help) {
  process.stderr.write(`error: ${problem}\n\nhelp: ${help}\n`);
  process.exit(COULD_NOT_RUN);
}

function program() {
  const known = candidates().filter((name) => name in platforms);
  if (known.length === 0) {
    give_up(
      `there is no program of mcptest-harness for ${candidates()[0]}`,
      `there are programs for ${Object.keys(platforms).join(", ")}; with Rust, \`cargo install cargo-mcptest\` builds one`,
    );
  }
  const file = process.platform === "win32" ? "mcptest-harness.exe" : "mcptest-harness";
  for (const name of known) {
    try {
      return require.resolve(`@mcptest-harness/cli-${name}/bin/${file}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") {
        throw error;
      }
    }
  }
  return give_up(
    `the package @mcptest-harness/cli-${known[0]} is not installed, which has the program for this system`,
    "npm leaves it out with `--omit=optional`, or if `node_modules` comes from another system: delete `node_modules`, and " +
      "run `npm install --include=optional`",
  );
}

// Who ends this process means the program. It ends first, and this process then ends as it did. The handlers are there
// before the program is: a signal that comes in between reaches it too.
const file = program();
const passed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGBREAK"];
const handlers = passed
  .filter((signal) => signal in constants.signals)
  .map((signal) => [signal, () => child.kill(signal)]);
for (const [signal, handler] of handlers) {
  process.on(signal, handler);
}
const child = spawn(file, process.argv.slice(2), { stdio: "inherit", windowsHide: true });

child.on("error", (error) => {
  give_up(`the program does not start: ${error.message}`, "run `npm install` again");
});
child.on("exit", (status, signal) => {
  if (signal === null) {
    process.exit(status);
  }
  for (const [name, handler] of handlers) {
    process.removeListener(name, handler);
  }
  // A signal that does not end this process has the status that a shell gives it.
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
});
