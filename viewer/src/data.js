// Reads the data in the page: a JSON text that describes it, and blocks of numbers. cli/view/page.c
// writes them.

import { layoutColumns } from './columns.js';

const kinds = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

export const about = JSON.parse(document.getElementById('about').textContent);
export const c = about.classes.length;
export const UNLABELED = c; // the class of points without a label
export const names = [...about.classes, 'no label', 'unknown class'];
// The columns of a table whose inputs are encoded; null: inputs are numbers as they are.
export const columns = about.columns && layoutColumns(about.columns);

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// The numbers of a block, or null if the page has no such block. kind: the array type; by default
// an unsigned integer of the block's width.
export async function block(id, kind) {
  const element = document.getElementById(id);
  if (!element) return null;
  const count = Number(element.dataset.count);
  const width = Number(element.dataset.width);
  const stream = new Blob([fromBase64(element.textContent)]).stream().pipeThrough(new DecompressionStream('deflate'));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  element.textContent = '';
  const type = kind || kinds[width];
  if (width === 1) return new type(planes.buffer);
  const bytes = new Uint8Array(planes.length);
  for (let b = 0; b < width; b++) for (let i = 0, at = b * count; i < count; i++) bytes[i * width + b] = planes[at + i];
  return new type(bytes.buffer);
}

// rank and angle are those of the spread map (cli/view/view_spread.c); null: without exemplars. label,
// winner and proba are null if the model does not classify.
export async function readPoints() {
  const blocks = ['x', 'y', 'row', 'part', 'truth', 'label', 'winner', 'proba', 'rank', 'angle'];
  const all = await Promise.all(blocks.map((name) => block(name)));
  return Object.fromEntries(blocks.map((name, i) => [name, all[i]]));
}

// A function from a point to its sample, which is {pixels} (0 to 15), {fields} or
// {words: [[column, value]]}; null if the page does not include it.
export async function readSamples(n) {
  const detail = await block('detail');
  if (!detail) return () => null;
  const at = new Int32Array(n).fill(-1);
  detail.forEach((i, k) => (at[i] = k));
  if (about.kind === 'image') {
    const size = about.thumb[0] * about.thumb[1];
    const bytes = (size + 1) >> 1;
    const packed = await block('pixels');
    return (i) => {
      if (at[i] < 0) return null;
      const pixels = new Uint8Array(size);
      for (let k = 0; k < size; k++) pixels[k] = (packed[at[i] * bytes + (k >> 1)] >> (k & 1 ? 4 : 0)) & 15;
      return { pixels };
    };
  }
  if (about.kind === 'words') {
    const [start, column, value] = await Promise.all([block('start'), block('column'), block('value', Float32Array)]);
    return (i) => {
      if (at[i] < 0) return null;
      const words = [];
      for (let e = start[at[i]]; e < start[at[i] + 1]; e++) words.push([column[e], value[e]]);
      return { words };
    };
  }
  const fields = await block('fields', Float32Array);
  return (i) => (at[i] < 0 ? null : { fields: fields.subarray(at[i] * about.fields, (at[i] + 1) * about.fields) });
}

// The texts of ids and of kept columns: [[text of each point]], in the order of about.texts.
export async function readTexts(n) {
  const bytes = await block('text');
  const all = bytes ? new TextDecoder().decode(bytes).split('\0') : [];
  return about.texts.map((_, k) => all.slice(k * n, (k + 1) * n));
}

export const inputName = (j) => (about.names ? about.names[j] : `input ${j + 1}`);

export const count = (n) => n.toLocaleString('en');
export const percent = (part, whole, digits = 2) => (whole ? ((100 * part) / whole).toFixed(digits) + ' %' : '–');
