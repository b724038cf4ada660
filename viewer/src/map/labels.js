// The names of the groups on the map, with the numbers of their visible points.
import { about, count } from '../data.js';

const SAMPLE = 1500; // points of a class that its place is computed from
const OTHER_PLACE = 0.2; // share of the points of a class at another exemplar that has a name of its own

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

// The places of the names: for each group the middle of its visible points at the exemplar where it
// has most of them, and other exemplars with a large share; of a cluster its point nearest to the
// middle, because clusters may be bent. [{group, name, u, v, size, count}], `count` of the group only at
// its first place, `size` the typical distance from the middle. naming: that of map.setNames.
export function findAnchors(places, base, { group, names, skip, winner }) {
  const r = winner ? about.exemplars.length : 0;
  const groups = Math.min(names.length, skip);
  const columns = r && r * groups < 1e6 ? r : 1;
  const key = (i) => group[i] * columns + (columns > 1 ? winner[i] : 0);
  const table = new Uint32Array(groups * columns);
  for (let i = 0; i < base.length; i++) if (base[i] === 1 && group[i] < groups) table[key(i)]++;
  const wanted = [];
  const slot = new Int32Array(groups * columns); // 1 + index in wanted; 0: none
  for (let k = 0; k < groups; k++) {
    const row = table.subarray(k * columns, (k + 1) * columns);
    const total = row.reduce((a, b) => a + b, 0);
    if (!total) continue;
    const order = [...row.keys()].filter((j) => row[j]).sort((a, b) => row[b] - row[a]);
    order.filter((j, rank) => rank === 0 || row[j] > OTHER_PLACE * total).forEach((j, rank) => {
      slot[k * columns + j] = wanted.push({ group: k, name: names[k], total, count: rank ? 0 : total, us: [], vs: [] });
    });
  }
  for (let i = 0; i < base.length; i++) {
    const anchor = base[i] === 1 && group[i] < groups ? wanted[slot[key(i)] - 1] : undefined;
    if (!anchor || anchor.us.length >= SAMPLE) continue;
    anchor.us.push(places.u[i]);
    anchor.vs.push(places.v[i]);
  }
  return wanted.map(({ us, vs, ...anchor }) => {
    let [u, v] = [median([...us]), median([...vs])];
    if (!winner) {
      const nearest = us.reduce((best, a, i) => (Math.hypot(a - u, vs[i] - v) < Math.hypot(us[best] - u, vs[best] - v) ? i : best), 0);
      [u, v] = [us[nearest], vs[nearest]];
    }
    return { ...anchor, u, v, size: median(us.map((a, i) => Math.hypot(a - u, vs[i] - v))) };
  }).sort((a, b) => Boolean(b.count) - Boolean(a.count) || b.total - a.total);
}

// The places of the groups of a frame of the animation: [[u, v, group]].
export function frameAnchors(points, { names, skip }) {
  const lists = new Map();
  for (const [u, v, k] of points) {
    if (k >= skip) continue;
    if (!lists.has(k)) lists.set(k, [[], []]);
    lists.get(k)[0].push(u);
    lists.get(k)[1].push(v);
  }
  return [...lists].map(([k, [us, vs]]) => ({ group: k, name: names[k], total: us.length, count: 0, u: median(us), v: median(vs), size: 0 }));
}

const LONGEST = 34; // characters of a name

const short = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

// Places the names without collisions, those of larger classes first: [{group, name, count, x, y, wide}]
// with the left end of the text at its middle line. measure(text, bold) gives widths; obstacles:
// boxes [left, top, right, bottom] without names; circles: boxes that names cover only if they have
// no other place. A class has one name within APART pixels.
const APART = 110;
const COUNTED = 40; // more classes have names without numbers
const WIDE = 24; // pixels; the name of a class of this size is on its middle, others are beside it

const overlaps = (box) => (t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3];

export function placeLabels(anchors, camera, measure, high, obstacles = [], circles = []) {
  const taken = [...obstacles];
  const named = [];
  const out = [];
  for (const { group, name: whole, count: counted, u, v, size } of anchors) {
    const [x, y] = camera.at(u, v);
    if (x < 0 || y < 0 || x > camera.wide || y > camera.high) continue;
    if (named.some(([k, a, b]) => k === group && Math.hypot(a - x, b - y) < APART)) continue;
    const name = short(whole);
    const number = counted && anchors.length <= COUNTED ? count(counted) : '';
    const wide = measure(name, true) + (number ? measure(` ${number}`, false) : 0);
    const extent = size * camera.scale;
    const away = Math.min(26, 8 + extent) + high / 2;
    const side = away - high / 2;
    const beside = [[x - wide / 2, y - away], [x - wide / 2, y + away], [x + side, y], [x - side - wide, y], [x + side, y - away], [x - side - wide, y - away], [x + side, y + away], [x - side - wide, y + away]];
    const free = (extent > WIDE ? [[x - wide / 2, y], ...beside] : beside)
      .map(([left, middle]) => [left - 3, middle - high / 2 - 1, left + wide + 3, middle + high / 2 + 1])
      .filter((box) => box[0] >= 2 && box[1] >= 2 && box[2] <= camera.wide - 2 && box[3] <= camera.high - 2 && !taken.some(overlaps(box)));
    if (!free.length) continue;
    const box = free.find((one) => !circles.some(overlaps(one))) || free[0];
    taken.push(box);
    named.push([group, x, y]);
    out.push({ group, name, count: number, x: box[0] + 3, y: (box[1] + box[3]) / 2, wide });
  }
  return out;
}
