// The page in a real browser: opened, hovered, filtered, lassoed, drawn in; what it answers is compared with the command.
//
// usage: node browser.mjs ENHOPE PACKAGES FOLDER CHROMIUM [SCREENSHOTS]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [enhope, packages, folder, executablePath, screenshots] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const run = (...args) => execFileSync(enhope, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'],
});

// Opens a page; it must be silent and fetch nothing.
async function open(file, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, acceptDownloads: true, ...options });
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
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

const shown = (page) => page.textContent('#shown');
const number = (text) => Number(text.split(' ')[0].replaceAll(',', ''));

async function draw(page, strokes) {
  const pad = await page.locator('#pad').boundingBox();
  for (const stroke of strokes) {
    await page.mouse.move(pad.x + stroke[0][0] * pad.width, pad.y + stroke[0][1] * pad.height);
    await page.mouse.down();
    for (const [x, y] of stroke) await page.mouse.move(pad.x + x * pad.width, pad.y + y * pad.height, { steps: 6 });
    await page.mouse.up();
  }
  await page.waitForSelector('#answer');
}

const SEVEN = [[[0.3, 0.25], [0.7, 0.25], [0.6, 0.5], [0.45, 0.85]]];
const ONE = [[[0.52, 0.2], [0.5, 0.5], [0.48, 0.82]]];

const tests = {
  async 'images: hover, filters, lasso, confusions, exemplars, search'() {
    const page = await open('digits.html');
    const eval_ = JSON.parse(run('eval', 'digits.safetensors', '--data', DIGITS, '--json'));
    assert.match(await page.textContent('#figures'), new RegExp(`${(100 * eval_.errors / eval_.n).toFixed(2)} %held-out error, ${eval_.errors} of`));
    assert.equal(number(await shown(page)), 1500);

    // What the command says of every point is what the page says.
    const rows = run('predict', 'digits.safetensors', '--data', DIGITS, '--proba', '--winner').trim().split('\n').slice(1).map((line) => line.split(','));
    const told = await page.evaluate(() => {
      const { points, n } = window.enhope.page;
      return Array.from({ length: n }, (_, i) => [points.row[i], window.enhope.about.classes[points.label[i]], points.winner[i], points.proba[i] / 65535]);
    });
    for (const [row, label, winner, proba] of told) {
      assert.equal(label, rows[row][0]);
      assert.equal(winner, Number(rows[row][11]));
      assert.ok(Math.abs(proba - Math.max(...rows[row].slice(1, 11).map(Number))) < 1e-4);
    }

    const box = await page.locator('#points').boundingBox();
    const far = await page.evaluate(() => { // the point that is farthest from all exemplars
      const { map, n } = window.enhope.page;
      const exemplars = window.enhope.about.exemplars.map((_, j) => map.screenOfExemplar(j));
      const gap = (i) => Math.min(...exemplars.map(([x, y]) => Math.hypot(x - map.screenOf(i)[0], y - map.screenOf(i)[1])));
      let best = 0;
      for (let i = 1; i < n; i++) if (gap(i) > gap(best)) best = i;
      return [best, ...map.screenOf(best)];
    });
    await page.mouse.move(box.x + far[1] + 40, box.y + far[2] + 40);
    await page.mouse.move(box.x + far[1], box.y + far[2], { steps: 4 });
    await page.waitForSelector('#card:not([hidden])');
    assert.match(await page.textContent('#card'), new RegExp(`row${told[far[0]][0]}`));
    assert.ok(await page.locator('#card canvas.sample').count());
    await shoot(page, 'hover');
    await page.mouse.click(box.x + far[1], box.y + far[2]);
    await page.waitForSelector('#selection:not([hidden])');
    await page.keyboard.press('Escape');

    await page.click('#rightness button:nth-child(3)');
    assert.equal(number(await shown(page)), eval_.errors);
    await page.click('#rightness button:nth-child(1)');
    await page.click('[data-class="3"]');
    assert.ok(number(await shown(page)) < 1500);
    await page.click('#all-classes');
    assert.equal(number(await shown(page)), 1500);
    await page.fill('#sureness', '60');
    assert.equal(number(await shown(page)), told.filter((t) => Math.round(t[3] * 65535) <= 60 * 655.35).length);
    await page.fill('#sureness', '100');

    const cell = page.locator('#matrix td button:not(.zero)').nth(1);
    const size = Number(await cell.textContent());
    await cell.click();
    assert.equal(number(await shown(page)), size);
    await page.click('#clear-cell');
    await page.click('[data-exemplar="4"]');
    assert.equal(number(await shown(page)), told.filter((t) => t[2] === 4).length);
    await shoot(page, 'exemplar');
    await page.click('#clear-exemplar');
    await page.fill('#search', '17');
    await page.waitForFunction(() => /^1 of/.test(document.getElementById('shown').textContent));
    await page.fill('#search', '');
    await page.waitForFunction(() => /^1,500 of/.test(document.getElementById('shown').textContent));

    await page.click('#lasso');
    await page.mouse.move(box.x + 20, box.y + 70);
    await page.mouse.down();
    for (const [x, y] of [[0.97, 0.12], [0.97, 0.95], [0.03, 0.95], [0.03, 0.12]]) await page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 12 });
    await page.mouse.up();
    await page.waitForSelector('#selected');
    const chosen = number(await page.textContent('#selected'));
    assert.ok(chosen > 1000, `${chosen} points in the lasso`);
    const [csv] = await Promise.all([page.waitForEvent('download'), page.click('#selection .row button')]);
    assert.equal(readFileSync(await csv.path(), 'utf8').trim().split('\n').length, chosen + 1);
    await shoot(page, 'lasso');
    const [png] = await Promise.all([page.waitForEvent('download'), page.click('#save-picture')]);
    assert.ok(statSync(await png.path()).size > 5000);
    await close(page);
  },

  async 'images: drawn digits are answered as the command answers'() {
    const page = await open('digits.html');
    await page.click('#tab-try');
    await draw(page, SEVEN);
    assert.equal(await page.textContent('#answer'), '7');
    await shoot(page, 'draw');
    await page.click('#clear-pad');
    await page.waitForFunction(() => !document.getElementById('answer'));
    await draw(page, ONE);
    assert.equal(await page.textContent('#answer'), '1');

    const drawn = await page.evaluate(() => {
      let state = 11;
      const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
      return Array.from({ length: 1000 }, () => {
        const strokes = Array.from({ length: 1 + Math.floor(3 * random()) }, () => Array.from({ length: 2 + Math.floor(4 * random()) }, () => [random(), random()]));
        const x = Array.from(window.enhope.draw(strokes), Math.fround);
        const { label, winner, proba, y } = window.enhope.classify(x);
        return { x, label: window.enhope.about.classes[label], winner, proba: Array.from(proba), y: Array.from(y) };
      });
    });
    writeFileSync(join(folder, 'drawn.csv'), drawn.map(({ x }) => x.join(',')).join('\n') + '\n');
    const cells = (csv) => csv.trim().split('\n').slice(1).map((line) => line.split(','));
    // The command in double must agree in all. In float, scribbles far from all digits lose figures, and where two exemplars
    // coincide, either may be the nearest.
    for (const device of ['cpu', 'ref']) {
      const from = ['digits.safetensors', '--data', 'drawn.csv', '--label', 'none', '--device', device];
      const answers = cells(run('predict', ...from, '--proba', '--winner'));
      const places = cells(run('embed', ...from));
      let [labels, winners, far] = [0, 0, 0];
      drawn.forEach((d, i) => {
        labels += d.label !== answers[i][0];
        winners += d.winner !== Number(answers[i][11]);
        const size = Math.max(1, ...d.y.map(Math.abs));
        d.proba.forEach((p, k) => (far = Math.max(far, Math.abs(p - Number(answers[i][1 + k])))));
        d.y.forEach((y, k) => (far = Math.max(far, Math.abs(y - Number(places[i][k])) / size)));
      });
      console.log(`       1,000 drawings on ${device}: ${labels} other labels, ${winners} other winners, numbers within ${far.toExponential(1)}`);
      assert.equal(labels, 0);
      assert.ok(far <= (device === 'ref' ? 1e-5 : 5e-5));
      if (device === 'ref') assert.equal(winners, 0);
    }
    await close(page);
  },

  async 'keys, dark, both parts'() {
    run('view', 'digits.safetensors', '--data', DIGITS, '--part', 'both', '--sample', '1200', '--detail', '300', '-o', 'both.html');
    const page = await open('both.html', { colorScheme: 'dark' });
    assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
    assert.match(await page.textContent('#summary'), /1,2\d\d of 3,000 points are shown, the same share of every class/);
    await page.click('#parts button:nth-child(2)');
    const training = number(await shown(page));
    await page.click('#parts button:nth-child(3)');
    assert.ok(training > 0 && number(await shown(page)) > 0);
    await page.focus('#points');
    const before = await page.evaluate(() => window.enhope.page.map.screenOf(0));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('+');
    assert.notDeepEqual(await page.evaluate(() => window.enhope.page.map.screenOf(0)), before);
    await page.keyboard.press('.');
    assert.match(await page.textContent('#spoken'), /^Row \d+, class/);
    await page.keyboard.press('0');
    await shoot(page, 'dark');
    await page.click('#theme');
    assert.equal(await page.getAttribute('html', 'data-theme'), 'light');
    await close(page);
  },

  async 'training is played, and ends at the model'() {
    run('train', '--data', 'synthetic:digits,n=1000,seed=1', '--factors', '20', '--hidden', '12', '--epochs', '4', '--quiet', '-o', 'played.safetensors');
    run('view', 'played.safetensors', '--data', 'synthetic:digits,n=1000,seed=1', '--history', '-o', 'played.html');
    const page = await open('played.html');
    const steps = await page.evaluate(() => window.enhope.about.history);
    assert.ok(steps.length > 8 && steps.at(-1)[0] === 4 && steps[0][0] < 1);
    await page.click('#tab-training');
    await page.click('#play');
    await page.waitForFunction(() => document.getElementById('frame').textContent.startsWith('Epoch 4.0') && document.getElementById('play').textContent === 'Play');
    // The last state is the model's own: it was trained with the same settings on the same data.
    const far = await page.evaluate(() => {
      const { film, points } = window.enhope.page;
      const [x0, y0, x1, y1] = window.enhope.about.box;
      const size = Math.max(x1 - x0, y1 - y0);
      return Math.max(...film.last().map(([i, x, y]) => Math.max(Math.abs(x - (x0 + ((x1 - x0) * points.x[i]) / 65535)), Math.abs(y - (y0 + ((y1 - y0) * points.y[i]) / 65535))) / size));
    });
    assert.ok(far < 2e-5, `${far}`);
    await shoot(page, 'training');
    await page.click('#tab-explore');
    await close(page);
  },

  async 'a phone'() {
    const page = await open('digits.html', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    const at = await page.evaluate(() => {
      const box = document.getElementById('points').getBoundingClientRect();
      const [x, y] = window.enhope.page.map.screenOf(5);
      return [box.left + x, box.top + y];
    });
    await page.touchscreen.tap(...at);
    await page.waitForSelector('#selection:not([hidden])');
    await shoot(page, 'phone');
    await page.tap('#selection .link');
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.tap('#lasso');
    const fingers = await page.context().newCDPSession(page);
    const box = await page.locator('#points').boundingBox();
    const touch = (type, x, y) => fingers.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: box.x + x * box.width, y: box.y + y * box.height }] });
    await touch('touchStart', 0.02, 0.15);
    for (const [x, y] of [[0.98, 0.15], [0.98, 0.97], [0.02, 0.97], [0.02, 0.2]]) await touch('touchMove', x, y);
    await touch('touchEnd');
    await page.waitForSelector('#selected');
    const inside = number(await page.textContent('#selected'));
    assert.ok(inside > 1000, `${inside} points in the lasso`);
    await close(page);
  },

  async 'tables: hostile names are text, fields can be edited'() {
    const evil = ['</script><script>window.evil=1</script>', '<img src=x onerror="window.evil=2">', '=1+1'];
    const lines = [`"a<b>&amp;","</script><script>window.evil=3</script>",c,class`];
    for (let i = 0; i < 240; i++) lines.push(`${(i % 3) + (i % 7) / 9},${(i % 5) / 4},${((i * i) % 11) / 5},"${evil[i % 3].replaceAll('"', '""')}"`);
    writeFileSync(join(folder, 'evil.csv'), lines.join('\n') + '\n');
    run('train', '--data', 'evil.csv', '--label', 'class', '--factors', '12', '--hidden', '8', '--epochs', '30', '--quiet', '-o', 'evil.safetensors');
    run('view', 'evil.safetensors', '--data', 'evil.csv', '--label', 'class', '--title', '</title><script>window.evil=4</script>', '-o', 'evil.html');
    const page = await open('evil.html');
    assert.equal(await page.evaluate(() => window.evil), undefined);
    assert.deepEqual(new Set(await page.evaluate(() => window.enhope.about.classes)), new Set(evil));
    assert.ok((await page.textContent('#classes')).includes(evil[0]));
    await page.click('#tab-try');
    await page.waitForSelector('#answer');
    await page.locator('.field input').first().fill('2.4');
    const answer = await page.textContent('#answer');
    const x = await page.locator('.field input').evaluateAll((all) => all.map((input) => input.value));
    writeFileSync(join(folder, 'one.csv'), x.join(',') + '\n');
    assert.ok(run('predict', 'evil.safetensors', '--data', 'one.csv', '--label', 'none').includes(answer.replaceAll('"', '""')));
    await shoot(page, 'fields');
    assert.equal(await page.evaluate(() => window.evil), undefined);
    await close(page);
  },

  async 'words: typed ones are classified'() {
    const names = ['ball', 'goal', 'team', 'moon', 'orbit', 'rocket', 'the'];
    const lines = [];
    for (let i = 0; i < 300; i++) {
      const sport = i % 2;
      const present = [0, 1, 2].map((j) => j + (sport ? 0 : 3)).filter((j) => (i * (j + 3)) % 4 !== 0);
      lines.push(`${sport ? 'sport' : 'space'} ${[...present.map((j) => j + 1), 7].map((j) => `${j}:1`).join(' ')}`);
    }
    writeFileSync(join(folder, 'words.svm'), lines.join('\n') + '\n');
    run('train', '--data', 'words.svm', '--factors', '12', '--hidden', '8', '--epochs', '20', '--quiet', '-o', 'words.safetensors');
    run('view', 'words.safetensors', '--data', 'words.svm', '-o', 'words.html');
    // libsvm has no names: they are put in, as a file with names would have them
    const file = join(folder, 'words.html');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"names":null', `"names":${JSON.stringify(names)}`));
    const page = await open('words.html');
    await page.click('#tab-try');
    await page.fill('#words', 'The rocket left for the moon, into orbit.');
    assert.equal(await page.textContent('#answer'), 'space');
    await page.fill('#words', 'a team, a ball, a goal');
    assert.equal(await page.textContent('#answer'), 'sport');
    await shoot(page, 'words');
    await close(page);
  },
};

const DIGITS = 'synthetic:digits,n=1500,seed=2';
run('train', '--data', 'synthetic:digits,n=3000,seed=1', '--factors', '100', '--hidden', '60', '--epochs', '12', '-z', '20', '--seed', '1', '--quiet', '-o', 'digits.safetensors');
run('view', 'digits.safetensors', '--data', DIGITS, '-o', 'digits.html');

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok     ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
