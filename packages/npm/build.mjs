// Makes the npm packages of programs that are built:
//
//     node packages/npm/build.mjs FOLDER linux-x64-gnu=target/dist/mcptest-harness …
//
// Each platform that is named becomes a package in FOLDER, and so does the launcher, `cli`, which names all platforms.
// `npm pack` or `npm publish` takes these folders. The version is that of `cli/package.json`.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const read = (file) => JSON.parse(readFileSync(join(here, "cli", file), "utf8"));
const [launcher, platforms] = [read("package.json"), read("platforms.json")];
const nameOf = (platform) => `${launcher.name}-${platform}`;
const write = (folder, value) => writeFileSync(join(folder, "package.json"), `${JSON.stringify(value, null, 2)}\n`);

function fail(problem) {
  console.error(`error: ${problem}`);
  process.exit(2);
}

const [folder, ...given] = process.argv.slice(2);
if (folder === undefined) {
  fail("usage: node build.mjs FOLDER [PLATFORM=PROGRAM …]");
}
for (const word of given) {
  const [platform, program] = [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)];
  const where = platforms[platform] ?? fail(`no platform \`${platform}\`; there are ${Object.keys(platforms).join(", ")}`);
  const place = join(folder, `cli-${platform}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(join(place, "bin"), { recursive: true });
  const file = platform.startsWith("win32") ? "mcptest-harness.exe" : "mcptest-harness";
  if (basename(program) !== file) {
    fail(`the program of ${platform} is called \`${file}\`, because texts have the name by which it is called: ${program}`);
  }
  copyFileSync(program, join(place, "bin", file));
  chmodSync(join(place, "bin", file), 0o755);
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    copyFileSync(join(here, "cli", licence), join(place, licence));
  }
  const { version, license, engines } = launcher;
  const description = `The program of ${launcher.name} for ${platform}.`;
  write(place, { name: nameOf(platform), version, description, license, engines, preferUnplugged: true, ...where });
}
const place = join(folder, "cli");
rmSync(place, { recursive: true, force: true });
cpSync(join(here, "cli"), place, { recursive: true });
const optional = Object.keys(platforms).map((platform) => [nameOf(platform), launcher.version]);
write(place, { ...launcher, optionalDependencies: Object.fromEntries(optional) });
