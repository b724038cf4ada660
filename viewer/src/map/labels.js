// The names of the classes on the map, with the numbers of their visible points.
import { about, count, names } from '../data.js';

const SAMPLE = 1500; // points of a class that its place is computed from
const OTHER_PLACE = 0.2; // share of the points of a class at another exemplar that has a name of its own

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

// The places of the names: for each class the middle of its visible points at the exemplar where it
// has most of them, and other exemplars with a large share. [{group, u, v, size, count}], `count` of
// the class only at its first place, `size` the typical distance from the middle.
export function findAnchors(places, state, group, winner) {
  const r = about.exemplars.length;
  const groups = names.length;
  const columns = r && r * groups < 1e6 ? r : 1;
  const key = (i) => group[i] * columns + (columns > 1 ? winner[i] : 0);
  const table = new Uint32Array(groups * columns);
  for (let i = 0; i < state.length; i++) if (state[i]) table[key(i)]++;
  const wanted = [];
  const slot = new Int32Array(groups * columns); // 1 + index in wanted; 0: none
  for (let k = 0; k < groups; k++) {
    const row = table.subarray(k * columns, (k + 1) * columns);
    const total = row.reduce((a, b) => a + b, 0);
    if (!total) continue;
    const order = [...row.keys()].filter((j) => row[j]).sort((a, b) => row[b] - row[a]);
    order.filter((j, rank) => rank === 0 || row[j] > OTHER_PLACE * total).forEach((j, rank) => {
      slot[k * columns + j] = wanted.push({ group: k, total, count: rank ? 0 : total, us: [], vs: [] });
    });
  }
  for (let i = 0; i < state.length; i++) {
    const anchor = state[i] ? wanted[slot[key(i)] - 1] : undefined;
    if (!anchor || anchor.us.length >= SAMPLE) continue;
    anchor.us.push(places.u[i]);
    anchor.vs.push(places.v[i]);
  }
  return wanted.map(({ group: k, total, count: counted, us, vs }) => {
    const [u, v] = [median([...us]), median([...vs])];
    return { group: k, total, count: counted, u, v, size: median(us.map((a, i) => Math.hypot(a - u, vs[i] - v))) };
  }).sort((a, b) => Boolean(b.count) - Boolean(a.count) || b.total - a.total);
}

// The places of the classes of a frame of the animation: [[u, v, class]].
export function frameAnchors(points) {
  const lists = new Map();
  for (const [u, v, k] of points) {
    if (!lists.has(k)) lists.set(k, [[], []]);
    lists.get(k)[0].push(u);
    lists.get(k)[1].push(v);
  }
  return [...lists].map(([k, [us, vs]]) => ({ group: k, total: us.length, count: 0, u: median(us), v: median(vs), size: 0 }));
}

const short = (name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

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
  for (const { group, count: counted, u, v, size } of anchors) {
    const [x, y] = camera.at(u, v);
    if (x < 0 || y < 0 || x > camera.wide || y > camera.high) continue;
    if (named.some(([k, a, b]) => k === group && Math.hypot(a - x, b - y) < APART)) continue;
    const name = short(names[group]);
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
