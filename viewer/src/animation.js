// An animation of training: positions of points after some steps, with the loss and the errors.
import { about, block, count } from './data.js';
import { element } from './card.js';

const FRAME_MS = 80;

export async function createAnimation(host, page) {
  const [played, frames] = await Promise.all([block('played'), block('frames')]);
  const m = played.length;
  const steps = about.history;
  let at = 0; // frame number, fractional between frames
  let playing = false;
  let isOpen = false;
  let last = 0;

  const button = element('button', { type: 'button', id: 'play' }, 'Play');
  const slider = element('input', { type: 'range', min: 0, max: steps.length - 1, step: 'any', value: 0, 'aria-label': 'Frame' });
  const note = element('p', { class: 'note', id: 'frame' });
  const chart = element('canvas', { role: 'img', 'aria-label': 'Loss and errors from frame to frame', class: 'chart' });
  host.append(element('p', { class: 'note' }, `Positions of ${count(m)} points during training: after each step at first, then less often. The last frame is the saved model. Each frame is scaled to fill the map.`),
    about.another ? element('p', { class: 'note', id: 'another' }, 'This training run used different data, so its last frame differs from the model of this page.') : '',
    element('div', { class: 'row' }, button), slider, note, chart);

  // Each frame is scaled to fill the box of the last one, because the embedding grows during
  // training.
  const final = { x: (about.box[0] + about.box[2]) / 2, y: (about.box[1] + about.box[3]) / 2, size: Math.max(about.box[2] - about.box[0], about.box[3] - about.box[1]) || 1 };
  const placed = (f, i) => {
    const [x0, y0, x1, y1] = steps[f].box;
    const scale = final.size / (Math.max(x1 - x0, y1 - y0) || 1);
    const along = (k, wide) => (frames[2 * (f * m + i) + k] / 65535 - 0.5) * wide * scale;
    return [final.x + along(0, x1 - x0), final.y + along(1, y1 - y0)];
  };

  const percents = (share) => `${(100 * share).toFixed(2)} %`;

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
    const { epoch, loss, valid, error } = steps[f];
    const facts = [`Epoch ${epoch.toFixed(epoch < 10 ? 2 : 1)}`];
    if (loss !== null) facts.push(`loss ${loss.toPrecision(4)}`);
    if (error !== null) facts.push(`error on these points ${percents(error)}`);
    if (valid !== null) facts.push(`validation error ${percents(valid)}`);
    note.textContent = facts.join(', ');
    slider.value = at;
    slider.setAttribute('aria-valuetext', note.textContent);
    draw();
  }

  // Two plots, the loss above the errors. The horizontal axis is that of the slider.
  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [chart.clientWidth, chart.clientHeight];
    [chart.width, chart.height] = [wide * ratio, high * ratio];
    const g = chart.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '12px system-ui, sans-serif';
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name);
    const x = (i) => 4 + ((wide - 8) * i) / Math.max(1, steps.length - 1);
    const plots = [[['loss', 'loss', '--accent']], [['error', 'error, these points', '--wrong'], ['valid', 'validation', '--ink']]];
    plots.forEach((lines, k) => {
      const [top, bottom] = [(k * high) / 2 + 22, ((k + 1) * high) / 2 - 18];
      const known = lines.flatMap(([key]) => steps.map((step) => step[key])).filter((v) => v !== null);
      if (!known.length) return;
      const [min, max] = [Math.min(...known), Math.max(...known)];
      const y = (v) => bottom - ((bottom - top) * (v - min)) / (max - min || 1);
      const format = (v) => (k ? percents(v) : v.toPrecision(3));
      g.fillStyle = color('--soft');
      g.textAlign = 'right';
      g.fillText(`${format(min)} to ${format(max)}`, wide, top - 9);
      g.textAlign = 'left';
      let left = 0;
      for (const [key, name, of] of lines) {
        if (steps.every((step) => step[key] === null)) continue;
        g.strokeStyle = g.fillStyle = color(of);
        g.fillText(name, left, top - 9);
        left += g.measureText(name).width + 12;
        g.lineWidth = 2;
        g.beginPath();
        steps.forEach((step, i) => step[key] !== null && g.lineTo(x(i), y(step[key])));
        g.stroke();
      }
      g.strokeStyle = color('--soft');
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x(at), top);
      g.lineTo(x(at), bottom);
      g.stroke();
    });
    g.fillStyle = color('--soft');
    for (const share of [0, 0.5, 1]) {
      const i = Math.round(share * (steps.length - 1));
      g.textAlign = ['left', 'center', 'right'][2 * share];
      g.fillText(`epoch ${steps[i].epoch.toFixed(1)}`, x(i), high - 4);
    }
  }

  function tick(now) {
    if (!playing || !isOpen) return;
    at = Math.min(steps.length - 1, at + Math.max(0, Math.min(now - last, 200)) / FRAME_MS);
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
    // [point, x, y] in the last frame.
    last() {
      const { box } = steps.at(-1);
      const along = (k, d) => box[d] + ((box[d + 2] - box[d]) * frames[2 * ((steps.length - 1) * m + k) + d]) / 65535;
      return Array.from(played, (i, k) => [i, along(k, 0), along(k, 1)]);
    },
    repaint() {
      if (isOpen) draw();
    },
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
