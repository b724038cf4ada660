// Clusters of a map: the peaks of the density of its points. The density is a histogram of 256 cells
// along the longer side, smoothed until the typical point has enough others under the kernel. Cells
// are visited from dense to sparse; a cell belongs to the peak of its densest neighbor. Where two
// peaks meet, the lower one is a cluster of its own if it is clearly above the place where they meet;
// otherwise it becomes a part of the higher one. The result depends on the positions only.

const SIDE = 256; // cells along the longer side,
const MARGIN = 16; // and empty ones around them
const RADII = [1, 2, 3, 4, 6, 9, 13, 19]; // of the boxes that smooth, in cells
const RATIO = 1.4; // of a peak to the density where it meets a higher one,
const SIGMAS = 3; // and their difference in standard deviations of the counts
const MIN_SHARE = 0.004; // of the points; a smaller group is no cluster
const MIN_POINTS = 5;
const OUTSIDE = 0.01; // share of the points beyond each end that may be far away

// The wanted number of points under the kernel at the typical point.
const wantedCount = (n) => Math.max(6, 0.2 * n ** (2 / 3));

// The range of numbers without few far ones: [low, high].
function rangeOf(values) {
  const sorted = Float32Array.from(values).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const [low, high] = [at(OUTSIDE), at(1 - OUTSIDE)];
  const more = 0.3 * (high - low);
  return [Math.max(sorted[0], low - more), Math.min(sorted.at(-1), high + more)];
}

// The cells of the map: {wide, high, of}, with the cell of each point, -1 outside.
function makeCells(u, v) {
  const [[left, right], [bottom, top]] = [rangeOf(u), rangeOf(v)];
  const side = Math.max(right - left, top - bottom) / SIDE || 1;
  const [columns, rows] = [Math.floor((right - left) / side) + 1, Math.floor((top - bottom) / side) + 1];
  const [wide, high] = [columns + 2 * MARGIN, rows + 2 * MARGIN];
  const of = new Int32Array(u.length);
  for (let i = 0; i < u.length; i++) {
    const [x, y] = [Math.floor((u[i] - left) / side), Math.floor((v[i] - bottom) / side)];
    of[i] = x >= 0 && y >= 0 && x < columns && y < rows ? (y + MARGIN) * wide + x + MARGIN : -1;
  }
  return { wide, high, of };
}

// The means over 2 r + 1 numbers along rows (step 1) or columns (step `wide`), with zeros beyond the ends.
function blur(from, to, { lines, length, lineStep, step }, r) {
  for (let line = 0; line < lines; line++) {
    const start = line * lineStep;
    let sum = 0;
    for (let k = 0; k < Math.min(r, length); k++) sum += from[start + k * step];
    for (let k = 0; k < length; k++) {
      if (k + r < length) sum += from[start + (k + r) * step];
      to[start + k * step] = sum / (2 * r + 1);
      if (k - r >= 0) sum -= from[start + (k - r) * step];
    }
  }
}

// Three boxes in each direction, which are nearly a Gaussian of variance r (r + 1).
function smooth(counts, { wide, high }, r) {
  const rows = { lines: high, length: wide, lineStep: wide, step: 1 };
  const columns = { lines: wide, length: high, lineStep: 1, step: wide };
  let [from, to] = [Float64Array.from(counts), new Float64Array(counts.length)];
  for (const along of [rows, rows, rows, columns, columns, columns]) {
    blur(from, to, along, r);
    [from, to] = [to, from];
  }
  return from;
}

// The number of points under a kernel at a cell is its density times this.
const kernelArea = (r) => 4 * Math.PI * r * (r + 1);

function densityOf(cells) {
  const counts = new Float64Array(cells.wide * cells.high);
  for (const cell of cells.of) if (cell >= 0) counts[cell]++;
  const inside = cells.of.filter((cell) => cell >= 0);
  const wanted = wantedCount(cells.of.length);
  for (const r of RADII) {
    const density = smooth(counts, cells, r);
    const typical = Float32Array.from(inside, (cell) => density[cell]).sort()[inside.length >> 1];
    if (typical * kernelArea(r) >= wanted || r === RADII.at(-1)) return { density, area: kernelArea(r) };
  }
}

// The peak of each cell, as the number of its cell; -1: empty.
function peaksOf({ density, area }, { wide, high }) {
  const min = 0.05 / area; // below it is rounding, or far less than a point
  const cells = Int32Array.from(density.keys()).filter((cell) => density[cell] > min);
  cells.sort((a, b) => density[b] - density[a] || a - b);
  const parent = new Int32Array(density.length).fill(-1);
  const root = (cell) => {
    while (parent[cell] !== cell) cell = parent[cell] = parent[parent[cell]];
    return cell;
  };
  const isSeparate = (peak, meeting) => {
    const [p, m] = [density[peak] * area, density[meeting] * area];
    return p > RATIO * m && Math.sqrt(p) - Math.sqrt(m) > SIGMAS / Math.SQRT2; // the root of a count varies by 1/2
  };
  for (const cell of cells) {
    const [x, y] = [cell % wide, Math.floor(cell / wide)];
    const near = [];
    for (let b = Math.max(0, y - 1); b <= Math.min(high - 1, y + 1); b++)
      for (let a = Math.max(0, x - 1); a <= Math.min(wide - 1, x + 1); a++) if (parent[b * wide + a] >= 0) near.push(b * wide + a);
    if (!near.length) {
      parent[cell] = cell;
      continue;
    }
    parent[cell] = root(near.reduce((best, other) => (density[other] > density[best] ? other : best)));
    for (const other of near) {
      const [a, b] = [root(cell), root(other)];
      if (a === b) continue;
      const [upper, lower] = density[a] > density[b] || (density[a] === density[b] && a < b) ? [a, b] : [b, a];
      if (!isSeparate(lower, cell)) parent[lower] = upper;
    }
  }
  return parent.map((p, cell) => (p < 0 ? -1 : root(cell)));
}

// The clusters of points (u, v): {of: the cluster of each point, the largest first; `count`: none,
// count, density: of each point, relative to the typical one}.
export function findClusters(u, v) {
  const n = u.length;
  const cells = makeCells(u, v);
  const field = densityOf(cells);
  const peaks = peaksOf(field, cells);
  const sizes = new Map();
  for (const cell of cells.of) if (cell >= 0 && peaks[cell] >= 0) sizes.set(peaks[cell], (sizes.get(peaks[cell]) || 0) + 1);
  const min = Math.max(MIN_POINTS, MIN_SHARE * n);
  const kept = [...sizes].filter(([, size]) => size >= min).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const number = new Map(kept.map(([peak], k) => [peak, k]));
  const of = Uint16Array.from(cells.of, (cell) => (cell >= 0 ? number.get(peaks[cell]) ?? kept.length : kept.length));
  const density = Float32Array.from(cells.of, (cell) => (cell >= 0 ? field.density[cell] : 0));
  return { of, count: kept.length, density };
}
