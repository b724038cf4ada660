// Tests of the page for models without classes: groups, clusters and their names, colors, pictures,
// the search, and the density of many points. browser.mjs runs them.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

let state = 11;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const KINDS = ['ale', 'lager', 'stout'];
// A table of three groups: the first has much sugar, the second little body, the third another color.
function beers(n) {
  const rows = [];
  for (let i = 0; i < n; i++) {
    const k = i % 3;
    const numbers = [5 + 9 * (k === 0) + normal(), 40 - 16 * (k === 1) + 2 * normal(), 3 + 0.3 * normal(), 12.5 + normal()];
    rows.push([...numbers.map((v) => v.toFixed(3)), i % 45 === 8 ? 'amber' : ['pale', 'amber', 'dark'][k], `beer ${i}${i % 50 === 7 ? ' special' : ''}`, KINDS[k]]);
  }
  return rows;
}
const HEADER = ['sugar', 'body', 'foam', 'price', 'shade', 'name', 'kind'];

// An NPY file of numbers of one byte or of floats.
function writeNpy(file, shape, values) {
  const type = values instanceof Uint8Array ? '|u1' : '<f4';
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(', ')})}`;
  const size = Math.ceil((11 + header.length) / 64) * 64 - 10;
  const start = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  start.writeUInt16LE(size, 8);
  writeFileSync(file, Buffer.concat([start, Buffer.from(`${header.padEnd(size - 1)}\n`), Buffer.from(values.buffer)]));
}

export function groupTests({ open, close, run, shoot, waitForCount, visibleCount, download, folder, isolatedPoint, cells }) {
  const rows = beers(450);
  const at = (name) => join(folder, name);
  const hidden = (page, ids) => page.evaluate((of) => of.filter((id) => document.getElementById(id).offsetParent !== null), ids);
  const scene = (page) => page.evaluate(() => {
    const { labels, pictures } = window.enhope.page.map.scene(document.createElement('canvas').getContext('2d'));
    return { names: labels.map(({ name }) => name), pictures };
  });
  const note = (page, pattern) => page.waitForFunction((text) => new RegExp(text).test(document.getElementById('search-note').textContent), pattern);
  const table = (columns) => [HEADER, ...rows].map((row) => row.slice(0, columns).join(',')).join('\n') + '\n';
  const train = () => {
    writeFileSync(at('beers.csv'), table(6));
    writeFileSync(at('kinds.csv'), table(7));
    run('train', '--data', 'beers.csv', '--label', 'none', '--ignore', 'name', '--method', 'pca', '--quiet', '-o', 'beers.safetensors');
  };

  return {
    async 'without classes: labels are colors, and parts that need classes are absent'() {
      train();
      run('view', 'beers.safetensors', '--data', 'kinds.csv', '--label', 'kind', '--keep', 'name', '-o', 'kinds.html');
      const page = await open('kinds.html');
      assert.match(await page.textContent('#figures'), /^[\d.]+ kBmodel, /); // and no error
      assert.match(await page.textContent('#subtitle'), /^450 points, 3 labels$/);
      assert.deepEqual(await hidden(page, ['confusions', 'correctness', 'confidence-part', 'filters', 'importance', 'exemplars-part', 'spread-part', 'regions-part', 'marks-part']), []);
      assert.equal(await page.textContent('#classes-heading'), 'Labels');
      assert.deepEqual((await page.locator('#classes b').allTextContents()).sort(), KINDS);
      assert.deepEqual((await page.locator('#color option').evaluateAll((all) => all.map((o) => o.value))).slice(0, 3), ['class', 'cluster', 'density']);
      assert.equal(await page.textContent('#visible-count'), '450 of 450 points');
      // The names on the map are the labels of the clusters.
      assert.deepEqual((await scene(page)).names.sort(), KINDS);
      await shoot(page, 'labels');

      const one = await isolatedPoint(page, { wrong: false });
      await page.mouse.click(one.x, one.y);
      await page.waitForSelector('#selection:not([hidden])');
      const facts = Object.fromEntries(await page.evaluate(() => [...document.querySelectorAll('#selection dl:not(.fields) dt')].map((name) => [name.textContent, name.nextSibling.textContent])));
      const row = rows[facts.row - 1];
      assert.deepEqual({ ...facts, cluster: '' }, { row: facts.row, label: row[6], cluster: '', name: row[5] });
      assert.match(facts.cluster, /^([123]|none)$/);
      await page.keyboard.press('Escape');

      const text = readFileSync(await download(page, '#save-csv'), 'utf8');
      assert.ok(text.startsWith('row,part,label,cluster,y1,y2,name\n'));
      const places = cells(run('embed', 'beers.safetensors', '--data', 'beers.csv', '--label', 'none'));
      const clusterOf = new Map();
      let other = 0;
      for (const [i, , label, cluster, y1, y2, name] of cells(text)) {
        assert.deepEqual([label, name], [rows[i - 1][6], rows[i - 1][5]]);
        assert.ok(Math.abs(y1 - places[i - 1][0]) < 1e-3 && Math.abs(y2 - places[i - 1][1]) < 1e-3);
        if (!clusterOf.has(label)) clusterOf.set(label, cluster);
        other += clusterOf.get(label) !== cluster;
      }
      assert.ok(new Set(clusterOf.values()).size === 3 && other <= 9, `${other} points in other clusters`);
      await close(page);
    },

    async 'without labels: clusters have names of columns, and are filtered'() {
      run('view', 'beers.safetensors', '--data', 'beers.csv', '--label', 'none', '-o', 'beers.html');
      const page = await open('beers.html');
      assert.equal(await page.textContent('#classes-heading'), 'Clusters');
      const listed = (await page.locator('#classes b').allTextContents()).filter((name) => name !== 'no cluster');
      assert.equal(listed.length, 3);
      for (const wanted of ['high sugar', 'low body', 'shade: dark']) assert.equal(listed.filter((name) => name.includes(wanted)).length, 1, listed.join('; '));
      assert.deepEqual((await scene(page)).names.sort(), [...listed].sort());
      assert.match(await page.locator('#classes .class').first().getAttribute('title'), /^Cluster 1; .*\(\d\.\d SD\)/);
      const first = Number(await page.locator('#classes .class span').first().textContent());
      await page.locator('#classes .class').first().click();
      await waitForCount(page, 450 - first);
      assert.equal((await scene(page)).names.length, 2);
      await page.click('#all-classes');
      await page.click('#labels');
      assert.deepEqual((await scene(page)).names, []);
      await page.waitForFunction(() => /names=0/.test(location.hash));
      await page.click('#labels');

      // Columns: numbers have a scale, categories a list.
      await page.selectOption('#color', { label: 'price' });
      const prices = rows.map((row) => Number(row[3]));
      const ends = (await page.locator('#color-legend .scale span').allTextContents()).map(Number);
      assert.ok(Math.abs(ends[0] - Math.min(...prices)) < 1e-3 && Math.abs(ends[1] - Math.max(...prices)) < 1e-3, String(ends));
      await page.selectOption('#color', { label: 'shade' });
      assert.deepEqual((await page.locator('#color-legend .chips span').allTextContents()).sort(), ['amber', 'dark', 'pale']);
      await page.selectOption('#color', 'density');
      assert.equal(await page.textContent('#color-legend'), 'sparsedense');

      // Edited fields are placed where the command places them.
      await page.click('#tab-try');
      await page.locator('.field input').first().fill('15.25');
      const x = await page.evaluate(() => [...document.querySelectorAll('.field')].map((field) => {
        const control = field.querySelector('input, select');
        return [field.querySelector('span').textContent, control.tagName === 'SELECT' ? control.selectedOptions[0].textContent : control.value];
      }));
      writeFileSync(at('one.csv'), `${x.map(([name]) => name).join(',')}\n${x.map(([, value]) => value).join(',')}\n`);
      const [expected] = cells(run('embed', 'beers.safetensors', '--data', 'one.csv', '--label', 'none'));
      const placed = (await page.textContent('.answer .note')).match(/^At ([-\d.]+), ([-\d.]+); the cluster of the nearest point$/).slice(1);
      placed.forEach((value, d) => assert.ok(Math.abs(value - expected[d]) <= 0.006 * Math.max(1, Math.abs(expected[d])), `${value} ${expected[d]}`));
      assert.ok(listed.includes(await page.textContent('#answer')));
      assert.equal(await page.locator('.results .gallery button').count(), 12);
      await shoot(page, 'clusters');
      await close(page);

      const phone = await open('beers.html', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, colorScheme: 'dark' });
      assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
      await shoot(phone, 'clusters-phone');
      await close(phone);
    },

    async 'the search finds texts, categories, numbers and predictions; Enter shows the next match'() {
      const page = await open('kinds.html');
      const find = async (text, n) => {
        await page.fill('#search', text);
        await waitForCount(page, n);
      };
      await find('special', 9);
      assert.equal(await page.textContent('#search-note'), '9 matches. Enter shows the next one.');
      // The other points are still there, but faded.
      const strength = (wanted) => page.evaluate((is) => {
        const { page: { map, n, visible } } = window.enhope;
        const g = document.getElementById('points').getContext('2d');
        const matches = new Set(visible);
        const sums = Array.from({ length: n }, (_, i) => i).filter((i) => matches.has(i) === is).map((i) => {
          const [x, y] = map.screenOf(i).map(Math.round);
          return g.getImageData(x, y, 1, 1).data.slice(0, 3).reduce((sum, v) => sum + 250 - v, 0);
        });
        return sums.sort((a, b) => a - b)[sums.length >> 1];
      }, wanted);
      const [found, others] = [await strength(true), await strength(false)];
      assert.ok(others > 5 && found > 2 * others, `${found} ${others}`);
      await shoot(page, 'search');

      const seen = [];
      await page.focus('#search');
      for (let k = 1; k <= 10; k++) {
        await page.keyboard.press('Enter');
        assert.equal(await page.textContent('#search-note'), `Match ${((k - 1) % 9) + 1} of 9.`);
        seen.push(await page.evaluate(() => window.enhope.page.points.row[window.enhope.page.pinned]));
      }
      assert.deepEqual(seen.slice(0, 9).map((row) => rows[row - 1][5]), rows.map((row) => row[5]).filter((name) => name.includes('special')));
      assert.equal(seen[9], seen[0]);
      await page.keyboard.press('Shift+Enter');
      assert.equal(await page.textContent('#search-note'), 'Match 9 of 9.');
      // A match outside the view comes into it.
      await page.evaluate(() => window.enhope.page.map.zoom(40));
      await page.keyboard.press('Enter');
      const inside = await page.evaluate(() => {
        const [x, y] = window.enhope.page.map.screenOf(window.enhope.page.pinned);
        const { wide, high } = window.enhope.page.map.camera;
        return x > 0 && y > 0 && x < wide && y < high;
      });
      assert.ok(inside);
      await page.click('#fit');

      await find('stout', 150);
      await find('amber', rows.filter((row) => row[4] === 'amber').length); // a category
      await find('label: lager', 150);
      await find('shade: dark', rows.filter((row) => row[4] === 'dark').length);
      await find('sugar: > 10', rows.filter((row) => Number(row[0]) > 10).length);
      await find('price:<=12.5', rows.filter((row) => Number(row[3]) <= 12.5).length);
      await find('name: beer 44', rows.filter((row) => row[5].includes('beer 44')).length);
      await find('row: 17', 1);
      await find('17', 1);
      await page.fill('#search', 'water');
      await note(page, '^No match: no class is named “water”');
      await page.fill('#search', 'shade: blue');
      await note(page, '^No match: no point has “blue” as shade');
      await close(page);

      const digits = await open('digits.html');
      const predicted = await digits.evaluate(() => window.enhope.page.points.label.reduce((sum, k) => sum + (window.enhope.about.classes[k] === '8'), 0));
      await digits.fill('#search', 'predicted: 8');
      await waitForCount(digits, predicted);
      await close(digits);
    },

    async 'words: clusters have names of words, and the search finds them'() {
      const names = ['ball', 'goal', 'team', 'moon', 'orbit', 'rocket', 'the'];
      const lines = Array.from({ length: 400 }, (_, i) => `0 ${[0, 1, 2].filter((j) => (i * (j + 3) + j) % 4).map((j) => `${j + 1 + 3 * (i % 2)}:1`).join(' ')} 7:1`);
      writeFileSync(at('texts.svm'), `${lines.join('\n')}\n`);
      const values = new Float32Array(400 * 7);
      lines.forEach((line, i) => line.split(' ').slice(1).filter(Boolean).forEach((pair) => (values[7 * i + Number(pair.split(':')[0]) - 1] = 1)));
      writeNpy(at('texts.npy'), [400, 7], values);
      run('train', '--data', 'texts.npy', '--method', 'pca', '--quiet', '-o', 'texts.safetensors');
      run('view', 'texts.safetensors', '--data', 'texts.svm', '-o', 'texts.html');
      const file = at('texts.html');
      writeFileSync(file, readFileSync(file, 'utf8').replace('"names":null', `"names":${JSON.stringify(names)}`));
      const page = await open('texts.html');
      await page.selectOption('#color', 'cluster');
      const described = await page.evaluate(() => window.enhope.page.clusters().described);
      assert.ok(described.some((text) => /ball|goal|team/.test(text)) && described.some((text) => /moon|orbit|rocket/.test(text)) && described.every((text) => !/the \(/.test(text)), described.join('\n'));
      await page.fill('#search', 'rock');
      await waitForCount(page, lines.filter((line) => / 6:1/.test(line)).length);
      await close(page);
    },

    async 'images: pictures cover no name and no other picture; more appear with zoom, or none'() {
      const images = new Uint8Array(600 * 64);
      for (let i = 0; i < 600; i++)
        for (let p = 0; p < 64; p++) images[64 * i + p] = Math.max(0, Math.min(255, 200 * random() + (Math.floor(p / 8) === 2 + (i % 4) ? 110 : 0)));
      writeNpy(at('images.npy'), [600, 8, 8], images);
      run('train', '--data', 'images.npy', '--method', 'pca', '--quiet', '-o', 'images.safetensors');
      run('view', 'images.safetensors', '--data', 'images.npy', '-o', 'images.html');
      const page = await open('images.html');
      const pictures = async () => (await scene(page)).pictures;
      const few = await pictures();
      assert.ok(few.length >= 4 && few.length < 120, `${few.length} pictures`);
      // None is over another or over a name.
      const covered = await page.evaluate((drawn) => {
        const { map } = window.enhope.page;
        const { labels } = map.scene(document.createElement('canvas').getContext('2d'));
        const places = drawn.map((i) => map.screenOf(i));
        const near = places.filter(([x, y], a) => places.some(([p, q], b) => b !== a && Math.abs(x - p) < 30 && Math.abs(y - q) < 30));
        return [near.length, places.filter(([x, y]) => labels.some((l) => x + 13 > l.x && x - 13 < l.x + l.wide && Math.abs(y - l.y) < 18)).length];
      }, few);
      assert.deepEqual(covered, [0, 0]);
      const share = async () => (await pictures()).length / await page.evaluate(() => {
        const { map, n } = window.enhope.page;
        return Array.from({ length: n }, (_, i) => map.screenOf(i)).filter(([x, y]) => x > 0 && y > 0 && x < map.camera.wide && y < map.camera.high).length;
      });
      const before = await share();
      await page.evaluate(() => window.enhope.page.map.zoom(3) || window.enhope.page.map.paint());
      assert.ok((await share()) > 1.5 * before);
      await shoot(page, 'pictures');
      await page.click('#pictures');
      await page.waitForFunction(() => /pictures=0/.test(location.hash));
      assert.deepEqual(await pictures(), []);
      await close(page);
    },

    async 'many points without classes are a density'() {
      const n = 120000;
      const values = new Float32Array(2 * n);
      for (let i = 0; i < n; i++) values.set([normal() + 9 * (i % 2), normal() + 7 * (i % 3 === 1)], 2 * i);
      writeNpy(at('many.npy'), [n, 2], values);
      run('train', '--data', 'many.npy', '--method', 'pca', '--limit', '3000', '--quiet', '-o', 'many.safetensors');
      run('view', 'many.safetensors', '--data', 'many.npy', '--bare', '-o', 'many.html');
      const page = await open('many.html');
      assert.equal(await visibleCount(page), n);
      const { clusters, middle, edge, frame } = await page.evaluate(() => {
        const { page: { map, clusters, group } } = window.enhope;
        const { of, count, density } = clusters();
        const color = getComputedStyle(document.documentElement).getPropertyValue('--class-0').trim();
        const wanted = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
        const g = document.getElementById('points').getContext('2d');
        const own = Array.from(of.keys()).filter((i) => group[i] === 0).sort((a, b) => density[a] - density[b]);
        // The mean difference from the color of the cluster.
        const away = (list) => list.map((i) => {
          const [x, y] = map.screenOf(i).map(Math.floor);
          return g.getImageData(x, y, 1, 1).data.slice(0, 3).reduce((sum, v, d) => sum + Math.abs(v - wanted[d]), 0);
        }).reduce((a, b) => a + b, 0) / list.length;
        map.setShow({ labels: false });
        map.paint();
        const out = { clusters: count, middle: away(own.slice(-200)), edge: away(own.slice(100, 300)) };
        const started = performance.now();
        map.zoom(1.01);
        map.paint();
        return { ...out, frame: performance.now() - started };
      });
      console.log(`       120,000 points without classes: a frame in ${frame.toFixed(0)} ms`);
      assert.equal(clusters, 4);
      assert.ok(middle < 0.5 * edge, `${middle} ${edge}`);
      assert.ok(frame < 2000);
      await shoot(page, 'many');
      await close(page);
    },

    async 'a map without clusters has one color and no names'() {
      writeNpy(at('round.npy'), [300, 3], Float32Array.from({ length: 900 }, normal));
      run('train', '--data', 'round.npy', '--method', 'pca', '--quiet', '-o', 'round.safetensors');
      run('view', 'round.safetensors', '--data', 'round.npy', '-o', 'round.html');
      const page = await open('round.html');
      assert.deepEqual(await hidden(page, ['classes-part', 'labels-part', 'pictures-part', 'filters', 'confusions']), []);
      assert.deepEqual((await scene(page)).names, []);
      assert.equal(await page.locator('#color option').first().textContent(), 'one color');
      const one = await isolatedPoint(page, { wrong: false });
      await page.mouse.move(one.x + 30, one.y + 30);
      await page.mouse.move(one.x, one.y, { steps: 2 });
      await page.waitForSelector('#card:not([hidden])');
      assert.match(await page.textContent('#card'), /^Row \d+input 1/);
      await page.mouse.click(one.x, one.y);
      await page.waitForFunction(() => /^Row \d+$/.test(document.getElementById('announcement').textContent));
      const svg = readFileSync(await download(page, '#save-svg'), 'utf8');
      assert.equal(svg.match(/<circle/g).length, 300);
      await close(page);
    },
  };
}
