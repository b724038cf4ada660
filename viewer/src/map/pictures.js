// Small pictures of images in place of dots, if there is space for them. In a map that spreads, the
// view that fits has some far apart, and they are closer to each other the more it is zoomed in.
import { about } from '../data.js';
import { picture } from '../card.js';

export const SIDE = 30; // pixels
const POINTS = 260; // at most so many points in the view are drawn as pictures,
const MIN_SHARE = 0.6; // if so many of them do not overlap;
const ZOOM = 6; // from this zoom on all that do not overlap
const APART = 3; // of their sides in the view that fits a map that spreads
const CACHED = 1500;
const DRAWN = 600;

export function createPictures({ order, state, wrong, spread, samples }) {
  const cache = new Map();
  const pictureOf = (i) => {
    if (cache.size > CACHED) cache.clear();
    if (!cache.has(i)) cache.set(i, picture(Array.from(samples(i).pixels, (p) => p / 15), about.thumb, SIDE - 4));
    return cache.get(i);
  };

  // Points of the view at least `apart` pixels from each other, in a fixed order, so that the choice
  // hardly changes when the view moves. Points near the view count, too. If all that have space are
  // drawn, misclassified points are first; otherwise the pictures are a sample.
  function pick(camera, u, v, apart, boxes) {
    const grid = new Map();
    const chosen = [];
    const cell = (x, y) => Math.floor(x / apart) + 4096 * Math.floor(y / apart);
    const isFree = (x, y) => {
      for (let a = -1; a <= 1; a++)
        for (let b = -1; b <= 1; b++) {
          const other = grid.get(cell(x + a * apart, y + b * apart));
          if (other && Math.abs(other[1] - x) < apart && Math.abs(other[2] - y) < apart) return false;
        }
      return true;
    };
    const half = SIDE / 2;
    const covers = (x, y) => boxes.some((box) => x + half > box[0] && x - half < box[2] && y + half > box[1] && y - half < box[3]);
    for (const first of apart > SIDE ? [null] : [1, 0])
      for (let k = 0; k < order.length && chosen.length < DRAWN; k++) {
        const i = order[k];
        if (state[i] !== 1 || (first !== null && wrong[i] !== first)) continue;
        const [x, y] = camera.at(u[i], v[i]);
        if (x < -apart || y < -apart || x > camera.wide + apart || y > camera.high + apart || !isFree(x, y) || covers(x, y) || !samples(i)) continue;
        chosen.push([i, x, y]);
        grid.set(cell(x, y), chosen.at(-1));
      }
    return chosen.filter(([, x, y]) => x >= 0 && y >= 0 && x <= camera.wide && y <= camera.high);
  }

  return {
    forget: () => cache.clear(),
    // The points of the view to draw: [point, x, y], none over another or over the boxes [left, top,
    // right, bottom].
    choose(camera, u, v, inside, boxes) {
      const near = camera.scale >= ZOOM * camera.fitScale;
      if (about.kind !== 'image' || !about.details || (inside > POINTS && !near && !spread)) return [];
      const few = inside <= POINTS ? pick(camera, u, v, SIDE, boxes) : [];
      if (few.length && few.length >= MIN_SHARE * inside) return few;
      if (near) return pick(camera, u, v, SIDE, boxes);
      const zoom = Math.max(0, Math.log(camera.scale / camera.fitScale) / Math.log(ZOOM));
      return spread ? pick(camera, u, v, SIDE * APART ** (1 - zoom), boxes) : [];
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
