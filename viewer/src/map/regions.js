// The regions of the classes: the class that the model gives to each place of the map.
const BLOCK = 8; // pixels; blocks whose corners have the same class are not divided

// rule: {exemplars: [[u, v, class]], classes, neighbours, gaussian, dof, unit}, with `unit` outputs of
// the model per unit of the map. Returns a function from (u, v) to the class: that with the largest
// sum of similarities, or the majority of the nearest neighbors if neighbours is not 0.
export function createRule({ exemplars, classes, neighbours, gaussian, dof, unit }) {
  const r = exemplars.length;
  const [eu, ev, label] = [Float64Array.from(exemplars, (e) => e[0]), Float64Array.from(exemplars, (e) => e[1]), Int32Array.from(exemplars, (e) => e[2])];
  const squared = new Float64Array(r);
  const sums = new Float64Array(classes);
  const power = (dof + 1) / 2;
  const measure = (u, v) => {
    let min = Infinity;
    for (let j = 0; j < r; j++) {
      const [a, b] = [u - eu[j], v - ev[j]];
      squared[j] = (a * a + b * b) * unit * unit;
      if (squared[j] < min) min = squared[j];
    }
    return min;
  };
  const best = () => {
    let winner = 0;
    for (let k = 1; k < classes; k++) if (sums[k] > sums[winner]) winner = k;
    return winner;
  };
  // Similarities are relative to that of the nearest exemplar, so that none is below the range.
  const probable = (u, v) => {
    const min = measure(u, v);
    sums.fill(0);
    for (let j = 0; j < r; j++) {
      const share = (dof + min) / (dof + squared[j]);
      sums[label[j]] += gaussian ? Math.exp(min - squared[j]) : dof === 1 ? share : Math.pow(share, power);
    }
    return best();
  };
  const order = Array.from({ length: r }, (_, j) => j);
  const voted = (u, v) => {
    measure(u, v);
    order.sort((a, b) => squared[a] - squared[b] || a - b);
    const nearest = order.slice(0, neighbours);
    sums.fill(0);
    for (const j of nearest) sums[label[j]]++;
    const max = Math.max(...nearest.map((j) => sums[label[j]]));
    return label[nearest.find((j) => sums[label[j]] === max)];
  };
  return neighbours ? voted : probable;
}

// The class of each pixel of (wide, high): rule at the middle of the pixel.
export function classPixels(rule, camera, wide, high) {
  const out = new Int16Array(wide * high);
  const at = (x, y) => rule((x + 0.5 - camera.wide / 2) / camera.scale + camera.x, (camera.high / 2 - y - 0.5) / camera.scale + camera.y);
  const [columns, rows] = [Math.ceil(wide / BLOCK) + 1, Math.ceil(high / BLOCK) + 1];
  const corner = new Int16Array(columns * rows);
  for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) corner[r * columns + k] = at(k * BLOCK, r * BLOCK);
  for (let r = 0; r + 1 < rows; r++)
    for (let k = 0; k + 1 < columns; k++) {
      const here = corner[r * columns + k];
      const whole = here === corner[r * columns + k + 1] && here === corner[(r + 1) * columns + k] && here === corner[(r + 1) * columns + k + 1];
      for (let y = r * BLOCK; y < Math.min(high, (r + 1) * BLOCK); y++)
        for (let x = k * BLOCK; x < Math.min(wide, (k + 1) * BLOCK); x++) out[y * wide + x] = whole ? here : at(x, y);
    }
  return out;
}

// Draws the classes of the pixels: tints of the colors (packed), and lines between regions.
export function paintRegions(image, classes, tints, line) {
  const pixels = new Uint32Array(image.data.buffer);
  const { width, height } = image;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const k = classes[at];
      const border = (x + 1 < width && classes[at + 1] !== k) || (y + 1 < height && classes[at + width] !== k);
      pixels[at] = border ? line : tints[k];
    }
}

// A layer of regions that keeps its last image. During a movement it shows that image moved, if a
// new one takes longer than SLOW; later() is called to draw the new one.
const SLOW = 25; // ms

export function createRegionLayer(later) {
  let last = null;
  let timer = 0;
  const make = (rule, camera, ratio, tints, line) => {
    const started = performance.now();
    const [wide, high] = [Math.round(camera.wide * ratio), Math.round(camera.high * ratio)];
    const image = new ImageData(wide, high);
    paintRegions(image, classPixels(rule, { x: camera.x, y: camera.y, scale: camera.scale * ratio, wide, high }, wide, high), tints, line);
    const canvas = new OffscreenCanvas(wide, high);
    canvas.getContext('2d').putImageData(image, 0, 0);
    return { canvas, tints, x: camera.x, y: camera.y, scale: camera.scale, wide: camera.wide, high: camera.high, cost: performance.now() - started };
  };
  return {
    // tints: a new array if the colors have changed. On the screen, the image has the resolution of CSS pixels.
    paint(g, rule, camera, tints, line, ratio, isScreen) {
      if (!isScreen) {
        g.drawImage(make(rule, camera, ratio, tints, line).canvas, 0, 0, camera.wide, camera.high);
        return;
      }
      const same = last && last.tints === tints && last.wide === camera.wide && last.high === camera.high;
      const still = same && last.x === camera.x && last.y === camera.y && last.scale === camera.scale;
      clearTimeout(timer);
      if (!still && same && last.cost > SLOW) timer = setTimeout(() => {
        last = null;
        later();
      }, 150);
      else if (!still) last = make(rule, camera, 1, tints, line);
      const size = camera.scale / last.scale;
      const [x, y] = camera.at(last.x, last.y);
      g.drawImage(last.canvas, x - (last.wide * size) / 2, y - (last.high * size) / 2, last.wide * size, last.high * size);
    },
  };
}
