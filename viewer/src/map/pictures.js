// Small pictures of images in place of dots, if there is space for them.
import { about } from '../data.js';
import { picture } from '../card.js';

export const SIDE = 30; // pixels
const POINTS = 260; // at most so many points in the view are drawn as pictures,
const MIN_SHARE = 0.6; // if so many of them do not overlap;
const ZOOM = 6; // from this zoom on all that do not overlap
const CACHED = 1500;
const DRAWN = 600;

export function createPictures({ order, state, wrong, samples }) {
  const cache = new Map();
  const pictureOf = (i) => {
    if (cache.size > CACHED) cache.clear();
    if (!cache.has(i)) cache.set(i, picture(Array.from(samples(i).pixels, (p) => p / 15), about.thumb, SIDE - 4));
    return cache.get(i);
  };

  return {
    forget: () => cache.clear(),
    // The points of the view to draw: [point, x, y], misclassified points first, none over another.
    choose(camera, u, v, inside) {
      const near = camera.scale >= ZOOM * camera.fitScale;
      if (about.kind !== 'image' || !about.details || (inside > POINTS && !near)) return [];
      const grid = new Map();
      const chosen = [];
      const cell = (x, y) => Math.floor(x / SIDE) + 4096 * Math.floor(y / SIDE);
      const isFree = (x, y) => {
        for (let a = -1; a <= 1; a++)
          for (let b = -1; b <= 1; b++) {
            const other = grid.get(cell(x + a * SIDE, y + b * SIDE));
            if (other && Math.abs(other[1] - x) < SIDE && Math.abs(other[2] - y) < SIDE) return false;
          }
        return true;
      };
      for (const first of [1, 0])
        for (let k = 0; k < order.length && chosen.length < DRAWN; k++) {
          const i = order[k];
          if (state[i] !== 1 || wrong[i] !== first) continue;
          const [x, y] = camera.at(u[i], v[i]);
          if (x < 0 || y < 0 || x > camera.wide || y > camera.high || !isFree(x, y) || !samples(i)) continue;
          chosen.push([i, x, y]);
          grid.set(cell(x, y), chosen.at(-1));
        }
      return near || chosen.length >= MIN_SHARE * inside ? chosen : [];
    },
    // colorOf(i): of the frame; ringOf(i): of the ring of a misclassified point.
    paint(g, chosen, colorOf, ringOf) {
      const half = SIDE / 2 - 1;
      g.imageSmoothingEnabled = true;
      for (const [i, x, y] of chosen) {
        g.fillStyle = colorOf(i);
        g.fillRect(x - half, y - half, 2 * half, 2 * half);
        if (wrong[i]) {
          g.strokeStyle = ringOf(i);
          g.lineWidth = 2;
          g.strokeRect(x - half - 1, y - half - 1, 2 * half + 2, 2 * half + 2);
        }
        g.drawImage(pictureOf(i), x - half + 2, y - half + 2, 2 * half - 4, 2 * half - 4);
      }
    },
    at: (chosen, x, y) => chosen.findLast(([, a, b]) => Math.abs(a - x) <= SIDE / 2 && Math.abs(b - y) <= SIDE / 2),
  };
}
