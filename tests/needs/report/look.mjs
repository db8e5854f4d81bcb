// Looks at a report in a real browser: what it says, what it asks the network for, whether its scripts
// run into errors, and what axe-core finds. Prints what it saw as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, chromium, page_, pictures] = process.argv.slice(2);
const require = createRequire(join(modules, "look.cjs"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"], headless: true });
const page = await browser.newPage();
const seen = { errors: [], requests: [], dialogs: 0, looks: [] };
page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
page.on("request", (request) => /^(file|data):/.test(request.url()) || seen.requests.push(request.url()));

async function look(name, address, width, scheme) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height: 900 });
  await page.goto("about:blank");
  const begun = Date.now();
  await page.goto(`file://${page_}${address}`, { waitUntil: "load" });
  await page.waitForFunction("document.getElementById('main').dataset.ready");
  const ready = Date.now() - begun;
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  await new Promise((done) => setTimeout(done, 100));
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run()).violations.map((one) => [one.impact, one.id, one.nodes[0].html]));
  const facts = await page.evaluate(() => ({
    title: document.title,
    text: document.getElementById("main").textContent,
    foreign: document.querySelectorAll("main img, main script, main iframe, main i:not(.spark i)").length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    pages: [...document.querySelectorAll(".pages a")].map((one) => one.getAttribute("href")),
    links: [...document.querySelectorAll("td.name a")].map((one) => one.getAttribute("href")),
  }));
  seen.looks.push({ name, ready, axe: found, ...facts });
  return facts;
}

const overview = await look("overview", "", 1280, "light");
await look("overview-narrow-dark", "", 390, "dark");
for (const address of overview.pages) {
  await look(address.slice(1), address, 1280, "light");
  await look(address.slice(1) + "-narrow-dark", address, 390, "dark");
}
for (const [index, address] of overview.links.entries()) {
  await look(`agent-${index}`, address, 1280, "light");
  await look(`agent-${index}-narrow-dark`, address, 390, "dark");
}
await look("nowhere", "#case=there%3A%3Ais_none", 1280, "light");

// By keyboard alone: sort, search, open the first agent.
await page.goto("about:blank");
await page.goto(`file://${page_}`, { waitUntil: "load" });
await page.waitForFunction("document.getElementById('main').dataset.ready");
await page.focus("input[type=search]");
await page.keyboard.type("fine");
seen.found = await page.evaluate(() => [...document.querySelectorAll("td.name a")].map((one) => one.textContent));
await page.focus("td.name a");
await page.keyboard.press("Enter");
await page.waitForFunction("document.title.includes('·')");
seen.opened = await page.title();
await browser.close();
console.log(JSON.stringify(seen));
