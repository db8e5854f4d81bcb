// Takes the picture of a report's first page, down to the end of what fails first.
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, chromium, page_, picture] = process.argv.slice(2);
const puppeteer = createRequire(join(modules, "picture.cjs"))("puppeteer-core");
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"], headless: true });
const page = await browser.newPage();
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
await page.setViewport({ width: 980, height: 900 });
await page.goto(`file://${page_}`, { waitUntil: "load" });
await page.waitForFunction("document.getElementById('main').dataset.ready");
const height = await page.evaluate(() => {
  const first = document.querySelector("section.case.failed");
  first.querySelector("details").open = true;
  return Math.ceil(first.getBoundingClientRect().bottom) + 12;
});
await page.screenshot({ path: picture, clip: { x: 0, y: 0, width: 980, height } });
await browser.close();
