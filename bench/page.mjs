#!/usr/bin/env node
// Measures the page of enhope view in a browser that draws in software, and how far a map spreads.
//
// usage: bench/page.mjs [--build build/release] [--repeats 3] MODEL DATA
//
// For the test part of DATA, for both parts, and for a million synthetic points it prints the size of
// the page, the time of enhope view, the times of the first paint and until the page is ready, and the
// slowest frames of six pans and of six wheel steps, from the event to the end of the frame. Times are
// the shortest of the repeats. The share of points near their class counts those of the test part
// within 10.5 pixels of the median place of their class, if the map fills 1280 x 800 pixels.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const options = { build: fileURLToPath(new URL('../build/release', import.meta.url)), repeats: 3 };
const files = [];
for (let at = 2; at < process.argv.length; at++) {
  const name = process.argv[at].replace(/^--/, '');
  if (process.argv[at] in { '--build': 1, '--repeats': 1 }) options[name] = process.argv[++at];
  else files.push(process.argv[at]);
}
if (files.length !== 2) {
  console.error('usage: bench/page.mjs [--build build/release] [--repeats 3] MODEL DATA');
  process.exit(2);
}
const [model, data] = files;
const WINDOW = { width: 1280, height: 800 };
const folder = mkdtempSync(join(tmpdir(), 'page-'));
const run = (...args) => execFileSync(resolve(options.build, 'enhope'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
const { chromium } = createRequire(resolve(options.build, 'viewer', 'package.json'))('playwright-core');
const executablePath = execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim();

// Runs in the page: the slowest of six frames, each begun by an event.
async function slowestFrame(kind) {
  const canvas = document.getElementById('points');
  const box = canvas.getBoundingClientRect();
  const at = { clientX: box.left + 300, clientY: box.top + 300, pointerId: 1, pointerType: 'mouse', bubbles: true, cancelable: true };
  const pointer = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { ...at, clientX: at.clientX + x, buttons: 1 }));
  const begin = (k) => (kind === 'pan' ? pointer('pointermove', 15 * k) : canvas.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: -60 })));
  let slowest = 0;
  if (kind === 'pan') pointer('pointerdown', 0);
  for (let k = 1; k <= 6; k++) {
    const began = performance.now();
    begin(k);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    slowest = Math.max(slowest, performance.now() - began);
  }
  if (kind === 'pan') pointer('pointerup', 90);
  return slowest;
}

async function openPage(browser, file) {
  const context = await browser.newContext({ viewport: WINDOW });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.documentElement?.dataset.ready) window.readyAt ??= performance.now();
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-ready'] });
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.readyAt, null, { timeout: 120000 });
  const times = await page.evaluate(() => ({ paint: performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN, ready: window.readyAt }));
  times.pan = await page.evaluate(slowestFrame, 'pan');
  times.wheel = await page.evaluate(slowestFrame, 'wheel');
  await context.close();
  return times;
}

async function measure(browser, title, ...view) {
  const file = join(folder, 'page.html');
  const best = { written: Infinity, paint: Infinity, ready: Infinity, pan: Infinity, wheel: Infinity };
  for (let k = 0; k < Number(options.repeats); k++) {
    const began = performance.now();
    run('view', ...view, '-o', file);
    const times = { written: performance.now() - began, ...(await openPage(browser, file)) };
    for (const name in best) best[name] = Math.min(best[name], times[name]);
  }
  const seconds = (ms) => (ms / 1000).toFixed(2).padStart(8);
  console.log(`${title.padEnd(28)}${(statSync(file).size / 1e6).toFixed(1).padStart(8)}${Object.values(best).map(seconds).join('')}`);
}

function shareNearClass() {
  const file = join(folder, 'embedding.csv');
  run('embed', model, '--data', data, '-o', file);
  const rows = readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
  const places = rows.map(([x, y]) => [Number(x), Number(y)]);
  const range = [0, 1].map((d) => places.reduce(([low, high], at) => [Math.min(low, at[d]), Math.max(high, at[d])], [Infinity, -Infinity]));
  const scale = Math.min(WINDOW.width / (range[0][1] - range[0][0]), WINDOW.height / (range[1][1] - range[1][0]));
  const classes = new Map(rows.map((row) => [row[2], []]));
  rows.forEach((row, i) => classes.get(row[2]).push(i));
  let near = 0;
  for (const members of classes.values()) {
    const middle = [0, 1].map((d) => members.map((i) => places[i][d]).sort((a, b) => a - b)[members.length >> 1]);
    near += members.filter((i) => scale * Math.hypot(places[i][0] - middle[0], places[i][1] - middle[1]) < 10.5).length;
  }
  return near / places.length;
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
try {
  console.log(`${(100 * shareNearClass()).toFixed(1)} % of the points of the test part are near the median place of their class`);
  console.log(`${'seconds'.padEnd(28)}${['MB', 'written', 'paint', 'ready', 'a pan', 'a wheel'].map((name) => name.padStart(8)).join('')}`);
  await measure(browser, 'test part', model, '--data', data);
  await measure(browser, 'both parts', model, '--data', data, '--part', 'both');
  const blobs = (n) => `synthetic:blobs,n=${n},classes=10,inputs=8,seed=1`;
  const million = join(folder, 'blobs.safetensors');
  run('train', '--data', blobs(5000), '--n-epochs', '20', '--quiet', '-o', million);
  await measure(browser, '1,000,000 points', million, '--data', blobs(1000000), '--sample', '1000000', '--bare');
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
