// The positions of the points on the map, with the distances to the exemplars of a collapsed map
// spread by rank.
import { about } from '../data.js';

const [x0, y0, x1, y1] = about.box;
const size = Math.max(x1 - x0, y1 - y0) || 1;
export const unitX = (x) => (x - (x0 + x1) / 2) / size;
export const unitY = (y) => (y - (y0 + y1) / 2) / size;
export const unitSize = size;

const exemplars = about.exemplars.map(([x, y, k]) => [unitX(x), unitY(y), k]);

// The radius of the disc of each exemplar: less than half the distance to the nearest exemplar of
// another class, and not much larger than that of the others.
function discRadii() {
  const half = exemplars.map(([u, v, k]) => exemplars.reduce((min, [a, b, other]) => (other === k ? min : Math.min(min, 0.46 * Math.hypot(u - a, v - b))), 0.3));
  const middle = [...half].sort((a, b) => a - b)[half.length >> 1] || 0.1;
  return half.map((radius) => Math.max(0.012, Math.min(radius, 1.6 * middle)));
}

// u, v: the current positions. spread(t): t = 0: as in the model; 1: within the disc of the
// exemplar, at the square root of the rank of the distance within the class, so that the points of
// a class fill the disc evenly, the typical ones in the middle.
export function createPlaces(points) {
  const n = points.x.length;
  const [u, v] = [new Float32Array(n), new Float32Array(n)];
  const canSpread = Boolean(points.rank && exemplars.length);
  const radii = canSpread ? discRadii() : [];
  const places = { u, v, exemplars, canSpread, box: [0, 0, 0, 0], amount: 0 };

  function bound() {
    let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      if (u[i] < left) left = u[i];
      if (u[i] > right) right = u[i];
      if (v[i] < bottom) bottom = v[i];
      if (v[i] > top) top = v[i];
    }
    for (const [a, b] of exemplars) [left, bottom, right, top] = [Math.min(left, a), Math.min(bottom, b), Math.max(right, a), Math.max(top, b)];
    places.box = [left, bottom, right, top];
  }

  places.spread = (t) => {
    const [wide, high] = [(x1 - x0) / size, (y1 - y0) / size];
    places.amount = canSpread ? t : 0;
    for (let i = 0; i < n; i++) {
      u[i] = wide * (points.x[i] / 65535 - 0.5);
      v[i] = high * (points.y[i] / 65535 - 0.5);
      if (!places.amount) continue;
      const j = points.winner[i];
      const radius = t * radii[j] * Math.sqrt(points.rank[i] / 65535);
      const angle = (2 * Math.PI * points.angle[i]) / 65536;
      u[i] = exemplars[j][0] + (1 - t) * (u[i] - exemplars[j][0]) + radius * Math.cos(angle);
      v[i] = exemplars[j][1] + (1 - t) * (v[i] - exemplars[j][1]) + radius * Math.sin(angle);
    }
    bound();
  };

  // The share of the points within `distance` of the exemplar that wins.
  places.shareNear = (distance) => {
    let near = 0;
    for (let i = 0; i < n; i++) {
      const [a, b] = exemplars[points.winner[i]];
      if (Math.hypot(u[i] - a, v[i] - b) <= distance) near++;
    }
    return n ? near / n : 0;
  };

  places.spread(0);
  return places;
}
