// Tests of the clusters of a map (viewer/src/map/clusters.js) on positions with known clusters.
//
// usage: node clusters.mjs CLUSTERS.JS
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { findClusters } = await import(pathToFileURL(resolve(process.argv[2])));

let state = 7;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const points = (n, place) => Array.from({ length: n }, (_, i) => place(i)); // [x, y, cluster]
const find = (list) => findClusters(Float32Array.from(list, ([x]) => x), Float32Array.from(list, ([, y]) => y));

// The adjusted Rand index of two divisions: 1 if they are equal, about 0 if one is random.
function agreement(a, b) {
  const add = (table, key) => table.set(key, (table.get(key) || 0) + 1);
  const [both, first, second] = [new Map(), new Map(), new Map()];
  a.forEach((k, i) => {
    add(both, `${k} ${b[i]}`);
    add(first, k);
    add(second, b[i]);
  });
  const pairs = (table) => [...table.values()].reduce((sum, size) => sum + (size * (size - 1)) / 2, 0);
  const expected = (pairs(first) * pairs(second)) / ((a.length * (a.length - 1)) / 2);
  return (pairs(both) - expected) / ((pairs(first) + pairs(second)) / 2 - expected);
}

function expectClusters(name, list, count, min) {
  const found = find(list);
  const index = agreement(Array.from(found.of), list.map(([, , k]) => k));
  console.log(`${name}, ${list.length} points: ${found.count} clusters, agreement ${index.toFixed(3)}`);
  assert.equal(found.count, count, name);
  assert.ok(index >= min, `${name}: ${index}`);
  // The largest cluster is the first.
  const sizes = new Array(found.count + 1).fill(0);
  for (const k of found.of) sizes[k]++;
  const own = sizes.slice(0, found.count);
  assert.deepEqual(own, [...own].sort((a, b) => b - a), name);
}

const disc = (n) => points(n, () => {
  const [r, t] = [Math.sqrt(random()), 2 * Math.PI * random()];
  return [3.7 * r * Math.cos(t), 3.7 * r * Math.sin(t), 0];
});
const gauss = (n, s, ...centers) => points(n, (i) => [s * normal() + centers[i % centers.length][0], s * normal() + centers[i % centers.length][1], i % centers.length]);

const tests = {
  'a map without clusters has one'() {
    for (const n of [23, 151, 2003, 30011]) {
      assert.equal(find(disc(n)).count, 1, `disc of ${n}`);
      assert.equal(find(gauss(n, 1.3, [0, 0])).count, 1, `normal distribution of ${n}`);
    }
  },
  'separate clusters are found, also of few points'() {
    for (const n of [61, 301, 10007]) expectClusters('three apart', gauss(n, 1, [0, 0], [5.3, 4.1], [10.2, -0.4]), 3, 0.98);
  },
  'clusters that touch are divided at the sparsest place'() {
    expectClusters('two that overlap', gauss(10007, 1, [0, 0], [3.5, 0.2]), 2, 0.8);
    expectClusters('thirty discs', points(10007, () => {
      const [k, r, t] = [Math.floor(30 * random()), 0.41 * Math.sqrt(random()), 2 * Math.PI * random()];
      return [r * Math.cos(t) + (k % 6) + 0.5 * (Math.floor(k / 6) % 2), r * Math.sin(t) + 0.87 * Math.floor(k / 6), k];
    }), 30, 0.99);
  },
  'clusters may be bent, and of different sizes and densities'() {
    expectClusters('moons', points(10007, (i) => {
      const t = Math.PI * random();
      return i % 2 ? [Math.cos(t) + 0.08 * normal(), Math.sin(t) + 0.08 * normal(), 1] : [1 - Math.cos(t) + 0.08 * normal(), 0.5 - Math.sin(t) + 0.08 * normal(), 0];
    }), 2, 0.98);
    expectClusters('sizes', points(10007, () => {
      const k = Math.floor(12 * random() ** 2);
      const s = 0.08 + 0.04 * (k % 4);
      return [s * normal() + (k % 4), s * normal() + Math.floor(k / 4), k];
    }), 12, 0.95);
  },
  'points far away neither hide the clusters nor belong to one'() {
    const list = points(3001, (i) => (i % 100 === 7 ? [40 * normal(), 40 * normal(), 10] : [0.01 * normal() + Math.cos(0.628 * (i % 10)), 0.01 * normal() + Math.sin(0.628 * (i % 10)), i % 10]));
    expectClusters('outliers', list, 10, 0.98);
    const { of, count } = find(list);
    assert.ok(list.every(([x, y], i) => Math.hypot(x, y) < 12 || of[i] === count));
  },
  'equal positions, a line and few points'() {
    assert.equal(find(points(500, () => [1.5, -2.25])).count, 1);
    assert.equal(find(points(500, (i) => [i % 2, 1.5])).count, 2);
    assert.equal(find(points(500, (i) => [i, 0])).count, 1);
    for (const n of [1, 2, 3, 7]) assert.equal(find(points(n, (i) => [i * 1.7, i % 2])).of.length, n);
  },
  'the order of the points may have a period'() {
    expectClusters('period of six', gauss(60000, 1, [0, 0], [6.1, 0.3], [0.2, 5.8], [6.4, 6.2], [12.3, 0.1], [12.2, 6.3]), 6, 0.98);
  },
  'the result depends on the positions only, not on their order or scale'() {
    const list = gauss(4001, 1, [0, 0], [4.4, 3.1], [9.1, -0.7], [2.2, 8.8]);
    const { of } = find(list);
    assert.deepEqual(find(list).of, of);
    const reversed = find([...list].reverse());
    assert.deepEqual(Array.from(reversed.of).reverse(), Array.from(of));
    assert.ok(agreement(Array.from(find(list.map(([x, y, k]) => [1000 * x + 7, 1000 * y, k])).of), Array.from(of)) > 0.99);
  },
  '100,000 points take less than a second'() {
    const list = points(100000, () => {
      const k = Math.floor(40 * random());
      return [0.16 * normal() + (k % 7), 0.16 * normal() + Math.floor(k / 7), k];
    });
    const [u, v] = [0, 1].map((d) => Float32Array.from(list, (p) => p[d]));
    let best = Infinity;
    for (let round = 0; round < 3; round++) {
      const before = process.cpuUsage();
      assert.equal(findClusters(u, v).count, 40);
      const { user, system } = process.cpuUsage(before); // does not depend on other processes
      best = Math.min(best, (user + system) / 1e6);
    }
    console.log(`100,000 points: ${best.toFixed(2)} s of CPU time`);
    assert.ok(best < 1, `${best} s`);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    test();
    console.log(`ok     ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
