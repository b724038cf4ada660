// Tests of the map in the page: what the pointer picks, the lasso, rings, colors, regions, spread,
// names, files and the address. browser.mjs runs them.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

let state = 5;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

// A table of 178 rows, 13 columns of very different sizes and three classes, as wine has.
function writeWine(file) {
  const names = ['alcohol', 'acid', 'ash', 'alcalinity', 'magnesium', 'phenols', 'flavanoids', 'nonflavanoid', 'proanthocyanins', 'color', 'hue', 'dilution', 'proline'];
  const lines = [[...names, 'region'].join(',')];
  for (let i = 0; i < 178; i++) {
    const k = i % 3;
    lines.push([...names.map((_, j) => ((1 + j * j) * (5 + ((k * (j + 2)) % 5) * 0.8 + normal())).toFixed(3)), ['north', 'south', 'west'][k]].join(','));
  }
  writeFileSync(file, lines.join('\n') + '\n');
}

export function mapTests({ open, close, run, shoot, waitForCount, visibleCount, download, folder, browser, file }) {
  const corner = (page) => page.locator('#points').boundingBox();
  const state = (page) => page.evaluate(() => ({ card: document.getElementById('card').hidden ? null : document.getElementById('card').dataset.shows, pinned: window.enhope.page.pinned }));
  const nextFrame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const address = (page, pattern) => page.waitForFunction((text) => new RegExp(text).test(location.hash), pattern);

  // Points at the places of 100 points and clicks there, and with the mouse itself at ten of them.
  // Returns how often the card and the panel show the same point.
  async function agreement(page) {
    const { places, equal } = await page.evaluate(async () => {
      const { map, n } = window.enhope.page;
      const canvas = document.getElementById('points');
      const box = canvas.getBoundingClientRect();
      const card = document.getElementById('card');
      const { wide, high } = map.camera;
      const free = Array.from({ length: n }, (_, i) => map.screenOf(i)).filter(([x, y]) => x > 4 && y > 70 && x < wide - 4 && y < high - 90);
      const places = Array.from({ length: 100 }, (_, k) => free[Math.floor((k * free.length) / 100)]);
      const send = (type, [x, y]) => canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, pointerId: 1, pointerType: 'mouse', bubbles: true }));
      let equal = 0;
      for (const at of places) {
        card.hidden = true;
        send('pointermove', at);
        await new Promise(requestAnimationFrame); // after the frame that the page has requested
        const over = card.hidden ? 'nothing' : card.dataset.shows;
        send('pointerdown', at);
        send('pointerup', at);
        equal += over === `point ${window.enhope.page.pinned}`;
      }
      return { places, equal };
    });
    const box = await corner(page);
    for (const [x, y] of places.filter((_, k) => k % 10 === 0)) {
      await page.mouse.move(box.x + x, box.y + y);
      await page.waitForSelector('#card:not([hidden])');
      const { card } = await state(page);
      await page.mouse.down();
      await page.mouse.up();
      assert.equal(card, `point ${(await state(page)).pinned}`);
    }
    return equal;
  }

  return {
    async 'hover and click pick the same point, of images and of a table'() {
      writeWine(join(folder, 'wine.csv'));
      run('train', '--data', 'wine.csv', '--label', 'region', '--n-epochs', '20', '--quiet', '--random-state', '1', '-o', 'wine.safetensors');
      run('view', 'wine.safetensors', '--data', 'wine.csv', '--label', 'region', '-o', 'wine.html');
      for (const name of ['digits.html', 'wine.html']) {
        const page = await open(name, { viewport: { width: 870, height: 520 } });
        assert.equal(await agreement(page), 100, name);
        await close(page);
      }
    },

    async 'a view without points offers to show all'() {
      const page = await open('wine.html');
      assert.ok(await page.locator('#nowhere').isHidden());
      await page.focus('#points');
      for (let k = 0; k < 40; k++) await page.keyboard.press('ArrowLeft');
      await page.waitForSelector('#nowhere', { state: 'visible' });
      await page.click('#nowhere-button');
      await page.waitForSelector('#nowhere', { state: 'hidden' });
      await close(page);
    },

    async 'the answer stays in view while fields are edited, on a desktop and a phone'() {
      for (const viewport of [{ width: 1100, height: 480 }, { width: 390, height: 700 }]) {
        const page = await open('wine.html', { viewport });
        await page.click('#tab-try');
        await page.locator('.field input').first().fill('12.5');
        const answer = await page.locator('#answer').boundingBox();
        assert.ok(answer.y > 0 && answer.y + answer.height <= viewport.height, JSON.stringify(answer));
        await page.locator('.field input').nth(4).focus();
        const [field, after] = await Promise.all(['.field:nth-child(5) input', '.answer'].map((name) => page.locator(name).boundingBox()));
        assert.ok(field.y + field.height <= after.y, JSON.stringify([field, after]));
        await close(page);
      }
    },

    async 'the card is hidden during a drag, the wheel and the lasso; a closed lasso is kept'() {
      const page = await open('digits.html');
      const box = await corner(page);
      const [x, y] = await page.evaluate(() => {
        const { map, n } = window.enhope.page;
        return Array.from({ length: n }, (_, i) => map.screenOf(i)).find(([x, y]) => x > 200 && x < 500 && y > 150 && y < 350);
      });
      const over = async () => {
        await page.mouse.move(box.x + x + 30, box.y + y + 30);
        await page.mouse.move(box.x + x, box.y + y);
        await page.waitForSelector('#card:not([hidden])');
      };
      await over();
      await page.mouse.down();
      await page.mouse.move(box.x + x + 10, box.y + y + 8, { steps: 3 });
      await nextFrame(page);
      assert.equal((await state(page)).card, null);
      await page.mouse.move(box.x + x, box.y + y, { steps: 3 });
      await page.mouse.up();
      await page.click('#fit');
      await over();
      await page.mouse.wheel(0, -120);
      await page.waitForFunction(() => window.enhope.page.map.view() !== null);
      assert.equal((await state(page)).card, null);
      await page.click('#fit');
      await page.keyboard.press('Escape');

      await page.click('#lasso');
      const path = [[0.1, 0.2], [0.9, 0.2], [0.9, 0.9], [0.1, 0.9], [0.1, 0.2]].map(([a, b]) => [box.x + a * box.width, box.y + b * box.height]);
      await page.mouse.move(...path[0]);
      await page.mouse.down();
      for (const at of path.slice(1)) {
        await page.mouse.move(...at, { steps: 4 });
        await nextFrame(page);
        assert.equal((await state(page)).card, null);
      }
      await page.mouse.up();
      await page.waitForSelector('#selected');
      await nextFrame(page);
      assert.ok(Number((await page.textContent('#selected')).split(' ')[0].replace(',', '')) > 100);
      await close(page);
    },

    async 'every one of ten thousand errors has a ring'() {
      const lines = Array.from({ length: 15000 }, () => [normal(), normal(), 'abc'[Math.floor(3 * random())]].map((v) => (typeof v === 'number' ? v.toFixed(4) : v)).join(','));
      writeFileSync(join(folder, 'noise.csv'), `x,y,kind\n${lines.join('\n')}\n`);
      run('train', '--data', 'noise.csv', '--label', 'kind', '--method', 'pca', '--n-components', '2', '--quiet', '--limit', '300', '-o', 'noise.safetensors');
      run('view', 'noise.safetensors', '--data', 'noise.csv', '--label', 'kind', '-o', 'noise.html');
      const page = await open('noise.html');
      const { errors, ringed, tested } = await page.evaluate(() => {
        const { map, points, n, isError } = window.enhope.page;
        const g = document.getElementById('points').getContext('2d');
        const colors = [0, 1, 2].map((k) => getComputedStyle(document.documentElement).getPropertyValue(`--class-${k}`).trim());
        const rgb = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
        const wrong = Array.from({ length: n }, (_, i) => i).filter(isError);
        // of errors with no other point nearby
        const places = Array.from({ length: n }, (_, i) => map.screenOf(i));
        const alone = wrong.filter((i) => places.every(([x, y], j) => j === i || Math.hypot(x - places[i][0], y - places[i][1]) > 12)).slice(0, 40);
        const near = (p, color) => p.every((v, d) => Math.abs(v - color[d]) < 40);
        const ringed = alone.filter((i) => {
          const [x, y] = places[i].map(Math.round);
          const { data } = g.getImageData(x - 6, y - 6, 13, 13);
          let found = 0;
          for (let k = 0; k < 169; k++) found += near(data.slice(4 * k, 4 * k + 3), rgb(colors[points.label[i]]));
          return found >= 6;
        });
        return { errors: wrong.length, ringed: ringed.length, tested: alone.length };
      });
      assert.ok(errors > 8000 && tested >= 10, `${errors} errors, ${tested} alone`);
      assert.equal(ringed, tested);
      await close(page);
    },

    async 'without WebGL the page works; without DecompressionStream it gives the reason'() {
      for (const [what, message] of [['webgl', null], ['stream', /no DecompressionStream, which the page needs/]]) {
        const context = await browser.newContext({ viewport: { width: 700, height: 500 } });
        const page = await context.newPage();
        await page.addInitScript((lack) => {
          if (lack === 'stream') delete window.DecompressionStream;
          const { getContext } = HTMLCanvasElement.prototype;
          HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return /webgl/.test(kind) ? null : getContext.call(this, kind, ...rest);
          };
        }, what);
        await page.goto(file('wine.html'));
        if (message) assert.match(await page.textContent('#wait'), message);
        else await page.waitForSelector('html[data-ready]');
        await context.close();
      }
    },

    async 'search: rows or classes, no match, and the field stays in place'() {
      const page = await open('digits.html');
      const place = async () => (await page.locator('#search').boundingBox()).y;
      const before = await place();
      await page.click('#search');
      await page.keyboard.type('17');
      await waitForCount(page, 1);
      await page.waitForSelector('#selection:not([hidden])');
      assert.equal(await place(), before);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
      await page.fill('#search', '99999');
      await page.waitForFunction(() => /page has no row 99999/.test(document.getElementById('search-note').textContent));
      await page.click('#numbers button:nth-child(2)');
      assert.match(await page.textContent('#search-note'), /no class is named “99999”/);
      await page.fill('#search', '4');
      await page.waitForFunction(() => /matches/.test(document.getElementById('search-note').textContent));
      const fours = await visibleCount(page);
      assert.ok(fours > 50);
      assert.equal(await page.textContent('#search-note'), `${fours} matches. Enter shows the next one.`);
      await page.click('[data-class="4"]');
      await page.waitForFunction(() => /hidden by the other filters/.test(document.getElementById('search-note').textContent));
      await close(page);
    },

    async 'the regions are those of the model; names do not overlap; colors have legends'() {
      const page = await open('digits.html');
      const { different, overlaps, names, total } = await page.evaluate(() => {
        const { map, points, n } = window.enhope.page;
        let different = 0;
        for (let i = 0; i < n; i++) different += map.classAt(...map.screenOf(i)) !== points.label[i];
        const { labels, nameSize } = map.scene(document.createElement('canvas').getContext('2d'));
        let overlaps = 0;
        labels.forEach((a, i) => labels.forEach((b, j) => (overlaps += i < j && Math.abs(a.y - b.y) < nameSize && a.x < b.x + b.wide && b.x < a.x + a.wide)));
        return { different, overlaps, names: labels.map((l) => l.name), total: labels.reduce((sum, l) => sum + Number(l.count.replace(',', '') || 0), 0) };
      });
      assert.ok(different <= 1, `${different} points are in regions of other classes`);
      assert.equal(overlaps, 0);
      assert.ok(new Set(names).size >= 8 && total >= 1100, names.join());
      // No point shows through between a name and its number, like a decimal point.
      const gaps = await page.evaluate(() => {
        const g = document.getElementById('overlay').getContext('2d');
        const { labels } = window.enhope.page.map.scene(document.createElement('canvas').getContext('2d'));
        const { data, width } = g.getImageData(0, 0, g.canvas.width, g.canvas.height);
        return labels.filter(({ count }) => count).map(({ count, x, y, wide }) => {
          const at = x + wide - g.measureText(` ${count}`).width + g.measureText(' ').width / 2;
          return [-3, 0, 3].every((dy) => data[4 * (Math.round(y + dy) * width + Math.round(at)) + 3] === 255);
        });
      });
      assert.ok(gaps.length >= 8 && gaps.filter(Boolean).length >= gaps.length - 2, gaps.join()); // the tools move a name
      await page.selectOption('#color', 'error');
      assert.match(await page.textContent('#color-legend'), /correctmisclassified/);
      await page.selectOption('#color', 'probability');
      const ends = await page.evaluate(() => [Math.min, Math.max].map((end) => `${(100 * end(...window.enhope.page.points.proba)) / 65535}`).map((p) => `${Number(p).toFixed(0)} %`));
      assert.equal(await page.textContent('#color-legend'), ends.join(''));
      await shoot(page, 'probability');
      await page.selectOption('#color', 'exemplar');
      assert.equal(await page.locator('#color-legend .chips span').count(), 12);
      await close(page);

      const table = await open('wine.html');
      const hidden = await table.evaluate(() => {
        const { labels, marks, radius, nameSize } = window.enhope.page.map.scene(document.createElement('canvas').getContext('2d'));
        return marks.filter(([x, y]) => labels.some((l) => x > l.x - radius && x < l.x + l.wide + radius && Math.abs(y - l.y) < nameSize / 2 + radius)).length;
      });
      assert.equal(hidden, 0, 'exemplars below names');
      await table.selectOption('#color', { label: 'alcohol' });
      const values = readFileSync(join(folder, 'wine.csv'), 'utf8').trim().split('\n').slice(1).map((line) => Number(line.split(',')[0]));
      const scale = (await table.locator('#color-legend .scale span').allTextContents()).map(Number);
      assert.ok(Math.abs(scale[0] - Math.min(...values)) < 0.01 && Math.abs(scale[1] - Math.max(...values)) < 0.01, String(scale));
      await shoot(table, 'wine');
      await close(table);
    },

    async 'spread draws the points of a class apart, by the rank of their distance'() {
      const page = await open('digits.html');
      const measure = () => page.evaluate(() => {
        const { map, points, n } = window.enhope.page;
        const far = Array.from({ length: n }, (_, i) => {
          const [[x, y], [a, b]] = [map.screenOf(i), map.screenOfExemplar(points.winner[i])];
          return Math.hypot(x - a, y - b);
        });
        const one = far.map((_, i) => i).filter((i) => points.winner[i] === points.winner[0]).sort((a, b) => points.rank[a] - points.rank[b]);
        return { near: far.filter((d) => d < 10.5).length / n, falls: one.filter((i, k) => k && far[i] < far[one[k - 1]] - 0.01).length };
      });
      const before = await measure();
      await page.fill('#spread', '100');
      const after = await measure();
      assert.ok(after.near < 0.4 && after.near < before.near, `${before.near} ${after.near}`);
      assert.equal(after.falls, 0);
      assert.ok(await page.locator('#regions').isDisabled());
      await shoot(page, 'spread');
      await page.fill('#spread', '0');
      assert.deepEqual(await measure(), before);
      await close(page);
    },

    async 'the address has the view, the filters and the colors'() {
      const page = await open('digits.html');
      await page.click('[data-class="3"]');
      await page.click('#correctness button:nth-child(3)');
      await page.selectOption('#color', 'prediction');
      await page.click('#zoom-in');
      await page.fill('#spread', '40');
      await address(page, 'spread=0.4');
      const expected = await page.evaluate(() => ({ count: document.getElementById('visible-count').textContent, at: window.enhope.page.map.screenOf(7).map(Math.round), hash: location.hash }));
      await page.goto('about:blank');
      await page.goto(file('digits.html') + expected.hash);
      await page.waitForSelector('html[data-ready]');
      assert.deepEqual(await page.evaluate(() => ({ count: document.getElementById('visible-count').textContent, at: window.enhope.page.map.screenOf(7).map(Math.round), hash: location.hash })), expected);
      assert.equal(await page.inputValue('#color'), 'prediction');
      assert.equal(await page.getAttribute('[data-class="3"]', 'aria-pressed'), 'false');
      // Values that the page does not have are ignored.
      await page.evaluate(() => (location.hash = '#view=x,y&hide=77,-1&cell=500,2&point=1e9&exemplar=-7&color=<b>&spread=9&below=abc'));
      await page.waitForFunction(() => document.getElementById('visible-count').textContent.startsWith('1,500'));
      assert.equal(await page.inputValue('#color'), 'class');
      page.noise = [];
      await close(page);
    },

    async 'a legend of 100 classes is sorted, filtered and faded'() {
      const blobs = 'synthetic:blobs,n=1500,classes=100,inputs=6,seed=4';
      run('train', '--data', blobs, '--n-epochs', '2', '--quiet', '-o', 'hundred.safetensors');
      run('view', 'hundred.safetensors', '--data', blobs, '-o', 'hundred.html');
      const page = await open('hundred.html', { viewport: { width: 1280, height: 800 } });
      const rates = await page.locator('#classes .rate').evaluateAll((all) => all.map((e) => parseFloat(e.textContent) || 0));
      assert.equal(rates.length, 100);
      assert.deepEqual(rates, [...rates].sort((a, b) => b - a));
      assert.ok(await page.evaluate(() => document.getElementById('classes').clientHeight <= 320 && document.getElementById('confusions').compareDocumentPosition(document.getElementById('classes-part')) & Node.DOCUMENT_POSITION_FOLLOWING));
      await page.selectOption('#class-order', 'name');
      const names = await page.locator('#classes .class b').allTextContents();
      assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })));
      await page.fill('#class-filter', names[41]);
      assert.ok((await page.locator('#classes .class').count()) < 12);
      const button = page.locator('#classes .class').first();
      await button.click();
      assert.deepEqual(await button.locator('b').evaluate((e) => [getComputedStyle(e).textDecorationLine, Number(getComputedStyle(e).opacity) < 0.5]), ['none', true]);
      await page.fill('#class-filter', '');
      await shoot(page, 'hundred');
      await close(page);
    },

    async 'an SVG file has the points, the names, the legend and the title'() {
      const page = await open('wine.html');
      const svg = readFileSync(await download(page, '#save-svg'), 'utf8');
      const found = await page.evaluate((text) => {
        const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
        return { error: Boolean(parsed.querySelector('parsererror')), points: parsed.querySelectorAll('svg svg g:not([stroke]) circle').length, texts: [...parsed.querySelectorAll('text')].map((e) => e.textContent), title: parsed.querySelector('title').textContent };
      }, svg);
      assert.equal(found.error, false);
      assert.equal(found.points, 178);
      assert.equal(found.title, await page.title());
      assert.ok(['north', 'south', 'west'].every((name) => found.texts.includes(name)), found.texts.join());
      await close(page);
    },
  };
}
