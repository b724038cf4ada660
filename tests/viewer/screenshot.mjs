// Makes a screenshot of a page for the documentation.
//
// usage: node screenshot.mjs PAGE.html PACKAGES CHROMIUM OUT.png [KIND]
//
// KIND: try (a drawn digit, and the pointer over a misclassified point; the default), spread, whole,
// dark, phone or film.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, packages, executablePath, out, kind = 'try'] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(packages), 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const phone = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true };
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: kind === 'dark' ? 'dark' : 'light', ...(kind === 'phone' ? phone : {}) });
await page.goto(pathToFileURL(resolve(file)).href + (kind === 'spread' ? '#spread=1' : ''));
await page.waitForSelector('html[data-ready]', { timeout: 60000 });

async function drawThree() {
  await page.click('#tab-try');
  const pad = await page.locator('#pad').boundingBox();
  const three = [[0.32, 0.22], [0.62, 0.2], [0.46, 0.45], [0.66, 0.6], [0.58, 0.8], [0.3, 0.78]];
  await page.mouse.move(pad.x + three[0][0] * pad.width, pad.y + three[0][1] * pad.height);
  await page.mouse.down();
  for (const [x, y] of three) await page.mouse.move(pad.x + x * pad.width, pad.y + y * pad.height, { steps: 8 });
  await page.mouse.up();
  await page.waitForSelector('#answer');
}

// An isolated error in the left half, so that its card covers few points.
const isolatedError = () => page.evaluate(() => {
  const { map, n, isError } = window.enhope.page;
  const [wide, high] = [document.getElementById('points').clientWidth, document.getElementById('points').clientHeight];
  const places = Array.from({ length: n }, (_, i) => map.screenOf(i));
  const isolation = (i) => places.reduce((min, [px, py], j) => (j === i ? min : Math.min(min, Math.hypot(px - places[i][0], py - places[i][1]))), 1e9);
  const errors = places.map((_, i) => i).filter((i) => isError(i) && places[i][0] < 0.55 * wide && places[i][1] > 150 && places[i][1] < high - 80);
  return places[errors.sort((a, b) => isolation(b) - isolation(a))[0]];
});

if (kind === 'try') await drawThree();
if (kind === 'try' || kind === 'phone') {
  const [x, y] = await isolatedError();
  const box = await page.locator('#points').boundingBox();
  if (kind === 'phone') await page.touchscreen.tap(box.x + x, box.y + y);
  else await page.mouse.move(box.x + x, box.y + y, { steps: 5 });
  await page.waitForSelector('#card:not([hidden])');
}
if (kind === 'film') {
  await page.click('#tab-training');
  const frames = await page.evaluate(() => window.enhope.about.history.length);
  await page.fill('#training input', String(Math.round(0.3 * frames)));
}
await page.waitForTimeout(500);
await page.screenshot({ path: out });
await browser.close();
