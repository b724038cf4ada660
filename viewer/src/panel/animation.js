// An animation of training: positions of points after some steps, with the loss and the errors.
import { about, block, count } from '../data.js';
import { element } from '../card.js';
import { classChips } from './legend.js';

const FRAME_MS = 80;
const LEFT = 52; // pixels of the labels of the vertical axis

// The mean loss of the steps between a frame and the one before it, from the means of the epochs so
// far. These jump where an epoch begins, because each starts with few batches.
export function lossBetween(steps) {
  const place = ({ epoch }) => (Number.isInteger(epoch) ? [epoch - 1, 1] : [Math.floor(epoch), epoch - Math.floor(epoch)]);
  return steps.map((step, i) => {
    if (step.loss === null || i === 0 || steps[i - 1].loss === null) return step.loss;
    const [[epoch, part], [before, done]] = [place(step), place(steps[i - 1])];
    if (epoch !== before || part - done < 1e-6) return step.loss;
    return (part * step.loss - done * steps[i - 1].loss) / (part - done);
  });
}

// Round epochs for the axis, where the frames are denser at the start: [epoch, frame], at least
// `gap` of the axis apart.
function ticksOf(steps, gap) {
  const last = steps.length - 1;
  const end = steps[last].epoch;
  const out = [];
  for (const unit of [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((e) => e <= end).reverse()) {
    const next = steps.findIndex((step) => step.epoch >= unit);
    const [a, b] = [steps[Math.max(0, next - 1)].epoch, steps[next].epoch];
    const at = next > 0 ? next - 1 + (unit - a) / (b - a || 1) : 0;
    if (out.every(([, other]) => Math.abs(other - at) >= gap * last)) out.push([unit, at]);
  }
  return out;
}

export async function createAnimation(host, page) {
  const [played, frames] = await Promise.all([block('played'), block('frames')]);
  const m = played.length;
  const steps = about.history.map((step) => ({ ...step }));
  lossBetween(about.history).forEach((loss, i) => (steps[i].loss = loss));
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
    element('div', { class: 'row' }, button), slider, note, classChips(page), chart,
    element('p', { class: 'note', id: 'chart-note' }, 'The horizontal axis is that of the slider: frames, of which there are more at the start. The loss is the mean of the steps since the frame before, so it varies from batch to batch.' + (steps.some((step) => step.valid !== null) ? ' The validation error is that of the last whole epoch.' : '')));

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
    const x = (i) => LEFT + ((wide - LEFT - 4) * i) / Math.max(1, steps.length - 1);
    const plots = [[['loss', 'loss', '--accent']], [['error', 'error, these points', '--wrong'], ['valid', 'validation error', '--ink']]]
      .filter((lines) => lines.some(([key]) => steps.some((step) => step[key] !== null)));
    plots.forEach((lines, k) => {
      const [top, bottom] = [(k * high) / plots.length + 22, ((k + 1) * high) / plots.length - 20];
      const known = lines.flatMap(([key]) => steps.map((step) => step[key])).filter((v) => v !== null);
      if (!known.length) return;
      const [min, max] = [Math.min(0, ...known), Math.max(...known)];
      const y = (v) => bottom - ((bottom - top) * (v - min)) / (max - min || 1);
      g.lineWidth = 1;
      for (const v of [min, (min + max) / 2, max]) { // the vertical axis
        g.strokeStyle = color('--line');
        g.beginPath();
        g.moveTo(LEFT, y(v));
        g.lineTo(wide - 4, y(v));
        g.stroke();
        g.fillStyle = color('--soft');
        g.textAlign = 'right';
        g.textBaseline = 'middle';
        g.fillText(k ? `${(100 * v).toFixed(max < 0.1 ? 1 : 0)} %` : Number(v.toPrecision(2)).toString(), LEFT - 6, y(v));
      }
      g.textAlign = 'left';
      g.textBaseline = 'alphabetic';
      let left = LEFT;
      for (const [key, name, of] of lines) {
        if (steps.every((step) => step[key] === null)) continue;
        g.strokeStyle = g.fillStyle = color(of);
        g.fillText(name, left, top - 9);
        left += g.measureText(name).width + 12;
        g.lineWidth = 1.5;
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
    g.textAlign = 'left';
    g.fillText('epoch', 0, high - 4);
    for (const [epoch, i] of ticksOf(steps, 0.11)) {
      g.textAlign = x(i) > wide - 20 ? 'right' : 'center';
      g.fillText(String(epoch), Math.min(x(i), wide - 2), high - 4);
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
    losses: () => steps.map((step) => step.loss),
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
