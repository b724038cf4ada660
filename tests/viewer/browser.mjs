// Tests the page in a browser: hover, filters, lasso and drawing, by mouse, touch and keyboard
// (map.mjs has the tests of the map itself, groups.mjs those of models without classes and of the search).
// Results are compared with those of the command. The tests wait for events, never for a fixed
// time. If ENHOPE_DATA names a folder that contains mnist/, the images are MNIST; otherwise they
// are synthetic digits.
//
// usage: node browser.mjs ENHOPE PACKAGES FOLDER CHROMIUM [SCREENSHOTS]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { groupTests } from './groups.mjs';
import { mapTests } from './map.mjs';

const [enhope, packages, folder, executablePath, screenshots] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const run = (...args) => execFileSync(enhope, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'],
});

// Opens a page and records console messages, errors and requests; close() checks that there are
// none.
async function open(file, options) {
  const context = await browser.newContext({ viewport: { width: 960, height: 640 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.noise = [];
  page.on('console', (message) => {
    if (!/GL Driver Message/.test(message.text())) page.noise.push(message.text());
  });
  page.on('pageerror', (error) => page.noise.push(String(error)));
  page.on('request', (request) => {
    if (!/^(blob:|data:)/.test(request.url()) && request.url() !== pathToFileURL(join(folder, file)).href) page.noise.push(`request ${request.url()}`);
  });
  await page.goto(pathToFileURL(join(folder, file)).href);
  await page.waitForSelector('html[data-ready]', { timeout: 60000 });
  return page;
}

async function close(page) {
  assert.deepEqual(page.noise, []);
  await page.context().close();
}

async function shoot(page, name) {
  if (!screenshots) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

const number = (text) => Number(text.split(' ')[0].replaceAll(',', ''));
const visibleCount = async (page) => number(await page.textContent('#visible-count'));
const waitForCount = (page, n) => page.waitForFunction((text) => document.getElementById('visible-count').textContent.startsWith(text), `${n.toLocaleString('en')} of`);
const waitForAnnouncement = (page, pattern) => page.waitForFunction((text) => new RegExp(text).test(document.getElementById('announcement').textContent), pattern);
const cells = (csv) => csv.trim().split('\n').slice(1).map((line) => line.split(','));
// The rows of enhope predict, without the row number.
const predictions = (...args) => cells(run('predict', ...args)).map((row) => row.slice(1));
const download = async (page, selector) => (await Promise.all([page.waitForEvent('download'), page.click(selector)]))[0].path();

// The points of the page.
const readPoints = (page) => page.evaluate(() => {
  const { points, n, isError } = window.enhope.page;
  const { classes } = window.enhope.about;
  return Array.from({ length: n }, (_, i) => ({ row: points.row[i], truth: classes[points.truth[i]], label: classes[points.label[i]], winner: points.winner[i], proba: points.proba[i] / 65535, wrong: isError(i) }));
});

// The screen position of the most isolated point among those that are misclassified, or not.
const isolatedPoint = (page, wanted) => page.evaluate((of) => {
  const { map, n, isError } = window.enhope.page;
  const places = Array.from({ length: n }, (_, i) => map.screenOf(i));
  const rings = window.enhope.about.exemplars.map((_, j) => map.screenOfExemplar(j));
  const canvas = document.getElementById('points').getBoundingClientRect();
  const isolation = (i) => [...places.filter((_, j) => j !== i), ...rings].reduce((min, [x, y]) => Math.min(min, Math.hypot(x - places[i][0], y - places[i][1])), 1e9);
  const inside = ([x, y]) => x > 20 && y > 80 && x < canvas.width - 20 && y < canvas.height - 60;
  const some = places.map((_, i) => i).filter((i) => isError(i) === of.wrong && inside(places[i])).slice(0, 300);
  const best = some.map((i) => [isolation(i), i]).sort((a, b) => b[0] - a[0])[0][1];
  return { i: best, x: canvas.left + places[best][0], y: canvas.top + places[best][1] };
}, wanted);

async function draw(page, strokes) {
  const pad = await page.locator('#pad').boundingBox();
  for (const stroke of strokes) {
    await page.mouse.move(pad.x + stroke[0][0] * pad.width, pad.y + stroke[0][1] * pad.height);
    await page.mouse.down();
    for (const [x, y] of stroke) await page.mouse.move(pad.x + x * pad.width, pad.y + y * pad.height, { steps: 2 });
    await page.mouse.up();
  }
  await page.waitForSelector('#answer');
}

const SEVEN = [[[0.3, 0.25], [0.7, 0.25], [0.6, 0.5], [0.45, 0.85]]];

const tests = {
  async 'images: hover, filters, lasso, confusions, exemplars, search, files'() {
    const page = await open('digits.html');
    const eval_ = JSON.parse(run('eval', 'digits.safetensors', '--data', DIGITS, '--limit', N, '--json'));
    assert.match(await page.textContent('#figures'), new RegExp(`${((100 * eval_.errors) / eval_.n).toFixed(2)} %held-out error, ${eval_.errors} of`));
    assert.equal(await visibleCount(page), eval_.n);

    // The size of the model's file, and a time that the page has measured.
    const size = statSync(join(folder, 'digits.safetensors')).size;
    await page.waitForFunction(() => /s$/.test(document.getElementById('latency').textContent));
    const cost = (await page.textContent('#model-cost')).match(/^([\d.]+) ([kM]B)model, ([\d.]+) (µs|ms) a sample$/);
    assert.ok(Math.abs(cost[1] * { kB: 1e3, MB: 1e6 }[cost[2]] - size) <= size / 100, cost[0]);
    assert.ok(cost[3] > 0, cost[0]);

    // The page shows the command's result for every point.
    const rows = predictions('digits.safetensors', '--data', DIGITS, '--limit', N, '--proba', '--winner');
    const points = await readPoints(page);
    for (const { row, label, winner, proba } of points) {
      assert.equal(label, rows[row - 1][0]);
      assert.equal(winner, Number(rows[row - 1][11]));
      assert.ok(Math.abs(proba - rows[row - 1][1 + CLASSES.indexOf(label)]) < 1e-4);
    }
    assert.equal(points.filter((p) => p.wrong).length, eval_.errors);

    // A misclassified point: picture, label, prediction, probability, nearest exemplar and its
    // picture.
    const one = await isolatedPoint(page, { wrong: true });
    const { row, truth, label, winner, proba } = points[one.i];
    await page.mouse.move(one.x + 40, one.y + 40);
    await page.mouse.move(one.x, one.y, { steps: 2 });
    await page.waitForSelector('#card:not([hidden])');
    assert.equal(await page.getAttribute('#card', 'data-shows'), `point ${one.i}`);
    assert.equal(await page.textContent('#card'), `${truth}, classified as ${label}${(100 * proba).toFixed(1)} %, row ${row}`);
    assert.equal(await page.locator('#card canvas.sample').count(), 1);
    await shoot(page, 'hover');
    await page.mouse.click(one.x, one.y);
    await page.waitForSelector('#selection:not([hidden])');
    assert.match(await page.textContent('#announcement'), new RegExp(`^Row ${row}, class ${truth}, predicted ${label}.*misclassified$`));
    const facts = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('#selection dt')].map((name) => [name.textContent, name.nextSibling.textContent])));
    assert.deepEqual(facts, { row: String(row), label: truth, predicted: label, probability: `${(100 * proba).toFixed(1)} %`, exemplar: String(winner) });
    assert.equal(await page.locator('#selection .pictures canvas.sample').count(), 2);
    await page.keyboard.press('Escape');
    await page.waitForSelector('#selection', { state: 'hidden' });

    await page.click('#correctness button:nth-child(3)');
    await waitForCount(page, eval_.errors);
    await page.click('#correctness button:nth-child(1)');
    await page.click('[data-class="3"]');
    await waitForCount(page, points.filter((p) => p.truth !== '3').length);
    await page.click('#no-classes');
    await waitForCount(page, 0);
    await page.click('[data-class="4"]');
    await waitForCount(page, points.filter((p) => p.truth === '4').length);
    await page.click('#all-classes');
    await page.fill('#confidence', '60');
    await waitForCount(page, points.filter((p) => Math.round(p.proba * 65535) <= 60 * 655.35).length);
    await page.fill('#confidence', '100');

    // A cell of the confusion matrix; then the next one by keyboard.
    const pair = points.find((p) => p.wrong);
    const confused = (t, l) => points.filter((p) => p.truth === t && p.label === l).length;
    await page.click(`#matrix button[aria-label^="${pair.truth} classified as ${pair.label}:"]`);
    await waitForCount(page, confused(pair.truth, pair.label));
    await page.keyboard.press('ArrowRight');
    const next = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    await page.keyboard.press('Enter');
    await waitForCount(page, number(next.split(': ')[1]));
    await page.click('#clear-cell');

    // An exemplar, selected by its ring on the map where no point covers it: its picture and its
    // members.
    const ring = await page.evaluate(() => {
      const canvas = document.getElementById('points').getBoundingClientRect();
      const [x, y] = window.enhope.page.map.screenOfExemplar(4);
      return [canvas.left + x, canvas.top + y];
    });
    await page.click('#no-classes');
    await page.mouse.click(...ring);
    await page.waitForFunction(() => /^Exemplar \d+, class/.test(document.querySelector('#selection .verdict')?.textContent));
    await page.click('#all-classes');
    const selected = Number((await page.textContent('#selection .verdict')).match(/\d+/)[0]); // another exemplar may be at the same place
    await waitForCount(page, points.filter((p) => p.winner === selected).length);
    assert.ok(await page.locator('#selection .top canvas.sample').count());
    await shoot(page, 'exemplar');
    await page.keyboard.press('Escape');
    await waitForCount(page, eval_.n);
    await page.click('[data-exemplar="9"]');
    await waitForCount(page, points.filter((p) => p.winner === 9).length);
    assert.equal(await page.locator('#selection .gallery button').count(), Math.min(48, points.filter((p) => p.winner === 9).length));
    await page.click('#clear-exemplar');

    await page.fill('#search', '#17');
    await waitForCount(page, 1);
    await page.waitForFunction(() => /^Row 17,/.test(document.getElementById('announcement').textContent));
    await page.fill('#search', '8');
    await waitForCount(page, 1); // a row
    await page.click('#numbers button:nth-child(2)');
    await waitForCount(page, points.filter((p) => p.truth === '8').length);
    const all = readFileSync(await download(page, '#save-csv'), 'utf8');
    assert.ok(all.startsWith('row,part,label,predicted,probability,winner,y1,y2\n'));
    const places = cells(run('embed', 'digits.safetensors', '--data', DIGITS, '--limit', N));
    for (const [row, part, truth, predicted, proba, winner, y1, y2] of cells(all)) {
      const at = row - 1;
      assert.equal(part, 'test');
      assert.equal(truth, '8');
      assert.equal(predicted, rows[at][0]);
      assert.ok(Math.abs(proba - Math.max(...rows[at].slice(1, 11).filter((_, k) => CLASSES[k] === predicted))) < 1e-4);
      assert.equal(winner, rows[at][11]);
      const size = Math.max(...places.map((y) => Math.abs(y[0])), ...places.map((y) => Math.abs(y[1])));
      assert.ok(Math.abs(y1 - places[at][0]) < 1e-4 * size && Math.abs(y2 - places[at][1]) < 1e-4 * size);
    }

    // The lasso selects the visible points inside it.
    await page.click('#lasso');
    const box = await page.locator('#points').boundingBox();
    const corners = [[0.05, 0.15], [0.6, 0.15], [0.6, 0.95], [0.05, 0.95], [0.05, 0.2]].map(([x, y]) => [x * box.width, y * box.height]);
    await page.mouse.move(box.x + corners[0][0], box.y + corners[0][1]);
    await page.mouse.down();
    for (const [x, y] of corners.slice(1)) await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector('#selected');
    const expected = await page.evaluate(([[x0, y0], , [x1, y1]]) => window.enhope.page.visible.filter((i) => {
      const [x, y] = window.enhope.page.map.screenOf(i);
      return x > x0 && x < x1 && y > y0 && y < y1;
    }).length, corners);
    const chosen = number(await page.textContent('#selected'));
    assert.ok(chosen > 10 && Math.abs(chosen - expected) <= 0.1 * expected, `${chosen} points in the lasso, ${expected} expected`);
    const csv = cells(readFileSync(await download(page, '#selection .row button'), 'utf8'));
    assert.equal(csv.length, chosen);
    assert.ok(csv.every(([, , is]) => is === '8'));
    await shoot(page, 'lasso');

    // The picture has two pixels per pixel of the map, a title above it and a legend beside it.
    const png = readFileSync(await download(page, '#save-picture'));
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    assert.ok(png.readUInt32BE(16) > 2 * box.width + 60 && png.readUInt32BE(20) > 2 * box.height + 40);
    const colors = await page.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (ch) => ch.charCodeAt(0))]));
      const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
      g.drawImage(image, 0, 0);
      return new Set(new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer)).size;
    }, png.toString('base64'));
    assert.ok(colors > 50, `${colors} colors`);
    await close(page);
  },

  async 'images: drawn digits are classified as by the command'() {
    const page = await open('digits.html');
    await page.click('#tab-try');
    await draw(page, SEVEN);
    assert.equal(await page.textContent('#answer'), '7');
    await waitForAnnouncement(page, '^7, confidence [\\d.]+ %, nearest exemplar \\d+$');
    assert.equal(await page.locator('.beside canvas.sample').count(), 2); // the input and the nearest exemplar
    await shoot(page, 'draw');
    await page.click('#clear-pad');
    await page.waitForFunction(() => !document.getElementById('answer'));
    // Draw a one by keyboard.
    await page.focus('#pad');
    for (const key of [...Array(7).fill('ArrowUp'), ' ', ...Array(14).fill('ArrowDown'), ' ']) await page.keyboard.press(key);
    await page.waitForFunction(() => document.getElementById('answer')?.textContent === '1');
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => !document.getElementById('answer'));

    const { inputs, drawn } = await page.evaluate(() => {
      let state = 11;
      const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
      const inputs = new Float32Array(1000 * window.enhope.about.inputs);
      const drawn = Array.from({ length: 1000 }, (_, i) => {
        const strokes = Array.from({ length: 1 + Math.floor(3 * random()) }, () => Array.from({ length: 2 + Math.floor(4 * random()) }, () => [random(), random()]));
        const x = Float32Array.from(window.enhope.draw(strokes));
        inputs.set(x, i * x.length);
        const { label, winner, proba, y } = window.enhope.classify(x);
        return { label: window.enhope.about.classes[label], winner, proba: Array.from(proba), y: Array.from(y) };
      });
      const bytes = new Uint8Array(inputs.buffer);
      let text = '';
      for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
      return { inputs: btoa(text), drawn };
    });
    const values = Buffer.from(inputs, 'base64');
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (1000, ${values.length / 4000})}`.padEnd(117) + '\n'; // NPY 1.0
    writeFileSync(join(folder, 'drawn.npy'), Buffer.concat([Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'), Buffer.from(header), values]));
    // With double precision (ref) the command must give the same labels and nearest exemplars. In
    // single precision, drawings far from all digits lose accuracy, and if two exemplars coincide,
    // either may be the nearest.
    for (const device of ['cpu', 'ref']) {
      const from = ['digits.safetensors', '--data', 'drawn.npy', '--device', device];
      const answers = predictions(...from, '--proba', '--winner');
      const places = cells(run('embed', ...from));
      let [labels, winners, far] = [0, 0, 0];
      drawn.forEach((d, i) => {
        labels += d.label !== answers[i][0];
        winners += d.winner !== Number(answers[i][11]);
        const size = Math.max(1, ...d.y.map(Math.abs));
        d.proba.forEach((p, k) => (far = Math.max(far, Math.abs(p - Number(answers[i][1 + k])))));
        d.y.forEach((y, k) => (far = Math.max(far, Math.abs(y - Number(places[i][k])) / size)));
      });
      console.log(`       1,000 drawings on ${device}: ${labels} labels and ${winners} nearest exemplars differ, numbers within ${far.toExponential(1)}`);
      if (device === 'ref') assert.deepEqual([labels, winners], [0, 0]);
      assert.ok(labels <= 2 && far <= (device === 'ref' ? 1e-5 : 5e-5));
    }
    await close(page);
  },

  async 'keys, screen readers, dark, both parts'() {
    run('view', 'digits.safetensors', '--data', DIGITS, '--limit', N, '--part', 'both', '--sample', '1200', '--detail', '300', '-o', 'both.html');
    const page = await open('both.html', { colorScheme: 'dark' });
    const colors = () => page.evaluate(() => {
      const g = new OffscreenCanvas(1, 1).getContext('2d');
      g.drawImage(document.querySelector('#exemplars canvas'), 0, 0);
      return [getComputedStyle(document.body).backgroundColor, g.getImageData(0, 0, 1, 1).data[0] > 128];
    });
    assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
    assert.deepEqual(await colors(), ['rgb(20, 23, 28)', false]);
    assert.match(await page.textContent('#notes'), new RegExp(`1,[12]\\d\\d of ${(2 * N).toLocaleString('en')} points, the same share of each class`));
    assert.match(await page.textContent('#figures'), /training error.*held-out error/);
    await page.click('#parts button:nth-child(2)');
    const training = await visibleCount(page);
    await page.click('#parts button:nth-child(3)');
    assert.ok(training > 0 && (await visibleCount(page)) > 0);

    await page.focus('#points');
    const where = () => page.evaluate(() => window.enhope.page.map.screenOf(0).map(Math.round));
    const start = await where();
    await page.keyboard.press('ArrowRight');
    const moved = await where();
    assert.ok(moved[0] < start[0] && moved[1] === start[1]);
    await page.keyboard.press('+');
    assert.notDeepEqual(await where(), moved);
    await page.keyboard.press('0');
    assert.deepEqual(await where(), start);
    await page.keyboard.press('.');
    await waitForAnnouncement(page, '^Row \\d+, class');
    await page.keyboard.press('l');
    assert.equal(await page.getAttribute('#lasso', 'aria-pressed'), 'true');
    await page.keyboard.press('Escape');
    await page.focus('#tab-explore');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getAttribute('#tab-try', 'aria-selected'), 'true');
    await page.keyboard.press('ArrowLeft');

    // Tab reaches all controls in the order of the page, and each has an accessible name.
    await page.focus('#theme');
    const reached = [];
    for (let i = 0; i < 80; i++) {
      if (i) await page.keyboard.press('Tab');
      const what = await page.evaluate(() => {
        const e = document.activeElement;
        if (e === document.body) return null;
        const labelled = (e.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.textContent).join('');
        return [e.id || e.parentElement.id, e.getAttribute('aria-label') || labelled || e.labels?.[0]?.textContent || e.textContent || e.querySelector('[aria-label]')?.getAttribute('aria-label')];
      });
      if (!what) break;
      assert.ok(what[1].trim(), `${what[0]} has no name`);
      reached.push(what[0]);
    }
    const order = ['theme', 'points', 'pan', 'lasso', 'save-picture', 'save-svg', 'tab-explore', 'search', 'numbers', 'color', 'regions', 'marks', 'labels', 'pictures', 'spread', 'all-classes', 'classes', 'parts', 'correctness', 'confidence', 'exemplars', 'save-csv'];
    assert.deepEqual(order.map((id) => reached.indexOf(id)), order.map((id) => reached.indexOf(id)).sort((a, b) => a - b));
    assert.ok(order.every((id) => reached.includes(id)), String(reached));
    await shoot(page, 'dark');
    await page.click('#theme');
    assert.equal(await page.getAttribute('html', 'data-theme'), 'light');
    assert.deepEqual(await colors(), ['rgb(251, 251, 249)', true]);
    await close(page);
  },

  async 'the animation of training ends at the model'() {
    const made = 'synthetic:digits,n=1000,seed=1';
    run('train', '--data', made, '--n-factors', '20', '--n-hidden', '12', '--n-epochs', '6', '--batch-size', '100', '--quiet', '-o', 'played.safetensors');
    run('view', 'played.safetensors', '--data', made, '--history', '-o', 'played.html');
    const page = await open('played.html');
    const steps = await page.evaluate(() => window.enhope.about.history);
    assert.ok(steps.length > 40 && steps.at(-1).epoch === 6 && steps[0].epoch < 0.2);
    assert.ok(steps.filter((s) => s.epoch > 1 && s.epoch % 1 > 0.01).length > 20); // frames within later epochs as well
    assert.ok(new Set(steps.map((s) => s.box.join())).size > 0.9 * steps.length); // each frame is a different state
    assert.ok(steps.every((s) => s.loss > 0 && s.error >= 0) && steps.at(-1).error < steps[0].error && steps.at(-1).valid !== null);
    assert.equal(await page.locator('#another').count(), 0);
    await page.click('#tab-training');
    await page.fill('#training input', String(steps.length - 12));
    await page.click('#play');
    await page.waitForFunction(() => document.getElementById('frame').textContent.startsWith('Epoch 6.0') && document.getElementById('play').textContent === 'Play');
    assert.match(await page.textContent('#frame'), /loss .*error on these points .*validation error/);
    assert.equal(await page.locator('#training .chips span').count(), 10);
    // The losses between frames have the means of the epochs that the command has written.
    const losses = await page.evaluate(() => window.enhope.page.animation.losses());
    for (let epoch = 1; epoch <= 6; epoch++) {
      let [sum, done] = [0, epoch - 1];
      const frames = steps.map((s, i) => [s, losses[i]]).filter(([s]) => s.epoch > epoch - 1 && s.epoch <= epoch);
      for (const [s, loss] of frames) {
        sum += loss * (s.epoch - done);
        done = s.epoch;
      }
      const [last] = frames.at(-1);
      assert.ok(Math.abs(sum / (done - epoch + 1) - last.loss) < 1e-3 * last.loss, `epoch ${epoch}`);
    }
    // The last frame equals the model, because the run had the same settings and the same data.
    const far = await page.evaluate(() => {
      const { animation, points } = window.enhope.page;
      const [x0, y0, x1, y1] = window.enhope.about.box;
      const size = Math.max(x1 - x0, y1 - y0);
      return Math.max(...animation.last().map(([i, x, y]) => Math.max(Math.abs(x - (x0 + ((x1 - x0) * points.x[i]) / 65535)), Math.abs(y - (y0 + ((y1 - y0) * points.y[i]) / 65535))) / size));
    });
    assert.ok(far < 4e-5, `${far}`);
    await shoot(page, 'training');
    await page.click('#tab-explore');
    await close(page);
  },

  async 'a phone'() {
    const page = await open('digits.html', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    const narrow = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    assert.ok(await narrow());
    const one = await isolatedPoint(page, { wrong: false });
    await page.touchscreen.tap(one.x, one.y);
    await page.waitForSelector('#selection:not([hidden])');
    await page.waitForSelector('#card:not([hidden])');
    await shoot(page, 'phone');
    await page.tap('#selection .link');
    await page.evaluate(() => window.scrollTo(0, 0));
    const box = await page.locator('#points').boundingBox();
    const fingers = await page.context().newCDPSession(page);
    const touch = (type, ...places) => fingers.send('Input.dispatchTouchEvent', { type, touchPoints: places.map(([x, y]) => ({ x, y })) });
    const on = (x, y) => [box.x + x * box.width, box.y + y * box.height];

    // Two fingers zoom.
    const apart = () => page.evaluate(() => {
      const [a, b] = [0, 1].map((i) => window.enhope.page.map.screenOfExemplar(19 * i));
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    });
    const before = await apart();
    await touch('touchStart', on(0.4, 0.5), on(0.6, 0.5));
    await touch('touchMove', on(0.3, 0.5), on(0.7, 0.5));
    await touch('touchEnd');
    await page.waitForFunction((was) => {
      const [a, b] = [0, 1].map((i) => window.enhope.page.map.screenOfExemplar(19 * i));
      return Math.hypot(a[0] - b[0], a[1] - b[1]) > 1.8 * was;
    }, before);
    await page.tap('#fit');

    await page.tap('#lasso');
    await touch('touchStart', on(0.02, 0.15));
    for (const at of [on(0.98, 0.15), on(0.98, 0.97), on(0.02, 0.97), on(0.02, 0.2)]) await touch('touchMove', at);
    await touch('touchEnd');
    await page.waitForSelector('#selected');
    const inside = number(await page.textContent('#selected'));
    assert.ok(inside > 0.6 * N, `${inside} points in the lasso`);

    // Draw a one by touch: the result is on the screen.
    await page.tap('#tab-try');
    await page.waitForSelector('#pad');
    await page.evaluate(() => window.scrollTo(0, 0));
    const pad = await page.locator('#pad').boundingBox();
    await touch('touchStart', [pad.x + 0.52 * pad.width, pad.y + 0.15 * pad.height]);
    for (const y of [0.3, 0.5, 0.7, 0.85]) await touch('touchMove', [pad.x + 0.51 * pad.width, pad.y + y * pad.height]);
    await touch('touchEnd');
    await page.waitForFunction(() => document.getElementById('answer')?.textContent === '1');
    assert.ok(await page.evaluate(() => document.getElementById('answer').getBoundingClientRect().bottom < window.innerHeight && document.getElementById('map').getBoundingClientRect().top >= 0));
    assert.ok(await narrow());
    await shoot(page, 'phone-draw');
    await close(page);
  },

  async 'no labels, no exemplars, many classes, more dimensions'() {
    const blobs = 'synthetic:blobs,n=400,classes=30,inputs=70,seed=5';
    run('train', '--data', blobs, '--method', 'pca', '--n-components', '3', '--quiet', '-o', 'pca.safetensors');
    run('view', 'pca.safetensors', '--data', blobs, '-o', 'pca.html');
    const page = await open('pca.html');
    assert.match(await page.textContent('#notes'), /3 dimensions; the map shows the first two/);
    assert.ok(await page.locator('#exemplars-part').isHidden());
    const pair = page.locator('#matrix.pairs button').first();
    const size = Number((await pair.textContent()).match(/\((\d+)\)$/)[1]);
    await pair.click();
    await waitForCount(page, size);
    await page.click('#tab-try');
    assert.match(await page.textContent('#try'), /70 inputs are too long/);
    assert.equal(await page.locator('#color optgroup option').count(), 70); // few samples are stored with all inputs
    await close(page);

    writeFileSync(join(folder, 'bare.csv'), Array.from({ length: 50 }, (_, i) => Array.from({ length: 70 }, (_, j) => ((i * j) % 7) - 3).join(',')).join('\n') + '\n');
    run('view', 'pca.safetensors', '--data', 'bare.csv', '--label', 'none', '-o', 'bare.html');
    const bare = await open('bare.html');
    assert.match(await bare.textContent('#figures'), /^[\d.]+ kBmodel, /); // and no error
    assert.ok((await bare.locator('#confusions').isHidden()) && (await bare.locator('#correctness').isHidden()));
    assert.equal(await bare.textContent('#visible-count'), '50 of 50 points');
    await close(bare);
  },

  async 'sizes: ten thousand images, one million points'() {
    run('view', 'digits.safetensors', '--data', REAL ? DIGITS : 'synthetic:digits,n=10000,seed=2', '-o', 'large.html');
    assert.ok(statSync(join(folder, 'large.html')).size < 8e6);
    const blobs = (n) => `synthetic:blobs,n=${n},classes=5,inputs=3,seed=1`;
    run('train', '--data', blobs(500), '--n-factors', '8', '--n-hidden', '6', '--n-epochs', '3', '--quiet', '-o', 'million.safetensors');
    run('view', 'million.safetensors', '--data', blobs(1000000), '--sample', '1000000', '--bare', '-o', 'million.html');
    assert.ok(statSync(join(folder, 'million.html')).size < 20e6);
    const page = await open('million.html');
    assert.equal(await visibleCount(page), 1000000);
    assert.match(await page.textContent('#summary'), /The page includes no samples/);
    const before = await page.evaluate(() => window.enhope.page.map.screenOf(0));
    await page.focus('#points');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((was) => window.enhope.page.map.screenOf(0)[0] > was, before[0]);
    await shoot(page, 'million');
    // A frame of all points, as a density, and one of fewer points.
    const frames = await page.evaluate(() => [0, 1, 2, 5].map((zoom) => {
      const { map } = window.enhope.page;
      const started = performance.now();
      map.zoom(2 ** zoom);
      map.paint();
      return Math.round(performance.now() - started);
    }));
    console.log(`       1,000,000 points: frames in ${frames.join(', ')} ms`);
    assert.ok(Math.max(...frames) < 2000, String(frames));
    await close(page);
  },

  async 'tables: hostile names are text, fields can be edited'() {
    const evil = ['</script><script>window.evil=1</script>', '<img src=x onerror="window.evil=2">', '=1+1'];
    const lines = [`"a<b>&amp;","</script><script>window.evil=3</script>",c,class`];
    for (let i = 0; i < 240; i++) lines.push(`${(i % 3) + (i % 7) / 9},${(i % 5) / 4},${((i * i) % 11) / 5},"${evil[i % 3].replaceAll('"', '""')}"`);
    writeFileSync(join(folder, 'evil.csv'), lines.join('\n') + '\n');
    run('train', '--data', 'evil.csv', '--label', 'class', '--n-factors', '12', '--n-hidden', '8', '--n-epochs', '30', '--order', '1', '--noise', '0.1', '--similarity', 'student', '--quiet', '-o', 'evil.safetensors');
    run('view', 'evil.safetensors', '--data', 'evil.csv', '--label', 'class', '--title', '</title><script>window.evil=4</script>', '-o', 'evil.html');
    const page = await open('evil.html');
    assert.equal(await page.evaluate(() => window.evil), undefined);
    assert.match(await page.textContent('#figures'), /%training error, /); // the data trained the model
    assert.match(await page.textContent('#notes'), /Rows of this data trained the model/);
    assert.deepEqual(new Set(await page.evaluate(() => window.enhope.about.classes)), new Set(evil));
    assert.ok((await page.textContent('#classes')).includes(evil[0]));
    // Hovering shows the fields with their names.
    const one = await isolatedPoint(page, { wrong: false });
    await page.mouse.move(one.x + 30, one.y + 30);
    await page.mouse.move(one.x, one.y, { steps: 2 });
    await page.waitForSelector('#card:not([hidden])');
    const names = await page.locator('#card .fields dt').allTextContents();
    assert.deepEqual(names, ['a<b>&amp;', '</script><script>window.evil=3</script>', 'c']);
    const values = await page.locator('#card .fields dd').allTextContents();
    // Selecting a point on the map fills in the fields.
    await page.click('#tab-try');
    await page.waitForSelector('#answer');
    await page.mouse.click(one.x, one.y);
    await page.waitForFunction((value) => Math.abs(document.querySelector('.field input').value - value) < 1e-3, Number(values[0]));
    await page.locator('.field input').first().fill('2.4');
    const answer = await page.textContent('#answer');
    const x = await page.locator('.field input').evaluateAll((all) => all.map((input) => input.value));
    writeFileSync(join(folder, 'one.csv'), x.join(',') + '\n');
    assert.ok(run('predict', 'evil.safetensors', '--data', 'one.csv', '--label', 'none').includes(answer.replaceAll('"', '""')));
    await shoot(page, 'fields');
    // Names in an SVG file are escaped.
    const svg = readFileSync(await download(page, '#save-svg'), 'utf8');
    assert.ok(!svg.includes('<script') && !svg.includes('<img') && svg.includes('&lt;script&gt;window.evil=4'));
    // Names that a spreadsheet would treat as formulas are quoted.
    await page.click('#tab-explore');
    const csv = readFileSync(await download(page, '#save-csv'), 'utf8');
    assert.ok(csv.includes(`,'=1+1,`) && !csv.includes(',=1+1') && csv.includes('"<img src=x onerror=""window.evil=2"">"'));
    assert.equal(await page.evaluate(() => window.evil), undefined);
    await close(page);
  },

  async 'tables: columns of all types, and their importance'() {
    const lines = ['age,color,member,seen,id,noise,quality'];
    for (let i = 0; i < 300; i++) {
      const k = i % 3;
      lines.push([i % 11 ? 20 * k + ((i * 7) % 19) : '', ['red', 'blue', 'green'][(i + (i % 5 === 0)) % 3], i % 2 ? 'yes' : 'no', `202${k}-0${1 + (i % 9)}-1${i % 10} 1${i % 10}:30`, `n${i}`, (i * 37) % 101, ['bad', 'fair', 'good'][k]].join(','));
    }
    writeFileSync(join(folder, 'mixed.csv'), lines.join('\n') + '\n');
    run('train', '--data', 'mixed.csv', '--label', 'quality', '--n-epochs', '30', '--quiet', '-o', 'mixed.safetensors');
    run('view', 'mixed.safetensors', '--data', 'mixed.csv', '--split', '100@1', '-o', 'mixed.html');
    const page = await open('mixed.html');
    // A page of a part has the row numbers of predict, which are those of the file.
    const numbers = cells(run('predict', 'mixed.safetensors', '--data', 'mixed.csv', '--split', '100@1')).map(([row]) => Number(row));
    assert.deepEqual((await readPoints(page)).map(({ row }) => row).sort((a, b) => a - b), numbers.sort((a, b) => a - b));
    assert.ok(Math.max(...numbers) > 200);
    // The importance is that of the command: the id is not a column, and noise matters least.
    const names = await page.locator('#importance-bars b').allTextContents();
    assert.deepEqual([...names].sort(), ['age', 'color', 'member', 'noise', 'seen']);
    assert.ok(['age', 'seen', 'color'].includes(names[0]));
    await page.locator('#importance').scrollIntoViewIfNeeded();
    await shoot(page, 'importance');
    // Selecting a point fills in the controls of the columns.
    const one = await isolatedPoint(page, { wrong: false });
    const row = await page.evaluate((i) => window.enhope.page.points.row[i], one.i);
    await page.click('#tab-try');
    await page.waitForSelector('#answer');
    await page.mouse.click(one.x, one.y);
    const controls = () => page.locator('.field').evaluateAll((all) => all.map((label) => {
      const control = label.querySelector('input, select');
      return [label.textContent.startsWith('color') ? 'color' : label.querySelector('span').textContent, control.tagName === 'SELECT' ? control.selectedOptions[0].textContent : control.value];
    }));
    const [age, color, member, seen, , noise] = lines[row].split(',');
    await page.waitForFunction((value) => document.querySelectorAll('.field input')[2].value === value, noise);
    assert.deepEqual(await controls(), [['age', age], ['color', color], ['member', member], ['seen', seen.replace(' ', 'T')], ['noise', noise]]);
    // Edited columns, also missing ones, are classified as by the command.
    const [number, date] = [page.locator('.field input').nth(0), page.locator('.field input').nth(1)];
    const [choice] = [page.locator('.field select').nth(0)];
    for (const [a, c, d] of [['', 'green', '2021-05-17T13:45'], ['41.5', '(missing)', '2020-02-29T00:00'], ['3', 'blue', '']]) {
      await number.fill(a);
      await choice.selectOption({ label: c });
      await date.fill(d);
      writeFileSync(join(folder, 'one.csv'), `seen,color,age,member,noise\n${d},${c === '(missing)' ? '' : c},${a},${member},${noise}\n`);
      const [answer] = predictions('mixed.safetensors', '--data', 'one.csv');
      assert.equal(await page.textContent('#answer'), answer[0]);
    }
    await shoot(page, 'columns');
    await close(page);
  },

  async 'words: typed words are classified'() {
    const names = ['ball', 'goal', 'team', 'moon', 'orbit', 'rocket', 'the'];
    const lines = [];
    for (let i = 0; i < 300; i++) {
      const sport = i % 2;
      const present = [0, 1, 2].map((j) => j + (sport ? 0 : 3)).filter((j) => (i * (j + 3)) % 4 !== 0);
      lines.push(`${sport ? 'sport' : 'space'} ${[...present.map((j) => j + 1), 7].map((j) => `${j}:1`).join(' ')}`);
    }
    writeFileSync(join(folder, 'words.svm'), lines.join('\n') + '\n');
    run('train', '--data', 'words.svm', '--n-factors', '12', '--n-hidden', '8', '--n-epochs', '20', '--quiet', '-o', 'words.safetensors');
    run('view', 'words.safetensors', '--data', 'words.svm', '-o', 'words.html');
    // LIBSVM files have no input names, so the test inserts them
    const file = join(folder, 'words.html');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"names":null', `"names":${JSON.stringify(names)}`));
    const page = await open('words.html');
    const one = await isolatedPoint(page, { wrong: false });
    await page.mouse.move(one.x + 30, one.y + 30);
    await page.mouse.move(one.x, one.y, { steps: 2 });
    await page.waitForSelector('#card .words');
    assert.ok((await page.locator('#card .words span').allTextContents()).every((word) => names.includes(word)));
    await page.click('#tab-try');
    await page.fill('#words', 'The rocket left for the moon, into orbit.');
    assert.equal(await page.textContent('#answer'), 'space');
    await page.fill('#words', 'a team, a ball, a goal');
    assert.equal(await page.textContent('#answer'), 'sport');
    await shoot(page, 'words');
    await close(page);
  },
};

const tools = {
  open, close, run, shoot, waitForCount, visibleCount, download, folder, browser, isolatedPoint, cells, file: (name) => pathToFileURL(join(folder, name)).href,
};
const ofMap = { ...mapTests(tools), ...groupTests(tools) };

const REAL = process.env.ENHOPE_DATA && existsSync(join(process.env.ENHOPE_DATA, 'mnist'));
const DIGITS = REAL ? join(process.env.ENHOPE_DATA, 'mnist') : 'synthetic:digits,n=1500,seed=2';
const N = 1500;
const CLASSES = [...'0123456789'];
run('train', '--data', REAL ? DIGITS : 'synthetic:digits,n=3000,seed=1', '--limit', REAL ? '10000' : '3000', '--n-factors', '100', '--n-hidden', '60', '--n-epochs', '12', '-z', '20', '--random-state', '1', '--quiet', '-o', 'digits.safetensors');
run('view', 'digits.safetensors', '--data', DIGITS, '--limit', N, '-o', 'digits.html');

let failed = 0;
async function runAll(some) {
  for (const [name, test] of Object.entries(some)) {
    const started = performance.now();
    try {
      await test();
      console.log(`ok     ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n${error.stack}`);
    }
  }
}
await Promise.all([runAll(tests), runAll(ofMap)]); // two at a time
await browser.close();
process.exit(failed ? 1 : 0);
