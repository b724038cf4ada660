// Elements of the page, and the display of a sample.
import { about, columns, inputName } from './data.js';
import { decodeRow, valueText } from './columns.js';

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

// Pictures that are mostly background are drawn in the colors of the theme, dark on light or light
// on dark. Others keep their gray levels.
const [low, high, mean] = about.range;
export const mostlyBackground = mean - low < 0.4 * (high - low);

// Conversion between the layout of the data and the layout on screen. They differ if the data
// stores images column by column.
export const displayShape = ([rows, columns]) => (about.transpose ? [columns, rows] : [rows, columns]);
export function transposed(levels, [rows, columns]) {
  if (!about.transpose) return levels;
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows * columns; i++) out[(i % columns) * rows + Math.floor(i / columns)] = levels[i];
  return out;
}

const painters = new WeakMap(); // canvas to the function that repaints it

// Repaints all pictures in the colors of the current theme.
export function repaintPictures() {
  for (const canvas of document.querySelectorAll('canvas.sample')) painters.get(canvas)();
}

// A canvas with levels (rows * columns) from 0 to 1, `side` CSS pixels wide.
export function picture(stored, shape, side, label) {
  const levels = transposed(stored, shape);
  const [rows, columns] = displayShape(shape);
  const canvas = element('canvas', { class: 'sample', width: columns, height: rows, role: 'img', 'aria-label': label || 'sample' });
  canvas.style.width = `${side}px`;
  canvas.style.height = `${Math.round((side * rows) / columns)}px`;
  const g = canvas.getContext('2d');
  const paint = () => {
    const dark = document.documentElement.dataset.theme === 'dark';
    const [from, to] = !mostlyBackground ? [0, 255] : dark ? [32, 245] : [244, 24];
    const image = g.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i++) {
      const gray = from + (to - from) * Math.min(1, Math.max(0, levels[i]));
      image.data.set([gray, gray, gray, 255], 4 * i);
    }
    g.putImageData(image, 0, 0);
  };
  painters.set(canvas, paint);
  paint();
  return canvas;
}

// Announces a text to screen readers. A pause (ms) drops texts that are replaced before it ends.
let timer = 0;
export function announce(text, pause = 0) {
  const publish = () => (document.getElementById('announcement').textContent = text);
  clearTimeout(timer);
  if (pause) timer = setTimeout(publish, pause);
  else publish();
}

const short = (value) => (Number.isInteger(value) ? String(value) : Number(value.toPrecision(4)).toString());

// Names and values of the fields of a sample: its columns, or the inputs in the page.
function fieldTexts({ fields }) {
  if (!columns || fields.length < about.inputs) return Array.from(fields, (value, j) => [inputName(j), short(value)]);
  const values = decodeRow(columns, fields);
  return columns.flatMap((column, j) => (column.inputs ? [[column.name, valueText(column, values[j])]] : []));
}

// The elements of a sample: {picture} belongs beside the facts, {below} under them, with at most
// `limit` fields.
export function sampleParts(sample, side, limit = 12) {
  if (!sample) return {};
  if (sample.pixels) return { picture: picture(Array.from(sample.pixels, (p) => p / 15), about.thumb, side) };
  if (sample.words) {
    const words = [...sample.words].sort((a, b) => b[1] - a[1]).slice(0, limit < 12 ? 12 : 40);
    if (!words.length) return { below: element('p', { class: 'note' }, 'The sample contains no known words.') };
    return {
      below: element('div', { class: 'words' }, ...words.map(([j, v]) => element('span', {}, v === 1 ? inputName(j) : `${inputName(j)} × ${short(v)}`))),
    };
  }
  const fields = fieldTexts(sample);
  const compact = fields.length > 4 && fields.every(([name, text]) => name.length <= 9 && text.length <= 9);
  const list = element('dl', { class: compact ? 'fields two' : 'fields' });
  for (const [name, text] of fields.slice(0, limit)) list.append(element('dt', { title: name }, name), element('dd', {}, text));
  const more = (columns ? fields.length : about.inputs) - limit;
  if (more > 0) list.append(element('dt', {}, '…'), element('dd', {}, `${more} more`));
  return { below: list };
}
