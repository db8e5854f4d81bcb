// Looks at a report in a real browser: what it says, what it asks the network for, whether its scripts
// run into errors, and what axe-core finds. Prints what it saw as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// Without addresses, all that there is.
const [modules, chromium, page_, pictures, ...only] = process.argv.slice(2);
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

// What is on the page, as somebody sees it. Runs in the page.
function see() {
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const isVisible = (element) => element !== null && element.getClientRects().length > 0;
  const texts = (selector) => all(selector).map((one) => one.textContent);
  const isCut = (box) => {
    const { overflowX, overflowY } = getComputedStyle(box);
    return (overflowX !== "visible" && box.scrollWidth > box.clientWidth + 1) || (overflowY !== "visible" && box.scrollHeight > box.clientHeight + 1);
  };
  const cut = all("main *:not(select, input, svg, svg *)").filter((box) => isVisible(box) && isCut(box));
  const speaks = (line) => isVisible(line) && /scroll|show all/.test(line.innerText);
  const pieces = () => {
    const walker = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode.data);
    return found;
  };
  const DAY = /^\d{4}-\d\d-\d\d$/;
  return {
    title: document.title,
    text: document.getElementById("main").textContent,
    foreign: all("main img, main script, main iframe, main i:not(.spark i)").length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    pages: all(".pages a").map((one) => one.getAttribute("href")),
    links: all("td.name a").map((one) => one.getAttribute("href")),
    cut: cut.length,
    silent: cut.filter((box) => !speaks(box.previousElementSibling) && !speaks(box.nextElementSibling)).map((box) => box.outerHTML.slice(0, 200)),
    failing: all("section.case.failed").map((one) => one.innerText),
    heads: texts("h1, h2, h3, h4, figcaption"),
    // By pieces of text: what stands in a cell goes on in the next one where all text is one.
    long_commits: pieces().flatMap((piece) => piece.match(/\b[0-9a-f]{13,}\b/g) ?? []).filter((word) => /[0-9]/.test(word)),
    shortened: all("main [title]").map((one) => [one.textContent, one.title]).filter(([, title]) => /^[0-9a-f]{40}$/.test(title)),
    sub_scores: all("[aria-label='Sub-scores of stability'] tbody tr").map((row) => [row.textContent, all(".bad", row).length]),
    compared: all("[aria-label='Agent by agent'] tbody tr").map((row) => [...row.children].map((one) => one.textContent)),
    days: all("main figure").map((one) => all("svg text", one).filter((text) => DAY.test(text.textContent)).map((text) => {
      const { left, right } = text.getBoundingClientRect();
      return [text.textContent, left, right];
    })),
  };
}

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
  const facts = await page.evaluate(see);
  seen.looks.push({ name, ready, axe: found, ...facts });
  return facts;
}

// In all widths and schemes; what is told of the first.
async function look_everywhere(name, address) {
  const told = [];
  for (const width of [1400, 390]) {
    for (const scheme of ["light", "dark"]) told.push(await look(`${name}-${width}-${scheme}`, address, width, scheme));
  }
  return told[0];
}

async function look_at_all() {
  const overview = await look_everywhere("overview", "");
  for (const address of overview.pages) await look_everywhere(address.slice(1), address);
  for (const [index, address] of overview.links.entries()) await look_everywhere(`agent-${index}`, address);
  await look("nowhere", "#case=there%3A%3Ais_none", 1400, "light");

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
}

if (only.length === 0) await look_at_all();
for (const address of only) await look_everywhere(address.slice(1) || "overview", address);
await browser.close();
console.log(JSON.stringify(seen));
