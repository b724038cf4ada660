// Draws points into the pixels of an image, in software: dots of any number, or the density of many
// points. Colors are numbers 0xAABBGGRR, as the pixels of ImageData are read on little-endian
// machines.
const SUB = 4; // positions of a dot within a pixel, in each direction

export function packed(css) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

// The coverage (0 to 256) of the pixels by a disc, or by a ring of this width, one array for each
// position within a pixel.
function makeStamp(diameter, width, alpha) {
  const radius = diameter / 2;
  const size = Math.ceil(diameter) + 2;
  const half = Math.floor(size / 2);
  const shapes = [];
  for (let sub = 0; sub < SUB * SUB; sub++) {
    const [cx, cy] = [half + ((sub % SUB) + 0.5) / SUB, half + (Math.floor(sub / SUB) + 0.5) / SUB];
    const [dx, dy, cover] = [[], [], []];
    for (let y = 0; y < size + 1; y++)
      for (let x = 0; x < size + 1; x++) {
        const d = Math.hypot(x + 0.5 - cx, y + 0.5 - cy);
        const outside = Math.min(1, Math.max(0, radius + 0.5 - d));
        const inside = width ? Math.min(1, Math.max(0, radius - width + 0.5 - d)) : 0;
        const value = Math.round(256 * alpha * (outside - inside));
        if (value < 4) continue;
        dx.push(x - half);
        dy.push(y - half);
        cover.push(value);
      }
    shapes.push({ dx: Int32Array.from(dx), dy: Int32Array.from(dy), cover: Int32Array.from(cover) });
  }
  return { shapes, half };
}

const stamps = new Map();
function stampOf(diameter, width, alpha) {
  const key = `${diameter.toFixed(2)} ${width.toFixed(2)} ${alpha.toFixed(2)}`;
  if (stamps.size > 60) stamps.clear();
  if (!stamps.has(key)) stamps.set(key, makeStamp(diameter, width, alpha));
  return stamps.get(key);
}

// Blends one stamp with its middle at (x, y) into target {pixels, wide, high}.
function put(target, stamp, x, y, color) {
  const { pixels, wide, high } = target;
  const px = Math.floor(x);
  const py = Math.floor(y);
  const half = stamp.half;
  if (px < -half || py < -half || px > wide + half || py > high + half) return;
  const { dx, dy, cover } = stamp.shapes[Math.floor((x - px) * SUB) + SUB * Math.floor((y - py) * SUB)];
  const even = color & 0xff00ff;
  const odd = (color >>> 8) & 0xff;
  for (let k = 0; k < cover.length; k++) {
    const qx = px + dx[k];
    const qy = py + dy[k];
    if (qx < 0 || qy < 0 || qx >= wide || qy >= high) continue;
    const at = qy * wide + qx;
    const a = cover[k];
    const b = 256 - a;
    const old = pixels[at];
    pixels[at] = 0xff000000 | (((Math.imul(even, a) + Math.imul(old & 0xff00ff, b)) >>> 8) & 0xff00ff) | ((Math.imul(odd, a) + Math.imul((old >>> 8) & 0xff, b)) & 0xff00);
  }
}

// dots: {order, state, u, v, color, palette, part, wrong, ringColor, ringPalette, diameter}, with
// state 0: not drawn, 1: drawn, 2: faded. map: pixels of the target are (u a + x, v b + y).
// Misclassified points are above the others, with a ring; onlyErrors: no others.
export function paintDots(target, dots, { a, b, x, y }, ratio, onlyErrors = false) {
  const { order, state, u, v, color, palette, small, wrong, ringColor, ringPalette } = dots;
  const diameter = dots.diameter * ratio;
  const make = (alpha) => [stampOf(diameter, 0, alpha), stampOf(Math.max(1.5, 0.65 * diameter), 0, alpha)];
  const normal = make(dots.alpha);
  const faded = make(0.1);
  const full = make(1);
  const ring = stampOf(diameter + 4.4 * ratio, 1.3 * ratio, 1);
  const smallRing = stampOf(Math.max(1.5, 0.65 * diameter) + 4 * ratio, 1.2 * ratio, 1);
  const errors = [];
  const margin = diameter + 5 * ratio;
  for (let k = 0; k < order.length; k++) {
    const i = order[k];
    const px = u[i] * a + x;
    const py = v[i] * b + y;
    if (!state[i] || px < -margin || py < -margin || px > target.wide + margin || py > target.high + margin) continue;
    if (wrong[i] && state[i] === 1) errors.push(i);
    else if (!onlyErrors) put(target, (state[i] === 2 ? faded : normal)[small[i]], px, py, palette[color[i]]);
  }
  for (const i of errors) {
    put(target, small[i] ? smallRing : ring, u[i] * a + x, v[i] * b + y, ringPalette[ringColor[i]]);
    put(target, full[small[i]], u[i] * a + x, v[i] * b + y, palette[color[i]]);
  }
}

// Smooths the sums of cells, four numbers each, by 1/4, 1/2, 1/4 in both directions.
function smooth(sums, wide, high) {
  const out = new Float32Array(sums.length);
  for (const [from, to, step, along, lines] of [[sums, out, 4, wide, high], [out, sums, 4 * wide, high, wide]]) {
    const lineStep = step === 4 ? 4 * wide : 4;
    for (let line = 0; line < lines; line++)
      for (let k = 0, at = line * lineStep; k < along; k++, at += step)
        for (let d = at; d < at + 4; d++) to[d] = from[d] / 2 + ((k ? from[d - step] : 0) + (k < along - 1 ? from[d + step] : 0)) / 4;
  }
}

const FEW = 8; // points: cells that have fewer on average are smoothed

// The density of the points: the mean color of the points of a cell of `step` pixels, the more
// opaque the more points it has, on a logarithmic scale. clear: the share of the cells with points that
// are not entirely opaque.
export function paintDensity(target, dots, { a, b, x, y }, step, clear) {
  const { state, u, v, color, palette } = dots;
  const [wide, high] = [Math.ceil(target.wide / step), Math.ceil(target.high / step)];
  const sums = new Float32Array(4 * wide * high); // red, green, blue, points
  const [A, B, X, Y] = [a / step, b / step, x / step, y / step];
  for (let i = 0; i < state.length; i++) {
    if (state[i] !== 1) continue;
    const px = Math.floor(u[i] * A + X);
    const py = Math.floor(v[i] * B + Y);
    if (px < 0 || py < 0 || px >= wide || py >= high) continue;
    const at = 4 * (py * wide + px);
    const p = palette[color[i]];
    sums[at] += p & 255;
    sums[at + 1] += (p >>> 8) & 255;
    sums[at + 2] += (p >>> 16) & 255;
    sums[at + 3]++;
  }
  let [used, total] = [0, 0];
  for (let at = 3; at < sums.length; at += 4) {
    used += sums[at] > 0;
    total += sums[at];
  }
  if (total < FEW * used) smooth(sums, wide, high);
  const counts = sums.filter((n, at) => at % 4 === 3 && n > 0);
  const full = clear < 1 ? counts.sort()[Math.floor(clear * counts.length)] || 0 : counts.reduce((a, b) => Math.max(a, b), 0);
  const unit = 1 / Math.log1p(Math.max(FEW, full));
  const { pixels } = target;
  for (let cy = 0, at = 0; cy < high; cy++)
    for (let cx = 0; cx < wide; cx++, at += 4) {
      const n = sums[at + 3];
      if (!n) continue;
      const alpha = Math.min(1, 0.4 + 0.6 * Math.log1p(n) * unit) * Math.min(1, 4 * n);
      const share = alpha / n;
      for (let py = cy * step; py < Math.min(target.high, (cy + 1) * step); py++)
        for (let px = cx * step; px < Math.min(target.wide, (cx + 1) * step); px++) {
          const old = pixels[py * target.wide + px];
          const red = sums[at] * share + (old & 255) * (1 - alpha);
          const green = sums[at + 1] * share + ((old >>> 8) & 255) * (1 - alpha);
          const blue = sums[at + 2] * share + ((old >>> 16) & 255) * (1 - alpha);
          pixels[py * target.wide + px] = 0xff000000 | (blue << 16) | (green << 8) | red;
        }
    }
}
