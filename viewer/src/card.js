// Elements, and how a sample looks.
import { about, inputName } from './data.js';

// element('p', {class: 'note'}, 'text', child): text is set as text, never as markup.
export function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(e.style, value);
    else if (value !== false && value !== undefined && value !== null) e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.filter((child) => child !== null && child !== undefined));
  return e;
}

// Where most of a picture is its background, ink is drawn on the page's own paper; others are as they are.
const [low, high, mean] = about.range;
export const inkOnPaper = mean - low < 0.4 * (high - low);

// A picture as it is seen, out of one as the data holds it, and back: the same unless they are held column by column.
export const seenShape = ([rows, columns]) => (about.transpose ? [columns, rows] : [rows, columns]);
export function turn(levels, [rows, columns]) {
  if (!about.transpose) return levels;
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows * columns; i++) out[(i % columns) * rows + Math.floor(i / columns)] = levels[i];
  return out;
}

const painters = new WeakMap(); // canvas to what paints it again

// All pictures that the page shows, in its present colours.
export function repaintPictures() {
  for (const canvas of document.querySelectorAll('canvas.sample')) painters.get(canvas)();
}

// levels (rows * columns) from 0 to 1 as a small canvas, shown `side` CSS pixels wide.
export function picture(held, shape, side, label) {
  const levels = turn(held, shape);
  const [rows, columns] = seenShape(shape);
  const canvas = element('canvas', { class: 'sample', width: columns, height: rows, role: 'img', 'aria-label': label || 'sample' });
  canvas.style.width = `${side}px`;
  canvas.style.height = `${Math.round((side * rows) / columns)}px`;
  const g = canvas.getContext('2d');
  const paint = () => {
    const dark = document.documentElement.dataset.theme === 'dark';
    const [from, to] = !inkOnPaper ? [0, 255] : dark ? [32, 245] : [244, 24];
    const image = g.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i++) {
      const grey = from + (to - from) * Math.min(1, Math.max(0, levels[i]));
      image.data.set([grey, grey, grey, 255], 4 * i);
    }
    g.putImageData(image, 0, 0);
  };
  painters.set(canvas, paint);
  paint();
  return canvas;
}

// Tells a screen reader, after a pause where more of the same may follow.
let speaking = 0;
export function say(text, pause = 0) {
  const speak = () => (document.getElementById('spoken').textContent = text);
  clearTimeout(speaking);
  if (pause) speaking = setTimeout(speak, pause);
  else speak();
}

const short = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString());

// The sample itself: {picture} goes beside the facts, {below} under them.
export function sampleParts(sample, side) {
  if (!sample) return {};
  if (sample.pixels) return { picture: picture(Array.from(sample.pixels, (p) => p / 15), about.thumb, side) };
  if (sample.words) {
    const words = [...sample.words].sort((a, b) => b[1] - a[1]).slice(0, 40);
    if (!words.length) return { below: element('p', { class: 'note' }, 'None of the known words is in it.') };
    return {
      below: element('div', { class: 'words' }, ...words.map(([j, v]) => element('span', {}, v === 1 ? inputName(j) : `${inputName(j)} × ${short(v)}`))),
    };
  }
  const most = 12;
  const brief = sample.fields.length > 4 && (!about.names || about.names.every((name) => name.length <= 9));
  const list = element('dl', { class: brief ? 'fields two' : 'fields' });
  sample.fields.slice(0, most).forEach((value, j) => list.append(element('dt', { title: inputName(j) }, inputName(j)), element('dd', {}, short(value))));
  if (about.inputs > most) list.append(element('dt', {}, '…'), element('dd', {}, `${about.inputs - most} more`));
  return { below: list };
}
