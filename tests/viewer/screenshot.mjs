// Makes the screenshot in README: a page with a drawn digit, and the pointer over a misclassified
// point.
//
// usage: node screenshot.mjs PAGE.html PACKAGES CHROMIUM OUT.png
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, packages, executablePath, out] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(packages), 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForSelector('html[data-ready]', { timeout: 60000 });

await page.click('#tab-try');
const pad = await page.locator('#pad').boundingBox();
const three = [[0.32, 0.22], [0.62, 0.2], [0.46, 0.45], [0.66, 0.6], [0.58, 0.8], [0.3, 0.78]];
await page.mouse.move(pad.x + three[0][0] * pad.width, pad.y + three[0][1] * pad.height);
await page.mouse.down();
for (const [x, y] of three) await page.mouse.move(pad.x + x * pad.width, pad.y + y * pad.height, { steps: 8 });
await page.mouse.up();
await page.waitForSelector('#answer');

// An isolated error in the left half, so that its card covers few points.
const [x, y] = await page.evaluate(() => {
  const { map, n, isError } = window.enhope.page;
  const wide = document.getElementById('points').clientWidth;
  const places = Array.from({ length: n }, (_, i) => map.screenOf(i));
  const isolation = (i) => places.reduce((min, [px, py], j) => (j === i ? min : Math.min(min, Math.hypot(px - places[i][0], py - places[i][1]))), 1e9);
  const errors = places.map((_, i) => i).filter((i) => isError(i) && places[i][0] < 0.55 * wide && places[i][1] > 150);
  return places[errors.sort((a, b) => isolation(b) - isolation(a))[0]];
});
const box = await page.locator('#points').boundingBox();
await page.mouse.move(box.x + x + 30, box.y + y + 30);
await page.mouse.move(box.x + x, box.y + y, { steps: 5 });
await page.waitForSelector('#card:not([hidden])');
await page.waitForTimeout(500);
await page.screenshot({ path: out });
await browser.close();
