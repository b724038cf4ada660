// Training, played: where points lay after some steps, with the loss and the validation error beside.
import { about, block } from './data.js';
import { element } from './card.js';

const MS = 160; // from frame to frame

export async function createFilm(host, page) {
  const [played, frames] = await Promise.all([block('played'), block('frames', Float32Array)]);
  const m = played.length;
  const steps = about.history;
  let at = 0; // frame, with its fraction while it plays
  let playing = false;
  let isOpen = false;
  let last = 0;

  const button = element('button', { type: 'button', id: 'play' }, 'Play');
  const slider = element('input', { type: 'range', min: 0, max: steps.length - 1, step: 'any', value: 0, 'aria-label': 'Frame' });
  const note = element('p', { class: 'note', id: 'frame' });
  const chart = element('canvas', { width: 640, height: 360, role: 'img', 'aria-label': 'Loss and validation error by epoch', style: { width: '100%' } });
  host.append(element('p', { class: 'note' }, `${m} points as the best state so far placed them. Frames are close at first, then ever farther apart.`),
    element('div', { class: 'row' }, button), slider, note, chart);

  // Frames are shown in the last one's box, each scaled to fill it: the map grows while it is learned.
  const boxes = steps.map((_, f) => {
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < m; i++) {
      const [x, y] = [frames[2 * (f * m + i)], frames[2 * (f * m + i) + 1]];
      [x0, y0, x1, y1] = [Math.min(x0, x), Math.min(y0, y), Math.max(x1, x), Math.max(y1, y)];
    }
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, size: Math.max(x1 - x0, y1 - y0) || 1 };
  });
  const final = { x: (about.box[0] + about.box[2]) / 2, y: (about.box[1] + about.box[3]) / 2, size: Math.max(about.box[2] - about.box[0], about.box[3] - about.box[1]) || 1 };
  const placed = (f, i) => {
    const box = boxes[f];
    const scale = final.size / box.size;
    return [final.x + (frames[2 * (f * m + i)] - box.x) * scale, final.y + (frames[2 * (f * m + i) + 1] - box.y) * scale];
  };

  function show() {
    const f = Math.min(Math.floor(at), steps.length - 1);
    const next = Math.min(f + 1, steps.length - 1);
    const part = at - f;
    const points = [];
    for (let i = 0; i < m; i++) {
      const [a, b] = [placed(f, i), placed(next, i)];
      points.push([a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), page.group[played[i]]]);
    }
    page.map.play(points);
    const [epoch, loss, error] = steps[f];
    note.textContent = `Epoch ${epoch.toFixed(epoch < 10 ? 1 : 0)}` + (loss === null ? '' : `, loss ${loss.toPrecision(4)}`) + (error === null ? '' : `, validation error ${(100 * error).toFixed(2)} %`);
    slider.value = at;
    draw(f);
  }

  function draw(f) {
    const g = chart.getContext('2d');
    const style = getComputedStyle(document.documentElement);
    const [ink, soft] = [style.getPropertyValue('--accent'), style.getPropertyValue('--wrong')];
    g.clearRect(0, 0, chart.width, chart.height);
    g.font = '24px system-ui, sans-serif';
    [[1, ink, 'loss'], [2, soft, 'validation error']].forEach(([column, colour, name], k) => {
      const values = steps.map((step) => step[column]);
      const known = values.filter((v) => v !== null);
      if (!known.length) return;
      const [least, most] = [Math.min(...known), Math.max(...known)];
      g.strokeStyle = g.fillStyle = colour;
      g.lineWidth = 4;
      g.beginPath();
      let begun = false;
      values.forEach((v, i) => {
        if (v === null) return;
        const [x, y] = [20 + (600 * i) / Math.max(1, steps.length - 1), 330 - (260 * (v - least)) / (most - least || 1)];
        if (begun) g.lineTo(x, y);
        else g.moveTo(x, y);
        begun = true;
      });
      g.stroke();
      g.fillText(name, 20 + 120 * k, 30);
    });
    g.strokeStyle = style.getPropertyValue('--soft');
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(20 + (600 * at) / Math.max(1, steps.length - 1), 50);
    g.lineTo(20 + (600 * at) / Math.max(1, steps.length - 1), 345);
    g.stroke();
  }

  function tick(now) {
    if (!playing || !isOpen) return;
    at = Math.min(steps.length - 1, at + Math.max(0, Math.min(now - last, 200)) / MS);
    last = now;
    show();
    if (at >= steps.length - 1) play(false);
    else requestAnimationFrame(tick);
  }

  function play(on) {
    playing = on;
    button.textContent = on ? 'Pause' : 'Play';
    if (!on) return;
    if (at >= steps.length - 1) at = 0;
    last = performance.now();
    requestAnimationFrame(tick);
  }
  button.addEventListener('click', () => play(!playing));
  slider.addEventListener('input', () => {
    play(false);
    at = Number(slider.value);
    show();
  });

  return {
    // [point, x, y] as the last frame has them.
    last: () => Array.from(played, (i, k) => [i, ...frames.subarray(2 * ((steps.length - 1) * m + k), 2 * ((steps.length - 1) * m + k) + 2)]),
    open(yes) {
      isOpen = yes;
      if (yes) show();
      else {
        play(false);
        page.map.play(null);
      }
    },
  };
}
